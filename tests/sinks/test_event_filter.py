"""Events narrowed by pool, where the pool of a game is not the one that it began in."""

from collections.abc import Mapping

import pytest

from bridge.event_filter import EventFilter
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal

ANCHOR = {"pool": "anchor", "scored": True}
PLAIN = {"pool": "anchor", "scored": False}


async def wants(pool: str, entry: Entry, journal: SqlJournal) -> bool:
    return await EventFilter(pools=[pool]).wants(entry, journal)


@pytest.mark.parametrize(
    ("kind", "data", "pools"),
    [
        ("game.started", ANCHOR, ["anchor"]),
        ("game.started", {"pool": "anchor"}, ["anchor"]),
        ("game.started", PLAIN, ["standard"]),
        ("game.started", {"pool": None, "scored": True}, ["custom"]),
        ("verdict.final", {"verdict": {"pool": "anchor", "scored": False}}, ["standard"]),
        ("challenge.accepted", {}, ["standard"]),
        ("challenge.accepted", {"pool": "anchor"}, ["anchor"]),
        ("challenge.declined", {}, []),
    ],
)
async def test_plain_chess_is_a_pool_of_its_own(kind: str, data: Mapping[str, object], pools: list[str]) -> None:
    async with SqlJournal("sqlite://") as journal:
        (entry,) = await journal.append([Draft(f"kirichess.{kind}", "g1", data)])
        found = [pool for pool in ("anchor", "custom", "standard") if await wants(pool, entry, journal)]
    assert found == pools


async def test_who_comes_later_learns_of_the_choice_in_chat() -> None:
    kinds: dict[str, Mapping[str, object]] = {"game.started": ANCHOR, "game.rules": PLAIN, "chat.sent": {"text": "!"}}
    async with SqlJournal("sqlite://") as journal:
        *_, said = await journal.append([Draft(f"kirichess.{kind}", "g1", data) for kind, data in kinds.items()])
        assert [await wants(pool, said, journal) for pool in ("anchor", "standard")] == [False, True]
