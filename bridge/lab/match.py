"""A match: pairs of games over the cores, each pair on a process of its own, results as they come."""

import atexit
import logging
import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass

import structlog

from bridge.errors import EngineError, UsageError
from bridge.lab.contestant import Contestant
from bridge.lab.entry import Entry
from bridge.lab.game import Played, Terms, play
from bridge.lab.results import Json, PairLine, game_line
from bridge.lab.timing import Noise

FAULTS = ("crash", "illegal")


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """Everything a match depends on. `pools`: name → terms, played in turn; `openings`: FENs, one pair each."""

    first: Entry
    second: Entry
    pools: tuple[tuple[str, Terms], ...]
    openings: tuple[str, ...]
    first_pair: int = 0
    seed: int = 1

    def settings(self) -> Json:
        """What must be the same when a stopped match goes on; more openings may be added."""
        terms = self.pools[0][1]
        return {
            "first": self.first.text,
            "second": self.second.text,
            "pools": [name for name, _ in self.pools],
            "rules": [terms.rules.dials.to_mapping() for _, terms in self.pools],
            "time": terms.time,
            "nodes": terms.nodes,
            "depth": terms.depth,
            "movetime_ms": terms.movetime_ms,
            "seed": self.seed,
        }

    def require_same_openings(self, done: Sequence[PairLine]) -> None:
        """Raises UsageError: pairs of these numbers were played from other openings."""
        openings = dict(enumerate(self.openings, self.first_pair))
        for line in done:
            if openings.get(line.pair, line.opening) != line.opening:
                raise UsageError(
                    f"pair {line.pair} was played from another opening: give the openings it was begun with"
                )

    def work(self) -> Iterator[tuple[str, Terms, int, str]]:
        """Pairs still to play: opening by opening, all pools of one before the next."""
        for index, opening in enumerate(self.openings, self.first_pair):
            for name, terms in self.pools:
                yield name, terms, index, opening


def play_match(plan: MatchPlan, done: Sequence[PairLine], jobs: int, nice: int = 0) -> Generator[PairLine, None, None]:
    """Play what is not done yet. Closing the iterator stops the match.

    Raises:
        EngineError: a contestant cannot be started at all.
    """
    have = {(line.pool, line.pair) for line in done}
    left = [item for item in plan.work() if (item[0], item[2]) not in have]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _set_up, (plan.first, plan.second, nice)) as workers:
        waiting: set[Future[PairLine]] = set()
        queue = iter(left)
        try:
            while True:
                while len(waiting) < 2 * jobs and (item := next(queue, None)) is not None:
                    name, terms, index, opening = item
                    waiting.add(workers.submit(play_pair, name, terms, index, opening, plan.seed))
                if not waiting:
                    return
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


_ready: list[Contestant] = []
_entries: list[Entry] = []


def _set_up(first: Entry, second: Entry, nice: int) -> None:
    with suppress(OSError):  # a lower priority is a courtesy
        os.nice(nice)
    # What engines have to say of every move is not the report's; their faults are counted.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _entries[:] = [first, second]
    atexit.register(_tear_down)


def _end_with_parent() -> None:
    """A match that is killed leaves nothing behind: no worker, no engine."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a parent"
    multiprocessing.connection.wait([parent.sentinel])
    _tear_down()
    os._exit(1)


def _contestants() -> list[Contestant]:
    if not _ready:
        made = [entry.build() for entry in _entries]
        for contestant in made:
            contestant.start()
        _ready[:] = made
    return _ready


def _tear_down() -> None:
    for contestant in _ready:
        contestant.close()
    _ready.clear()


def play_pair(pool: str, terms: Terms, index: int, opening: str, seed: int) -> PairLine:
    """Both games of an opening, in this process."""
    first, second = _contestants()
    return play_two(first, second, _entries[0].text, _entries[1].text, pool, terms, index, opening, seed)


def play_two(
    first: Contestant,
    second: Contestant,
    first_name: str,
    second_name: str,
    pool: str,
    terms: Terms,
    index: int,
    opening: str,
    seed: int,
) -> PairLine:
    """Both games of an opening with colours swapped and the same noise."""
    noise = Noise.of(seed, index)
    games = []
    for first_is_white in (True, False):
        white, black = (first, second) if first_is_white else (second, first)
        names = (first_name, second_name) if first_is_white else (second_name, first_name)
        played = play(white, black, terms, noise, opening, f"{pool}-{index}-{'a' if first_is_white else 'b'}", *names)
        _revive(played, (white, black))
        games.append(game_line(played, first_is_white))
    return PairLine(pool, index, opening, (games[0], games[1]))


def _revive(played: Played, contestants: Sequence[Contestant]) -> None:
    """An engine that failed is started again for the next game."""
    if played.fault is None:
        return
    for contestant in contestants:
        with suppress(EngineError):  # it will fail again in its next game, and be counted there
            contestant.start()
