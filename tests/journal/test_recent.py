"""What the journal keeps in memory: the newest entries, few of them where they are large."""

from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.journal.recent import MOST, MOST_CHARACTERS, Recent


def numbered(first: int, last: int) -> list[Entry]:
    return [Entry(seq, f"j-{seq}", 0, "t", "g", "", {}) for seq in range(first, last + 1)]


def numbers(entries: list[Entry] | None) -> list[int] | None:
    return None if entries is None else [entry.seq for entry in entries]


def test_small_entries_are_bounded_by_their_number() -> None:
    recent = Recent()
    assert recent.after(0, 10) is None
    recent.add(numbered(1, MOST + 7), 100)
    assert recent.after(6, 10) is None
    assert numbers(recent.after(7, 3)) == [8, 9, 10]
    assert numbers(recent.after(MOST + 5, 10)) == [MOST + 6, MOST + 7]
    assert recent.after(MOST + 7, 10) == []


def test_large_entries_make_room_sooner() -> None:
    recent = Recent()
    recent.add(numbered(1, 100), 100)
    recent.add(numbered(101, 110), MOST_CHARACTERS // 4)
    assert recent.after(105, 10) is None
    assert numbers(recent.after(106, 10)) == [107, 108, 109, 110]
    recent.add(numbered(111, 111), 3 * MOST_CHARACTERS)
    assert numbers(recent.after(110, 10)) == [111]


async def test_a_follower_that_lags_behind_large_entries_gets_them_all() -> None:
    async with SqlJournal("sqlite://") as journal:
        for number in range(12):
            await journal.append([Draft("t", "g", {"number": number, "text": "x" * (MOST_CHARACTERS // 4)})])
        found = []
        async for entry in journal.follow(0):
            found.append(entry.data["number"])
            if len(found) == 12:
                break
    assert found == list(range(12))
