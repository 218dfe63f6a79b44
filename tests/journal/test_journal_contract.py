"""What every journal keeps to, in a file and in memory."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from bridge.errors import JournalError, UsageError
from bridge.interfaces import Draft, Entry, Journal
from bridge.journal import SqlJournal
from bridge.journal.reader import JournalReader


@pytest.fixture(params=["file", "memory"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqlJournal]:
    url = f"sqlite:///{tmp_path}/journal.db" if request.param == "file" else "sqlite://"
    async with SqlJournal(url, lambda: 1_700_000_000_123) as opened:
        yield opened


def drafts(count: int, subject: str = "g1") -> list[Draft]:
    return [Draft("kirichess.game.ply", subject, {"ply": ply}, "anna") for ply in range(1, count + 1)]


async def take(journal: Journal, after: int, count: int) -> list[Entry]:
    entries: list[Entry] = []
    async with aclosing(journal.follow(after)) as following:  # type: ignore[type-var]
        async for entry in following:
            entries.append(entry)
            if len(entries) == count:
                break
    return entries


async def test_an_entry_is_the_draft_with_number_id_and_time(journal: SqlJournal) -> None:
    data = {"san": "e4", "clocks": [1, None, True], "name": "Ĝan Ð", "nested": {"x": -1}}
    [entry] = await journal.append([Draft("kirichess.game.ply", "g1", data, "anna", key="k")])
    assert (entry.seq, entry.time_ms) == (1, 1_700_000_000_123)
    assert (entry.type, entry.subject, entry.account, entry.data) == ("kirichess.game.ply", "g1", "anna", data)
    assert await journal.read() == [entry]


async def test_numbers_grow_by_one_and_ids_differ(journal: SqlJournal) -> None:
    entries = await journal.append(drafts(3)) + await journal.append(drafts(2))
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert len({entry.id for entry in entries}) == 5
    assert await journal.last_seq() == 5


@pytest.mark.parametrize("raw_days", [0, 30])
async def test_what_engines_thought_is_kept_apart_from_the_platform_s_lines(tmp_path: Path, raw_days: int) -> None:
    file = tmp_path / "journal.db"
    for account, ply in (("Kiri", 1), ("Fish", 2), ("Kiri", 3)):
        async with SqlJournal(f"sqlite:///{file}", raw_days=raw_days) as journal:
            journal.keep("g1", "bot:Kiri", b"line", 0)
            journal.keep("g1", f"engine:{account}", b"%d" % ply, 0)
            journal.keep("g2", f"engine:{account}", b"other", 0)
            await journal.append(drafts(1))
            assert (await journal.thoughts("g1"))[-1] == b"%d" % ply
    async with SqlJournal(f"sqlite:///{file}", raw_days=raw_days) as journal:
        assert await journal.thoughts("g1") == [b"1", b"2", b"3"]
        assert await journal.thoughts("none") == []
        assert await journal.last_seq() == 3
    with JournalReader(file) as reader:
        assert {block.source for block in reader.raw("g1")} == ({"bot:Kiri"} if raw_days else set())


async def test_an_empty_journal_has_nothing(journal: SqlJournal) -> None:
    assert await journal.last_seq() == 0
    assert await journal.read() == []
    assert await journal.append([]) == []
    assert await journal.cursor("webhook") == 0


async def test_a_key_is_stored_once_and_leaves_no_gap(journal: SqlJournal) -> None:
    greeting = Draft("kirichess.chat.sent", "g1", {"text": "hello"}, key="g1/greeting")
    [first] = await journal.append([greeting])
    assert await journal.append([greeting]) == []
    [second, third] = await journal.append([greeting, *drafts(1), greeting, *drafts(1)])
    assert [first.seq, second.seq, third.seq] == [1, 2, 3]
    twins = [Draft("kirichess.chat.sent", "g2", key="twin"), Draft("kirichess.chat.sent", "g2", key="twin")]
    assert [entry.seq for entry in await journal.append(twins)] == [4]


async def test_the_same_key_from_many_tasks_at_once_is_stored_once(journal: SqlJournal) -> None:
    answers = await asyncio.gather(*(journal.append([Draft("t", "g", {"i": i}, key="once")]) for i in range(20)))
    assert sum(len(answer) for answer in answers) == 1
    assert await journal.last_seq() == 1


async def test_each_caller_of_a_shared_commit_gets_its_own_entries_in_order(journal: SqlJournal) -> None:
    answers = await asyncio.gather(*(journal.append(drafts(3, f"g{i}")) for i in range(50)))
    for i, answer in enumerate(answers):
        assert [(entry.subject, entry.data["ply"]) for entry in answer] == [(f"g{i}", ply) for ply in (1, 2, 3)]
        assert [entry.seq for entry in answer] == list(range(answer[0].seq, answer[0].seq + 3))
    assert await journal.last_seq() == 150


@pytest.mark.parametrize("data", [{"x": object()}, {"x": math.nan}])
async def test_data_that_is_not_json_fails_alone(journal: SqlJournal, data: dict[str, object]) -> None:
    good, bad = await asyncio.gather(
        journal.append(drafts(2)), journal.append([*drafts(1), Draft("t", "g", data)]), return_exceptions=True
    )
    assert isinstance(good, list)
    assert isinstance(bad, TypeError | ValueError)
    assert await journal.last_seq() == 2, "all or none"


async def test_a_broken_half_of_a_character_does_not_hurt(journal: SqlJournal) -> None:
    await journal.append([Draft("kirichess.chat.sent", "g", {"text": "\ud83d"})])
    assert (await journal.read())[0].data == {"text": "\ud83d"}


async def test_reading_by_subject_type_place_and_count(journal: SqlJournal) -> None:
    await journal.append([*drafts(3, "g1"), Draft("kirichess.verdict.final", "g1"), *drafts(2, "g2")])
    assert [entry.seq for entry in await journal.read(subject="g1")] == [1, 2, 3, 4]
    assert [entry.seq for entry in await journal.read(types=["kirichess.verdict.final"])] == [4]
    assert [entry.seq for entry in await journal.read(subject="g2", types=["kirichess.verdict.final"])] == []
    assert [entry.seq for entry in await journal.read(after=2, limit=3)] == [3, 4, 5]


async def test_a_cursor_is_kept_by_name(journal: SqlJournal) -> None:
    await journal.advance("webhook", 3)
    await journal.advance("pgn", 1)
    await journal.advance("webhook", 4)
    assert (await journal.cursor("webhook"), await journal.cursor("pgn"), await journal.cursor("other")) == (4, 1, 0)


async def test_following_begins_with_the_past_and_goes_on_with_the_new(journal: SqlJournal) -> None:
    await journal.append(drafts(3))
    following = asyncio.create_task(take(journal, 1, 4))
    await asyncio.sleep(0.02)
    assert not following.done()
    await journal.append(drafts(2))
    assert [entry.seq for entry in await following] == [2, 3, 4, 5]


async def test_a_follower_gets_what_a_reader_gets(journal: SqlJournal) -> None:
    following = asyncio.create_task(take(journal, 0, 1))
    await journal.append([Draft("t", "g", {"list": (1, 2), 3: "number"})])  # type: ignore[dict-item]
    assert await following == await journal.read()


async def test_many_followers_under_load_miss_nothing(journal: SqlJournal) -> None:
    await journal.append(drafts(700))
    followers = [asyncio.create_task(take(journal, after, 3000 - after)) for after in (0, 0, 250, 699, 700, 900)]

    async def writer(number: int) -> None:
        for _ in range(46):
            await journal.append(drafts(10, f"w{number}"))

    await asyncio.gather(*(writer(number) for number in range(5)))
    for after, entries in zip((0, 0, 250, 699, 700, 900), await asyncio.gather(*followers), strict=True):
        assert [entry.seq for entry in entries] == list(range(after + 1, 3001))


@pytest.mark.parametrize("after", [0, 998, 999, 1000, 1001, 2999])
async def test_a_follower_goes_over_from_the_disk_to_memory_without_a_seam(journal: SqlJournal, after: int) -> None:
    for _ in range(6):
        await journal.append(drafts(500))
    assert [entry.seq for entry in await take(journal, after, 3000 - after)] == list(range(after + 1, 3001))


async def test_a_follower_at_the_end_asks_nothing_of_the_disk(
    journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_disk(**_: object) -> list[Entry]:
        raise AssertionError("read from the disk")

    monkeypatch.setattr(journal, "read", no_disk)
    following = asyncio.create_task(take(journal, 0, 3))
    await journal.append(drafts(1))
    await journal.append(drafts(2))
    assert [entry.seq for entry in await following] == [1, 2, 3]


async def test_closing_writes_what_waits_and_ends_the_followers(journal: SqlJournal) -> None:
    following = asyncio.create_task(take(journal, 0, 99))
    appending = asyncio.create_task(journal.append(drafts(2)))
    await asyncio.sleep(0)
    await journal.close()
    assert [entry.seq for entry in await appending] == [1, 2]
    await asyncio.wait_for(following, 30)
    with pytest.raises(JournalError, match="not open"):
        await journal.append(drafts(1))


@pytest.mark.parametrize("url", ["journal.db", "postgresql://u:hush@h/db", ""])
def test_an_address_that_cannot_be_is_wrong_usage(url: str) -> None:
    with pytest.raises(UsageError, match=r"sqlite:///journal\.db") as told:
        SqlJournal(url)
    assert "hush" not in str(told.value)
