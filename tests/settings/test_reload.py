"""What a running program can change of its settings, and what it refuses to."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from structlog.testing import capture_logs

from bridge.reload import PLAY_POLICY, POLICY, Reload, changes, is_policy
from bridge.settings.load import load
from bridge.settings.models import Settings
from bridge.settings.play import Play

FILE = """\
accounts:
  - platform: lichess
    token: ${TOKEN}
    play: {engine: main, concurrency: 1, challenge: {modes: [casual]}}
engines:
  main: {kind: random}
journal: {url: "sqlite:///journal.db"}
reload: true
"""
VARIABLES = {"TOKEN": "lip_secret"}


class Watched:
    """A file that a running program reads again."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.write(FILE)
        self.applied: list[Settings] = []
        self.reload = Reload(file, VARIABLES, load(file, variables=VARIABLES), self.applied.append)

    def write(self, text: str) -> None:
        """As an editor does it; every writing has a time of its own."""
        self.file.write_text(text)
        self.stamp = getattr(self, "stamp", 1_700_000_000) + 1
        os.utime(self.file, (self.stamp, self.stamp))


Refusals: TypeAlias = Callable[[], list[str]]


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr("bridge.reload._POLL_S", 0.02)
    return Watched(tmp_path / "config.yml")


@asynccontextmanager
async def running(watched: Watched) -> AsyncIterator[Refusals]:
    with capture_logs() as logs:
        work = asyncio.create_task(watched.reload.run())
        try:
            yield lambda: [str(line["cause"]) for line in logs if line["event"] == "settings_refused"]
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


async def until(so: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not so():
            await asyncio.sleep(0.005)


async def test_a_change_of_policy_counts_when_the_file_is_saved(watched: Watched) -> None:
    async with running(watched):
        watched.write(FILE.replace("[casual]", "[casual, rated]").replace("concurrency: 1", "concurrency: 3"))
        await until(lambda: watched.applied)
        (settings,) = watched.applied
        play = settings.accounts[0].play
        assert play is not None and play.concurrency == 3 and play.challenge.modes == ("casual", "rated")


async def test_where_the_file_is_not_watched_a_signal_has_it_read(watched: Watched) -> None:
    watched.write(FILE.replace("reload: true", "reload: false"))
    watched.reload = Reload(watched.file, VARIABLES, load(watched.file, variables=VARIABLES), watched.applied.append)
    async with running(watched):
        watched.write(FILE.replace("reload: true", "reload: false").replace("concurrency: 1", "concurrency: 2"))
        await asyncio.sleep(0.2)
        assert watched.applied == []
        watched.reload.now()
        await until(lambda: watched.applied)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (("concurrency: 1", "concurency: 1"), "concurency"),
        (("concurrency: 1", "concurrency: many"), "must be a whole number"),
        (("engine: main", "engine: gone"), "gone"),
        (("${TOKEN}", "${OTHER}"), "OTHER is not set"),
        ((FILE, "accounts: ["), "config.yml"),
    ],
)
async def test_a_wrong_file_is_refused_whole_with_its_reasons(
    watched: Watched, change: tuple[str, str], cause: str
) -> None:
    async with running(watched) as refused:
        watched.write(FILE.replace(*change).replace("[casual]", "[rated]"))
        await until(refused)
        assert cause in refused()[0]
        assert watched.applied == []
        watched.write(FILE.replace("[casual]", "[rated]"))
        await until(lambda: watched.applied)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (("journal.db", "other.db"), "journal.url"),
        (("kind: random", "kind: kiri"), "engines"),
        (("${TOKEN}", "lip_other"), "accounts[0].token"),
        (("reload: true", 'monitor: {listen: "127.0.0.1:0"}'), "monitor"),
        (("engines:", "  - {platform: lichess, token: lip_two}\nengines:"), "accounts"),
    ],
)
async def test_what_needs_a_restart_is_named_and_nothing_else_is_changed(
    watched: Watched, change: tuple[str, str], key: str
) -> None:
    async with running(watched) as refused:
        watched.write(FILE.replace(*change).replace("[casual]", "[rated]"))
        await until(refused)
        assert refused()[0].startswith("only a restart can change ") and f" {key}" in refused()[0]
        assert "lip_" not in refused()[0]
        assert watched.applied == []


async def test_a_file_that_is_gone_for_a_moment_is_no_change(watched: Watched) -> None:
    async with running(watched) as refused:
        watched.file.unlink()
        await asyncio.sleep(0.1)
        assert refused() == [] and watched.applied == []
        watched.write(FILE.replace("concurrency: 1", "concurrency: 2"))
        await until(lambda: watched.applied)


def test_keys_are_named_as_deep_as_they_differ(watched: Watched) -> None:
    old = load(watched.file, variables=VARIABLES)
    watched.write(FILE.replace("[casual]", "[rated]").replace("journal.db", "other.db"))
    assert set(changes(old, load(watched.file, variables=VARIABLES))) == {
        "accounts[0].play.challenge.modes",
        "journal.url",
    }
    assert is_policy("accounts[0].play.challenge.modes") and is_policy("drain_s")
    assert not is_policy("accounts[0].play.engine") and not is_policy("accounts[0].play")


def test_every_key_of_play_is_policy_or_known_to_need_a_restart() -> None:
    assert set(Play.model_fields) - PLAY_POLICY == {"engine", "engines", "polyglot", "lichess_bot_tbs", "online_moves"}
    assert set(Settings.model_fields) >= POLICY


async def test_pools_of_ones_own_count_anew_but_not_where_games_are_watched(watched: Watched) -> None:
    own = FILE.replace("concurrency: 1", "pool: sprint") + "pools: {sprint: {base_s: 30}}\n"
    watched.write(own)
    watched.reload = Reload(watched.file, VARIABLES, load(watched.file, variables=VARIABLES), watched.applied.append)
    async with running(watched) as refused:
        watched.write(own.replace("30", "40"))
        await until(lambda: watched.applied)
        play = watched.applied[0].accounts[0].play
        assert play is not None and int(play.rulesets["sprint"].dials.base_s) == 40
        assert refused() == []
    watching = own + "watch: [{tv: blitz, pool: sprint}]\n"
    watched.write(watching)
    watched.reload = Reload(watched.file, VARIABLES, load(watched.file, variables=VARIABLES), watched.applied.append)
    async with running(watched) as refused:
        watched.write(watching.replace("30", "50"))
        await until(refused)
        assert "watch[0].pool" in refused()[0]
