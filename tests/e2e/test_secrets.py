"""A whole daemon with secrets that are easily found, and everything that it says, stores, sends and shows: none there.

It plays, is watched, controlled and wrongly logged in to; a webhook and a notification fail before they work; the
platform echoes the token in an error.
"""

import asyncio
import base64
import json
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from click.testing import CliRunner

from bridge.arena import Account, Arena, ArenaSettings
from bridge.cli.main import main
from bridge.journal.reader import JournalReader
from tests.e2e.conftest import RunCommand

SECRETS = {
    "LICHESS_TOKEN": "lip_zq1PlatformTokenOfFish",
    "FILE_TOKEN": "lip_zq2PlatformTokenOfKiri",
    "MONITOR_TOKEN": "zq3-monitor/token+of=ours",
    "HOOK_SECRET": "whsec_enE0LXdlYmhvb2stc2lnbmluZy1zZWNyZXQ=",
    "HOOK_KEY": "zq5KeyInTheAddressOfTheWebhook",
    "NOTIFY_PASSWORD": "zq6PasswordOfTheService",
}


def forms() -> Iterator[tuple[str, bytes]]:
    """Each secret as it may be written: as it stands, in an address, in Base64."""
    for name, secret in SECRETS.items():
        bare = secret.removeprefix("whsec_")
        for text in (bare, quote(bare, safe=""), base64.b64encode(bare.encode()).decode().rstrip("=")):
            yield name, text.encode()
    yield "HOOK_SECRET", b"zq4-webhook-signing-secret"


@dataclass
class Said:
    """Everything that came out, by where."""

    parts: dict[str, bytes] = field(default_factory=dict)

    def add(self, where: str, text: str | bytes) -> None:
        self.parts[where] = self.parts.get(where, b"") + (text.encode() if isinstance(text, str) else text)

    def leaks(self) -> list[str]:
        return [f"{name} in {where}" for where, text in self.parts.items() for name, form in forms() if form in text]


@dataclass
class Receiver:
    """What is posted to; it refuses the first posts of each kind."""

    said: Said
    taken: int = 0
    refusals: dict[str, int] = field(default_factory=dict)

    async def take(self, request: web.Request) -> web.Response:
        self.said.add(f"posts to {request.path}", await request.read())
        if self.refusals[request.path] > 0:
            self.refusals[request.path] -= 1
            return web.Response(status=500, text="no")
        self.taken += 1
        return web.Response()


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    accounts = [
        Account("Fish", SECRETS["LICHESS_TOKEN"], title="BOT"),
        Account("Kiri", SECRETS["FILE_TOKEN"], title="BOT"),
        Account("Human", "tokenHuman"),
    ]
    async with Arena(accounts, ArenaSettings(board_min_speed="bullet")) as running:
        yield running


@pytest.fixture
async def receiver(said: Said) -> AsyncIterator[tuple[Receiver, int]]:
    receiver, app = Receiver(said), web.Application()
    app.router.add_post("/{tail:.*}", receiver.take)
    async with TestServer(app) as server:
        assert server.port is not None
        yield receiver, server.port


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)


def written(folder: Path, url: str, receiver: int, port: int) -> Path:
    file, token_file = folder / "config.yml", folder / "kiri-token"
    token_file.write_text(SECRETS["FILE_TOKEN"] + "\n")
    file.write_text(f"""
accounts:
  - {{platform: lichess, url: "{url}", token: "${{LICHESS_TOKEN}}", play: {{engine: main, pool: anchor}}}}
  - {{platform: lichess, url: "{url}", token_file: kiri-token}}
engines: {{main: {{kind: random}}}}
journal: {{url: "sqlite:///journal.db"}}
pgn: {{folder: games}}
monitor: {{listen: "127.0.0.1:{port}", token: "${{MONITOR_TOKEN}}", control: true}}
webhooks: [{{url: "http://127.0.0.1:{receiver}/hook?key=${{HOOK_KEY}}", secret: "${{HOOK_SECRET}}"}}]
notifications: [{{url: "json://user:${{NOTIFY_PASSWORD}}@127.0.0.1:{receiver}/notify"}}]
""")
    return file


@asynccontextmanager
async def daemon(file: Path, said: Said, *options: str) -> AsyncIterator[None]:
    """`run`, until it is told to end; what it says is kept."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bridge.cli.main", "run", "-c", str(file), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    told = asyncio.create_task(process.communicate())
    try:
        yield
        process.send_signal(signal.SIGTERM)
        await asyncio.wait({told}, timeout=60)
    finally:
        if process.returncode is None:
            process.kill()
        out, err = await told
        said.add(f"stdout of run {' '.join(options)}", out)
        said.add(f"stderr of run {' '.join(options)}", err)
    assert process.returncode == 0, err.decode()


class Readers:
    """Those who ask the monitor: whoever has the token, a browser that has logged in, and a stranger."""

    def __init__(self, url: str, said: Said) -> None:
        self.url = url
        self.said = said

    async def ask(self, session: aiohttp.ClientSession, method: str, path: str, **sent: object) -> int:
        """What comes back is kept, its headers too."""
        async with session.request(method, self.url + path, allow_redirects=False, **sent) as response:  # type: ignore[arg-type]
            whole = await response.read()
            self.said.add(f"{method} {path} {response.status}", f"{response.headers}".encode() + whole)
            return response.status

    async def is_there(self) -> None:
        async with aiohttp.ClientSession() as session, asyncio.timeout(60):
            while True:
                try:
                    async with session.get(self.url + "/readyz", headers=_bearer()) as response:
                        if response.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.05)

    async def look_around(self, game: str) -> None:
        """Every page, as it is for whoever may see it, and as a refusal."""
        paths = ["/", f"/games/{game}", f"/games/{game}/overlay", f"/games/{game}/pgn", "/?player=fish&pool=anchor"]
        paths += ["/?before=x", "/games/none", "/nothing", "/login", "/metrics", "/status", "/healthz", "/readyz"]
        paths += ["/api/games", f"/api/games/{game}", "/api/games/none", "/api/openapi.json", "/api/events/schema"]
        page = {"Accept": "text/html", "Origin": self.url}
        jar = aiohttp.CookieJar(unsafe=True)
        async with (
            aiohttp.ClientSession(headers=page, cookie_jar=jar) as browser,
            aiohttp.ClientSession(headers=_bearer()) as program,
            aiohttp.ClientSession(headers={"Accept": "text/html"}) as stranger,
        ):
            assert await self.ask(browser, "POST", "/login", data={"token": "wrong"}) == 401
            assert await self.ask(browser, "POST", "/login", data={"token": SECRETS["MONITOR_TOKEN"]}) == 303
            for session in (browser, program, stranger):
                for path in paths:
                    await self.ask(session, "GET", path)
                await self.ask(session, "POST", "/api/control/adjudicate", json={"game": "none"})
                await self.ask(session, "POST", "/api/control/resign", data=b"x" * 20_000)
                await self.ask(session, "DELETE", "/api/games")
            async with program.get(f"{self.url}/events?after=0") as events:
                self.said.add("/events", await events.content.readexactly(4000))
            await self.ask(browser, "POST", "/logout")

    async def control(self, action: str, **body: object) -> int:
        async with aiohttp.ClientSession(headers=_bearer()) as session:
            return await self.ask(session, "POST", f"/api/control/{action}", json=body)


def _bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {SECRETS['MONITOR_TOKEN']}"}


async def played(arena: Arena, readers: Readers) -> str:
    """A game that our bot gives up on request."""
    game = arena.games[arena.pair("Fish", "Human", 540)]
    for uci in ("e7e5", "g8f6"):
        async with asyncio.timeout(60):
            while game.turn:
                await asyncio.sleep(0.02)
        arena.hall.move(game, game.turn, uci)
    assert await readers.control("resign", game=game.id) == 200
    async with asyncio.timeout(60):
        while await readers.control("adjudicate", game=game.id) != 200:
            await asyncio.sleep(0.1)
    return game.id


async def say(*arguments: str) -> str:
    """What a command prints; it runs in this process, which is quicker."""
    result = await asyncio.to_thread(CliRunner().invoke, main, list(arguments))
    return result.stdout + result.stderr


async def commands(file: Path, game: str, said: Said) -> None:
    place = ("--journal", str(file.parent / "journal.db"))
    for arguments in (
        ("config", "check", str(file)),
        ("config", "schema"),
        ("journal", "games", *place),
        ("journal", "show", game, *place),
        ("journal", "export", *place),
        ("journal", "verify", *place),
        ("journal", "replay", game, *place),
        ("events", "dead", *place, "--json"),
    ):
        said.add(" ".join(arguments), await say(*arguments))


def wrong_files(file: Path) -> dict[str, str]:
    """Files in which secrets stand as such, some at a wrong place or of a wrong kind."""
    text = file.read_text()
    for name, secret in SECRETS.items():
        text = text.replace(f"${{{name}}}", secret)
    hook = f'secret: "{SECRETS["HOOK_SECRET"]}"'
    return {
        "literal": text,
        "nested": text.replace(f'"{SECRETS["LICHESS_TOKEN"]}"', f'{{is: "{SECRETS["LICHESS_TOKEN"]}"}}'),
        "listed": text.replace(f'"{SECRETS["MONITOR_TOKEN"]}"', f'["{SECRETS["MONITOR_TOKEN"]}"]'),
        "no-base64": text.replace(hook, f'secret: "whsec_!{SECRETS["HOOK_SECRET"]}"'),
        "no-service": text.replace("json://user", "nosuch://user"),
        "no-server": text.replace("http://127.0.0.1", "http://127.0.0.1:x"),
        "unknown-token": text.replace(SECRETS["LICHESS_TOKEN"], SECRETS["LICHESS_TOKEN"] + "x"),
        "no-yaml": text + "\n}",
    }


async def refused(file: Path, said: Said, run_command: RunCommand) -> None:
    for name, text in wrong_files(file).items():
        other = file.with_name(f"{name}.yml")
        other.write_text(text)
        said.add(f"config check {name}", await say("config", "check", str(other)))
    unknown = str(file.with_name("unknown-token.yml"))
    said.add("doctor unknown-token", await say("doctor", "-c", unknown))
    _status, out, err = await run_command("run", "-c", unknown)
    said.add("run unknown-token", out + err)


def stored(folder: Path) -> dict[str, bytes]:
    """Every file that the daemon wrote."""
    return {file.name: file.read_bytes() for file in (*folder.glob("journal.db*"), *(folder / "games").iterdir())}


def test_a_secret_that_is_there_is_found(tmp_path: Path) -> None:
    said = Said()
    said.add("a file", wrong_files(written(tmp_path, "http://x", 1, 2))["literal"])
    said.add("the other token's file", (tmp_path / "kiri-token").read_bytes())
    assert {leak.split(" ")[0] for leak in said.leaks()} == set(SECRETS)


@pytest.mark.timeout(300)
async def test_no_secret_is_said_stored_sent_or_shown(
    arena: Arena, receiver: tuple[Receiver, int], said: Said, run_command: RunCommand, tmp_path: Path
) -> None:
    port = unused_port()
    taker, receiving = receiver
    file = written(tmp_path, arena.url, receiving, port)
    readers = Readers(f"http://127.0.0.1:{port}", said)
    game = ""
    for options in (("--log-format", "json", "--json"), ("--log-format", "text")):
        taker.refusals = {"/hook": 2, "/notify": 2}
        echoed = f"<html>Authorization: Bearer {SECRETS['LICHESS_TOKEN']}</html>"
        arena.faults.next("account", status=502, body=echoed)
        async with daemon(file, said, *options):
            await readers.is_there()
            game = await played(arena, readers)
            await readers.look_around(game)
            for command in ("doctor", "status"):
                status, out, err = await run_command(command, "-c", str(file))
                said.add(command, out + err)
                assert status == 0, err
            assert await readers.control("reload") == 200
    await commands(file, game, said)
    await refused(file, said, run_command)
    for name, content in stored(tmp_path).items():
        said.add(name, content)
    with JournalReader(tmp_path / "journal.db") as reader:
        said.add("the platform's lines", json.dumps([repr(block) for block in reader.raw(game)]))
    for (of, room), lines in arena.hall.chats.items():
        said.add(f"chat {of} {room}", json.dumps(lines))
    assert said.leaks() == []
    assert taker.taken > 10 and taker.refusals == {"/hook": 0, "/notify": 0}
    for where in ("stderr of run --log-format json --json", f"GET /games/{game} 200", "/events", f"{game}.pgn"):
        assert said.parts[where], where
    assert "sink_stuck" in said.parts["stderr of run --log-format text"].decode()
