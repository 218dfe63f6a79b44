"""`doctor`: every obstacle is named with its cause and the command that mends it."""

import asyncio
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from bridge.arena import Account, Arena, referee
from bridge.doctor import engines
from bridge.journal import SqlJournal

Say = Callable[..., Any]

BOT = Account("KiriBot", "lip_bot", title="BOT")
HUMAN = Account("Visitor", "lip_human")
NARROW = Account("Narrow", "lip_narrow", title="BOT", scopes=frozenset({"challenge:read"}))
ENGINE = {
    "good": "import sys\nfor l in sys.stdin:\n l=l.split()[0]\n"
    " print({'uci':'id name Good\\nuciok','isready':'readyok','go':'bestmove e2e4'}.get(l,''),flush=True)\n"
    " if l=='quit': break\n",
    "exits": "print('no licence found')\nraise SystemExit(3)\n",
    "silent": "import time\ntime.sleep(60)\n",
    "mute": "import sys\nfor l in sys.stdin:\n l=l.split()[0]\n"
    " print({'uci':'uciok','isready':'readyok'}.get(l,''),flush=True)\n if l=='quit': break\n",
}


@pytest.fixture
async def arena() -> AsyncIterator[Arena]:
    async with Arena([BOT, HUMAN, NARROW]) as server:
        yield server


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes a configuration; returns its path."""

    def write_file(url: str, engine: str = "{kind: random}", more: str = "", play: str = "concurrency: 1") -> str:
        file = tmp_path / "c.yml"
        file.write_text(
            f"accounts: [{{platform: lichess, url: '{url}', token: '${{TOKEN}}', play: {{engine: main, {play}}}}}]\n"
            f"engines: {{main: {engine}}}\n{more}"
        )
        return str(file)

    return write_file


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """Writes an engine; returns it as the file's engine section."""

    def write_program(kind: str) -> str:
        file = tmp_path / f"{kind}-engine"
        file.write_text(f"#!/usr/bin/env python3\n{ENGINE[kind]}")
        file.chmod(0o755)
        return f"{{kind: uci, path: {file}}}"

    return write_program


def told(said: Any, subject: str) -> tuple[str, str]:
    """The one thing that is wrong, and its cure."""
    lines = said.stdout.splitlines()
    (index,) = [number for number, line in enumerate(lines) if line.startswith("wrong")]
    assert lines[index].startswith(f"wrong  {subject}: ")
    assert said.status == 1
    assert "Traceback" not in said.stderr
    cure = lines[index + 1] if index + 1 < len(lines) and "→" in lines[index + 1] else ""
    return lines[index], cure


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_all_is_well(arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path) -> None:
    more = f"monitor: {{listen: '127.0.0.1:0'}}\npgn: {{folder: games}}\nwebhooks: [{{url: '{arena.url}/key'}}]\n"
    said = await say_async("doctor", "-c", write(arena.url, more=more), TOKEN="lip_bot")
    assert (said.status, said.stderr) == (0, "all is well\n")
    subjects = [line.split(":")[0] for line in said.stdout.splitlines()]
    account = "ok     account 1"
    assert subjects == [
        "ok     config",
        *[account] * 4,
        *[f"ok     {name}" for name in ("engine main", "monitor", "journal", "pgn", "webhook")],
    ]
    assert "belongs to BOT KiriBot" in said.stdout
    assert names_in(tmp_path) == ["c.yml"]
    assert "lip_bot" not in said.stdout + said.stderr


async def test_running_games_are_counted(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    arena.pair("KiriBot", "Visitor")
    said = await say_async("doctor", "-c", write(arena.url), TOKEN="lip_bot")
    assert said.status == 0
    assert "games running: 1, `run` takes them up" in said.stdout


async def test_a_token_without_the_scope(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    line, cure = told(await say_async("doctor", "-c", write(arena.url), TOKEN="lip_narrow"), "account 1")
    assert "the token lacks the scope bot:play (it has: challenge:read)" in line
    assert f"{arena.url}/account/oauth/token/create?scopes[]=bot:play" in cure


async def test_a_token_that_nobody_has(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    said = await say_async("doctor", "-c", write(arena.url), TOKEN="lip_nobody")
    line, cure = told(said, "account 1")
    assert "does not know this token" in line
    assert "/account/oauth/token/create" in cure
    assert "lip_nobody" not in said.stdout + said.stderr


async def test_a_token_that_expires_soon(
    arena: Arena, write: Callable[..., str], say_async: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.arena.routes_account._FAR_MS", round(1000 * (time.time() + 290)))
    line, cure = told(await say_async("doctor", "-c", write(arena.url), TOKEN="lip_bot"), "account 1")
    assert "the token expires in 5 min" in line
    assert "/account/oauth/token/create" in cure


async def test_an_account_that_is_no_bot(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    config = write(arena.url)
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_human"), "account 1")
    assert "Visitor has not the title BOT" in line
    assert f"kirichess-bridge account upgrade -c {config}" in cure


async def test_a_server_that_is_not_there(write: Callable[..., str], say_async: Say, free_port: int) -> None:
    url = f"http://127.0.0.1:{free_port}"
    line, cure = told(await say_async("doctor", "-c", write(url), TOKEN="lip_bot"), "account 1")
    assert f"{url} cannot be reached: connection refused" in line
    assert f"curl -I {url}" in cure


@pytest.mark.parametrize(("ahead_s", "words"), [(3600, "behind"), (-90, "ahead of")])
async def test_a_clock_that_is_off(
    arena: Arena, write: Callable[..., str], say_async: Say, ahead_s: int, words: str
) -> None:
    async with _with_date(arena.url, ahead_s) as url:
        line, cure = told(await say_async("doctor", "-c", write(url), TOKEN="lip_bot"), "account 1")
    seconds = int(line.split("clock is ")[1].split()[0])
    assert abs(seconds - abs(ahead_s)) <= 2
    assert f"s {words} that of" in line
    assert "timedatectl set-ntp true" in cure


async def test_a_clock_that_is_off_by_a_second_is_no_matter(
    arena: Arena, write: Callable[..., str], say_async: Say
) -> None:
    async with _with_date(arena.url, 1) as url:
        assert (await say_async("doctor", "-c", write(url), TOKEN="lip_bot")).status == 0


async def test_an_engine_that_exits(
    arena: Arena, write: Callable[..., str], program: Callable[[str], str], say_async: Say
) -> None:
    config = write(arena.url, program("exits"))
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "engine main")
    assert "cannot be started" in line
    assert "exits-engine" in line
    assert "printf 'uci\\nisready\\nquit\\n' | " in cure


async def test_an_engine_that_is_well_says_nothing_of_its_moves(
    arena: Arena, write: Callable[..., str], say_async: Say
) -> None:
    said = await say_async("doctor", "-c", write(arena.url, "{kind: kiri, builtin: true}"), TOKEN="lip_bot")
    assert "kiri_chose" not in said.stdout + said.stderr
    assert "ok     engine main" in said.stdout


@pytest.mark.parametrize(("kind", "said"), [("exits", "cannot be started"), ("mute", "mute-engine")])
async def test_the_program_under_kiri_is_tried_too(
    arena: Arena, write: Callable[..., str], program: Callable[[str], str], say_async: Say, kind: str, said: str
) -> None:
    """Kiri itself answers all the same."""
    config = write(arena.url, program(kind).replace("kind: uci", "kind: kiri"))
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "engine main")
    assert said in line
    assert f"{kind}-engine" in line
    assert "printf 'uci" in cure


async def test_an_engine_that_never_gets_ready(
    arena: Arena,
    write: Callable[..., str],
    program: Callable[[str], str],
    say_async: Say,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "START_S", 0.5)
    config = write(arena.url, program("silent"))
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "engine main")
    assert "says nothing" in line
    assert "silent-engine" in cure


async def test_an_engine_that_does_not_move(
    arena: Arena,
    write: Callable[..., str],
    program: Callable[[str], str],
    say_async: Say,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "DEADLINE_MS", 300)
    config = write(arena.url, program("mute"))
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "engine main")
    assert "silent past its deadline" in line
    assert "mute-engine" in cure


@pytest.mark.parametrize("kind", ["missing", "not executable", "folder"])
async def test_an_engine_that_is_none(
    arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "fish"
    if kind == "folder":
        path.mkdir()
    elif kind == "not executable":
        path.write_text("")
        path.chmod(0o644)
    config = write(arena.url, f"{{kind: uci, path: {path}}}")
    if kind == "folder":
        (path / "README").write_text("no program")
        (path / "engine").write_text("#!/bin/sh\n")
        (path / "engine").chmod(0o755)
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "engine main")
    cures = {"missing": "stockfish", "not executable": f"→ chmod +x {path}", "folder": f"→ path: {path}/engine"}
    assert cures[kind] in cure
    assert {"missing": "does not exist", "not executable": f"chmod +x {path}", "folder": "is a folder"}[kind] in line


async def test_an_engine_that_plays(
    arena: Arena, write: Callable[..., str], program: Callable[[str], str], say_async: Say
) -> None:
    said = await say_async("doctor", "-c", write(arena.url, program("good")), TOKEN="lip_bot")
    assert said.status == 0
    assert "engine main: it starts, and answers the start position with e2e4" in said.stdout


async def test_a_port_that_is_taken(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = write(arena.url, more=f"monitor: {{listen: '127.0.0.1:{port}'}}\n")
        line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "monitor")
    assert f"port {port} is taken" in line
    assert f"kirichess-bridge status -c {config}; ss -ltnp 'sport = :{port}'" in cure


async def test_an_address_of_another_machine(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    config = write(arena.url, more="monitor: {listen: '192.0.2.1:8080', token: x}\n")
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "monitor")
    assert "cannot listen on 192.0.2.1:8080" in line
    assert "ip -brief address" in cure


async def test_a_journal_that_is_read_only(
    arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path
) -> None:
    file = tmp_path / "journal.db"
    sqlite3.connect(file).close()
    file.chmod(stat.S_IRUSR)
    line, cure = told(await say_async("doctor", "-c", write(arena.url), TOKEN="lip_bot"), "journal")
    assert f"{file} is read-only" in line
    assert f"chmod u+w {file}" in cure


async def test_a_journal_where_nothing_can_be_written(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    config = write(arena.url, more="journal: {url: 'sqlite:////proc/journal.db'}\n")
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "journal")
    assert "/proc lies where nothing can be written" in line
    assert "journal: {url: 'sqlite:///" in cure and "/proc" not in cure


async def test_a_journal_that_another_bridge_has_open(
    arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path
) -> None:
    config = write(arena.url)
    async with SqlJournal(f"sqlite:///{tmp_path}/journal.db"):
        line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "journal")
    assert "in use by another kirichess-bridge" in line
    assert f"kirichess-bridge status -c {config}" in cure


@pytest.mark.parametrize("kind", ["folder", "no folder", "no database"])
async def test_a_journal_that_is_none(
    arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / ("sub" if kind == "no folder" else "") / "journal.db"
    if kind == "folder":
        file.mkdir()
    elif kind == "no database":
        file.write_text("something else, and long enough to be read as a database's head\n" * 20)
    config = write(arena.url, more=f"journal: {{url: 'sqlite:///{file}'}}\n")
    line, cure = told(await say_async("doctor", "-c", config, TOKEN="lip_bot"), "journal")
    expected = {"folder": "is a folder", "no folder": "does not exist", "no database": "is no SQLite database"}
    assert expected[kind] in line
    cures = {"folder": f"'sqlite:///{file}/journal.db'", "no folder": f"mkdir -p {file.parent}", "no database": "mv "}
    assert cures[kind] in cure
    if kind != "folder":
        await asyncio.to_thread(subprocess.run, cure.partition("→ ")[2], shell=True, check=True)
        assert (await say_async("doctor", "-c", config, TOKEN="lip_bot")).status == 0, "the command mends it"


async def test_beside_the_bridge_that_runs_nothing_is_in_the_way(
    arena: Arena, write: Callable[..., str], say_async: Say, free_port: int
) -> None:
    config = write(arena.url, more=f"monitor: {{listen: '127.0.0.1:{free_port}'}}\n")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bridge.cli.main", "run", "-c", config),
        env={**os.environ, "TOKEN": "lip_bot"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            while b"monitor_listens" not in await process.stderr.readline():
                pass
        said = await say_async("doctor", "-c", config, TOKEN="lip_bot")
    finally:
        process.kill()
        await process.communicate()
    assert (said.status, said.stderr) == (0, "all is well\n")
    assert f"daemon: it runs with this configuration (process {process.pid})" in said.stdout
    assert f"served by the bridge that runs (process {process.pid})" in said.stdout
    assert f"written by the bridge that runs (process {process.pid})" in said.stdout


@pytest.mark.parametrize("folder", ["/sub", "/study/round"])
async def test_an_address_with_a_path(arena: Arena, write: Callable[..., str], say_async: Say, folder: str) -> None:
    line, cure = told(await say_async("doctor", "-c", write(arena.url + folder), TOKEN="lip_bot"), "account 1")
    assert f"{arena.url}{folder} answers, but not as the API does: the address is wrong" in line
    assert f"curl -i {arena.url}/api/" in cure


async def test_what_is_watched_exists(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    game = arena.pair("KiriBot", "Visitor")
    there = (f"{{game: {game}, pool: anchor}}", "{user: Visitor, pool: anchor}", "{tv: bot, pool: anchor}")
    said = await say_async("doctor", "-c", write(arena.url, more=f"watch: [{', '.join(there)}]\n"), TOKEN="lip_bot")
    assert said.status == 0, said.stdout
    assert f"ok     watch user:Visitor: the user plays game {game}" in said.stdout
    assert f"ok     watch game:{game}: the game is there" in said.stdout
    assert "ok     watch tv:bot: the channel is there" in said.stdout


async def test_the_games_of_a_round_are_looked_up(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    running, over = arena.pair("KiriBot", "Visitor"), arena.pair("KiriBot", "Visitor")
    for ply, uci in enumerate(("f2f3", "e7e5", "g2g4", "d8h4")):
        referee.move(arena.hall.game(over), ply % 2 == 0, uci, arena.hall.now_ms())
    more = f"watch: [{{games: [{running}, {over}], pool: anchor}}]\n"
    said = await say_async("doctor", "-c", write(arena.url, more=more), TOKEN="lip_bot")
    assert "ok     watch games (2): they are all there, 1 of them over" in said.stdout
    more = f"watch: [{{games: [{running}, nosuchg1, nosuchg2], pool: anchor}}]\n"
    said = await say_async("doctor", "-c", write(arena.url, more=more), TOKEN="lip_bot")
    line, _ = told(said, "watch games (3)")
    assert "has no game nosuchg1, nosuchg2: mend watch.games" in line


@pytest.mark.parametrize(
    ("source", "subject", "words"),
    [
        ("polyglot: {enabled: true}", "books", "none is named"),
        (
            "polyglot: {enabled: true, book: {standard: [none.bin]}}",
            "book standard",
            "none.bin cannot be read: No",
        ),
        ("polyglot: {enabled: true, book: {anchor: [c.yml]}}", "book anchor", "it must be in Polyglot's format"),
        ("polyglot: {enabled: true, book: {anchor: [empty]}}", "book anchor", "is empty"),
        ("polyglot: {enabled: true, book: {anchor: [.]}}", "book anchor", "it is a folder"),
        ("lichess_bot_tbs: {syzygy: {enabled: true}}", "syzygy", "names no folder"),
        ("lichess_bot_tbs: {syzygy: {enabled: true, paths: [none]}}", "syzygy", "none does not exist"),
        ("lichess_bot_tbs: {gaviota: {enabled: true, paths: [.]}}", "gaviota", "no Gaviota tables"),
    ],
)
async def test_books_and_tables_that_cannot_be_used(
    arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path, source: str, subject: str, words: str
) -> None:
    (tmp_path / "empty").touch()
    said = await say_async("doctor", "-c", write(arena.url, play=source), TOKEN="lip_bot")
    line, _ = told(said, f"account 1, {subject}")
    assert words in line


async def test_a_book_that_can_be_read(arena: Arena, write: Callable[..., str], say_async: Say, tmp_path: Path) -> None:
    (tmp_path / "good.bin").write_bytes(bytes(32))
    source = "polyglot: {enabled: true, book: {standard: [good.bin]}}"
    said = await say_async("doctor", "-c", write(arena.url, play=source), TOKEN="lip_bot")
    assert f"ok     account 1, book standard: {tmp_path}/good.bin has 2 moves" in said.stdout


async def test_sites_are_asked_on_request_only(
    arena: Arena, write: Callable[..., str], say_async: Say, free_port: int
) -> None:
    sites = (
        f"chessdb_book: {{enabled: true, url: 'http://127.0.0.1:{free_port}'}}",
        f"online_egtb: {{enabled: true, url: '{arena.url}'}}",
    )
    config = write(arena.url, play=f"online_moves: {{{', '.join(sites)}}}")
    said = await say_async("doctor", "-c", config, TOKEN="lip_bot")
    assert said.status == 0
    assert f"chessdb_book: moves are asked of http://127.0.0.1:{free_port}" in said.stdout
    said = await say_async("doctor", "--online", "-c", config, TOKEN="lip_bot")
    line, _ = told(said, "account 1, chessdb_book")
    assert "cannot be reached: connection refused" in line
    assert f"ok     account 1, online_egtb: {arena.url} answers" in said.stdout


@pytest.mark.parametrize(
    ("status", "words"), [(302, "answered 302, so games go on without it"), (401, "answered 401"), (429, "left alone")]
)
async def test_a_site_that_would_answer_no_game_is_told(
    arena: Arena, write: Callable[..., str], say_async: Say, status: int, words: str
) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Location": "/elsewhere"})

    app = web.Application()
    app.router.add_get("/{path:.*}", refuse)
    async with TestServer(app) as server:
        site = f"lichess_opening_explorer: {{enabled: true, url: '{server.make_url('')}', source: player}}"
        config = write(arena.url, play=f"online_moves: {{{site}}}")
        said = await say_async("doctor", "--online", "-c", config, TOKEN="lip_bot")
    line, _ = told(said, "account 1, lichess_opening_explorer")
    assert words in line


async def test_a_notification_is_named_by_its_service(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    config = write(arena.url, more="notifications: [{url: '${N}'}]\n")
    said = await say_async("doctor", "-c", config, TOKEN="lip_bot", N="discord://4711/mypassword")
    assert "ok     notification 1: discord:// is an address of Apprise's" in said.stdout
    assert "4711" not in said.stdout and "mypassword" not in said.stdout + said.stderr


async def test_a_secret_that_others_can_read(arena: Arena, say_async: Say, open_folder: Path) -> None:
    config, secret = open_folder / "c.yml", open_folder / "secret"
    secret.write_text("lip_bot")
    secret.chmod(0o644)
    config.write_text(f"accounts: [{{platform: lichess, url: '{arena.url}', token_file: secret}}]\n")
    line, cure = told(await say_async("doctor", "-c", str(config)), "secrets")
    assert f"can read {secret}" in line
    await asyncio.to_thread(subprocess.run, cure.partition("→ ")[2], shell=True, check=True)
    assert (await say_async("doctor", "-c", str(config))).status == 0, "the command mends it"


@pytest.mark.parametrize(
    ("entry", "subject", "words"),
    [
        ("game: nosuchgm", "watch game:nosuchgm", "has no game nosuchgm"),
        ("user: Nobody", "watch user:Nobody", "knows no user Nobody"),
        ("tv: nothing", "watch tv:nothing", "has no TV channel nothing"),
    ],
)
async def test_what_is_watched_does_not_exist(
    arena: Arena, write: Callable[..., str], say_async: Say, entry: str, subject: str, words: str
) -> None:
    more = f"watch: [{{{entry}, pool: anchor}}]\n"
    line, _ = told(await say_async("doctor", "-c", write(arena.url, more=more), TOKEN="lip_bot"), subject)
    assert words in line


async def test_a_webhook_where_nobody_listens(
    arena: Arena, write: Callable[..., str], say_async: Say, free_port: int
) -> None:
    more = f"webhooks: [{{url: 'http://127.0.0.1:{free_port}/hook/secretkey'}}]\n"
    said = await say_async("doctor", "-c", write(arena.url, more=more), TOKEN="lip_bot")
    line, _ = told(said, "webhook")
    assert f"nobody can be reached at http://127.0.0.1:{free_port}" in line
    assert "secretkey" not in said.stdout


async def test_several_obstacles_are_all_told(arena: Arena, write: Callable[..., str], say_async: Say) -> None:
    config = write(arena.url, "{kind: uci, path: /nowhere}", "journal: {url: 'sqlite:////proc/x.db'}\n")
    said = await say_async("doctor", "-c", config, TOKEN="lip_human")
    wrong = [line for line in said.stdout.splitlines() if line.startswith("wrong")]
    assert [line.split(": ")[0] for line in wrong] == ["wrong  account 1", "wrong  engine main", "wrong  journal"]
    assert said.status == 1


def test_a_configuration_that_cannot_be_used(say: Say, write: Callable[..., str]) -> None:
    said = say("doctor", "-c", write("http://127.0.0.1:1"))
    assert said.status == 2
    assert "the environment variable TOKEN is not set" in said.stderr
    assert "http://127.0.0.1:1/account/oauth/token/create?scopes[]=bot:play" in said.stderr
    assert say("doctor", "-c", "/nowhere.yml").status == 2
    assert say("doctor").status == 2


def test_a_file_that_is_no_yaml_is_not_taken_for_one_without_a_token(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "token.yml"
    file.write_text("accounts:\n\t- platform: lichess")
    said = say("doctor", "-c", str(file))
    assert said.status == 2
    assert "oauth" not in said.stderr


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@asynccontextmanager
async def _with_date(arena_url: str, ahead_s: int) -> AsyncIterator[str]:
    """The arena behind a server whose clock is off."""

    async def answer(request: web.Request) -> web.StreamResponse:
        async with (
            ClientSession() as session,
            session.request(
                request.method,
                arena_url + request.path_qs,
                data=await request.read(),
                headers={"Authorization": request.headers.get("Authorization", "Bearer lip_bot")},
            ) as response,
        ):
            date = formatdate(time.time() + ahead_s, usegmt=True)
            return web.Response(body=await response.read(), status=response.status, headers={"Date": date})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
