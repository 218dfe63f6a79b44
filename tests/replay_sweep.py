"""Replay real Lichess games live on the arena, watch them, and compare each final verdict with that of the file.

usage: replay_sweep.py FOLDER [--games 12] [--speed 2000] [--pool anchor ...]

Of every PGN file below FOLDER, `--games` evenly spread games that a Lichess address names are played through the
spectator stream, each judged in the next one of the pools. Result, reason, flag, last ply and both clocks must be
those that the file gives. Exit 0 when all agree and there was at least one.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from bridge.arena import Arena, ArenaSettings, Recording, read_recordings
from bridge.daemon import Daemon
from bridge.errors import RecordError
from bridge.event_types import VERDICT_FINAL
from bridge.interfaces import Entry
from bridge.records.game import Game, is_lichess
from bridge.records.reader import read_games
from bridge.records.verdict_json import verdict_object
from bridge.rules.pools import POOLS, named
from bridge.settings.models import Settings

COMPARED = ("result", "reason", "flag", "ended_at_ply", "white_ms", "black_ms")
_AT_A_TIME = 8


@dataclass
class Finals:
    """A sink that keeps the final verdicts by game."""

    name: str = "finals"
    verdicts: dict[str, dict[str, object]] = field(default_factory=dict)

    async def write(self, entry: Entry) -> None:
        """Keep it."""
        if entry.type == VERDICT_FINAL and isinstance(entry.data["verdict"], dict):
            self.verdicts[entry.subject] = entry.data["verdict"]

    async def close(self) -> None:
        """Nothing to let go of."""


@dataclass(frozen=True)
class Case:
    """A game as the file tells it and as the arena plays it."""

    game: Game
    recording: Recording
    pool: str

    def told_by_file(self) -> dict[str, object]:
        """What the file alone gives."""
        return verdict_object(self.game.judge(named(self.pool)), ledger=False)


def cases(file: Path, most: int, pools: Iterable[str]) -> list[Case]:
    """Evenly spread games of a file."""
    try:
        recordings = {recording.game_id: recording for recording in read_recordings(file, lambda error: None)}
    except RecordError:
        return []
    games = [game for game in read_games(file) if isinstance(game, Game) and is_lichess(game.site)]
    found = {game.game_id: game for game in games if game.game_id in recordings and game.snapshot.moves}
    step = max(1, len(found) // most)
    chosen = list(found.values())[::step][:most]
    return [Case(game, recordings[game.game_id], pool) for game, pool in zip(chosen, pools, strict=False)]


async def watch(batch: Sequence[Case], speed: float) -> dict[str, dict[str, object]]:
    """The live verdicts of some games at once."""
    finals = Finals()
    async with Arena(settings=ArenaSettings()) as arena:
        replays = [
            asyncio.create_task(arena.replay([case.recording], speed=speed, wait_for_viewer=True)) for case in batch
        ]
        await asyncio.sleep(0)
        settings = Settings.model_validate(
            {
                "accounts": [{"platform": "lichess", "url": arena.url}],
                "watch": [{"game": case.game.game_id, "pool": case.pool} for case in batch],
                "journal": {"url": "sqlite://"},
            }
        )
        await Daemon(settings, sinks=[finals]).run()
        await asyncio.gather(*replays)
    return finals.verdicts


def differences(case: Case, live: dict[str, object] | None) -> list[str]:
    """What is not the same."""
    if live is None:
        return ["no final verdict"]
    told = case.told_by_file()
    return [f"{name}: {told[name]} in the file, {live[name]} live" for name in COMPARED if told[name] != live[name]]


def main() -> int:
    """Sweep and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--speed", type=float, default=2000)
    parser.add_argument("--pool", nargs="*", default=list(POOLS))
    given = parser.parse_args()
    watched = failed = 0
    pools = cycle(given.pool)
    for file in sorted(given.folder.rglob("*.pgn")):
        remaining = iter(cases(file, given.games, pools))
        while batch := list(islice(remaining, _AT_A_TIME)):
            verdicts = asyncio.run(watch(batch, given.speed))
            for case in batch:
                watched += 1
                wrong = differences(case, verdicts.get(case.game.game_id))
                failed += bool(wrong)
                for line in wrong:
                    sys.stdout.write(f"{case.game.place} ({case.game.game_id}, {case.pool}): {line}\n")
    sys.stdout.write(f"{watched} games watched, {failed} differ from their files\n")
    return 1 if failed or not watched else 0


if __name__ == "__main__":
    sys.exit(main())
