"""The list of games as a fold of the journal's entries."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal
from bridge.web.games import RECENT, Games, GameSummary, fold

STARTED = {
    "white": "anna",
    "black": "bert",
    "pool": "anchor",
    "url": "https://lichess.org/g1",
    "seat": "white",
    "time_control": {"initial_ms": 360_000, "increment_ms": 2_000},
    "white_ms": 360_000,
    "black_ms": 360_000,
    "platform_white_ms": None,
}


def folded(*entries: tuple[str, Mapping[str, object]]) -> GameSummary | None:
    game: GameSummary | None = None
    for seq, (kind, data) in enumerate(entries, 1):
        game = fold(game, Entry(seq, f"j-{seq}", seq * 1000, f"kirichess.{kind}", "g1", "anna", data))
    return game


def test_a_game_starts_with_what_is_known_of_it() -> None:
    assert folded(("game.started", STARTED)) == GameSummary(
        id="g1",
        account="anna",
        white="anna",
        black="bert",
        pool="anchor",
        url="https://lichess.org/g1",
        seat="white",
        initial_ms=360_000,
        increment_ms=2_000,
        started_ms=1000,
        updated_ms=1000,
        turn_ms=1000,
        base_ms=360_000,
        white_ms=360_000,
        black_ms=360_000,
    )


def test_plies_and_takebacks_move_clocks_and_count() -> None:
    ply = {
        "ply": 3,
        "side": "white",
        "san": "Nf3",
        "white_ms": 350_000,
        "black_ms": 340_000,
        "platform_white_ms": 351_000,
    }
    game = folded(("game.started", STARTED), ("game.ply", ply))
    assert game is not None
    assert (game.ply, game.last_san, game.white_ms, game.black_ms) == (3, "Nf3", 350_000, 340_000)
    assert (game.platform_white_ms, game.updated_ms) == (351_000, 2000)
    back = folded(("game.started", STARTED), ("game.ply", ply), ("game.takeback", {"plies": 1, "white_ms": 355_000}))
    assert back is not None
    assert (back.ply, back.last_san, back.white_ms, back.black_ms) == (1, "", 355_000, 340_000)


def test_a_provisional_flag_comes_and_goes() -> None:
    fallen = ("flag.provisional", {"side": "black"})
    game = folded(("game.started", STARTED), fallen)
    assert game is not None
    assert game.flag == "black"
    game = folded(("game.started", STARTED), fallen, ("flag.withdrawn", {"side": "black"}))
    assert game is not None
    assert game.flag == ""


def test_a_verdict_is_provisional_until_final() -> None:
    verdict = {"result": "1-0", "reason": "flag", "final": False, "white_ms": 1, "black_ms": -5}
    game = folded(("game.started", STARTED), ("verdict.provisional", {"verdict": verdict, "text": "1-0"}))
    assert game is not None
    assert (game.result, game.reason, game.verdict, game.black_ms) == ("1-0", "flag", "1-0", -5)
    assert game.running, "it goes on as plain chess"
    final = {"verdict": {**verdict, "final": True}, "text": "1-0"}
    game = folded(("game.started", STARTED), ("game.finished", {}), ("verdict.final", final))
    assert game is not None
    assert (game.running, game.final) == (False, True)


def test_what_is_not_about_a_known_game_changes_nothing() -> None:
    assert folded(("challenge.received", {"white": "x"}), ("game.ply", {"ply": 1})) is None
    assert folded(("game.started", STARTED), ("chat.sent", {"text": "hello"}), ("anomaly", {"ply": 9})) is not None


def test_nonsense_in_the_data_does_not_break_the_list() -> None:
    game = folded(("game.started", {"white": 5, "time_control": "6+0", "white_ms": "x"}), ("verdict.final", {}))
    assert game is not None
    assert (game.white, game.white_ms, game.initial_ms) == ("", None, None)


async def test_running_games_first_then_the_latest_and_not_all_of_the_old() -> None:
    async with SqlJournal("sqlite://") as journal:
        games = Games(journal)
        following = asyncio.create_task(games.follow())
        for n in range(RECENT + 20):
            final = {"verdict": {"final": True}}
            await journal.append(
                [Draft("kirichess.game.started", f"g{n}"), Draft("kirichess.verdict.final", f"g{n}", final)]
            )
        await journal.append([Draft("kirichess.game.started", "a"), Draft("kirichess.game.started", "b")])
        await journal.append([Draft("kirichess.game.ply", "a", {"ply": 1})])
        listed = [game.id for game in await games.current()]
        following.cancel()
    assert listed[:4] == ["a", "b", f"g{RECENT + 19}", f"g{RECENT + 18}"]
    assert len(listed) == RECENT + 2


async def test_a_list_that_lags_is_shown_as_far_as_it_is() -> None:
    async with SqlJournal("sqlite://") as journal:
        await journal.append([Draft("kirichess.game.started", "a")])
        assert await Games(journal).current(within_s=0.01) == []


async def test_a_long_journal_is_not_read_from_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the games that go on, all is known nevertheless."""
    monkeypatch.setattr("bridge.web.games.NEWEST", 3)
    async with SqlJournal("sqlite://") as journal:
        await journal.append([Draft("kirichess.game.started", name, STARTED) for name in ("over", "goes-on")])
        await journal.append([Draft("kirichess.game.ply", "goes-on", {"ply": 1, "san": "e4", "white_ms": 359_000})])
        await journal.append([Draft("kirichess.account.online", "", {}) for _ in range(2)])
        await journal.append([Draft("kirichess.game.ply", "goes-on", {"ply": 2, "san": "e5"})])
        games = Games(journal)
        following = asyncio.create_task(games.follow())
        (game,) = await games.current()
        assert (game.id, game.white, game.ply, game.last_san, game.white_ms) == ("goes-on", "anna", 2, "e5", 359_000)
        await journal.append([Draft("kirichess.game.finished", "over", {})])
        assert [each.id for each in await games.current()] == ["goes-on", "over"]
        following.cancel()


async def test_a_game_whose_start_was_pruned_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with SqlJournal("sqlite://") as journal:
        read = journal.read
        looked: list[str | None] = []

        async def counted(*, subject: str | None = None, types: Sequence[str] = (), after: int = 0) -> list[Entry]:
            looked.append(subject)
            return await read(subject=subject, types=types, after=after)

        monkeypatch.setattr(journal, "read", counted)
        await journal.append([Draft("kirichess.game.ply", "gone", {"ply": number}) for number in range(50)])
        games = Games(journal)
        following = asyncio.create_task(games.follow())
        assert await games.current() == []
        following.cancel()
    assert looked.count("gone") == 1
