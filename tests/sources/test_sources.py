"""Books, tables and sites: what they answer, what they are told, and that none of them can cost a game anything."""

import asyncio
import json
import os
import struct
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import chess
import chess.polyglot
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bridge.errors import UsageError
from bridge.interfaces import Choice, Limit, MoveSource, RootMoves
from bridge.move_sources import open_sources
from bridge.rules.events import Moved, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import named
from bridge.rules.position import read_move
from bridge.rules.snapshot import Setup, TimeControl
from bridge.settings.play import Play
from bridge.sources.book import Book, Normalization, Opening
from bridge.sources.chain import BOOK, Chain, Gate, Gated
from bridge.sources.chessdb import Chessdb
from bridge.sources.cloud import Cloud
from bridge.sources.explorer import Explorer
from bridge.sources.online_tables import OnlineTables
from bridge.sources.site import Site
from bridge.sources.tablebase import Gaviota, Syzygy, open_gaviota, open_syzygy

PLAIN = Limit(300_000, 300_000, 0, 0, 60_000, plain=True)
ACTS = replace(PLAIN, plain=False)
KQK = "8/8/8/8/8/1k6/8/K6Q w - - 0 1"


def game(fen: str | None = None, moves: str = "", pool: str = "anchor", game_id: str = "game0001") -> Ledger:
    ledger = Ledger(Setup(game_id, named(pool), "think", 0, start_fen=fen))
    for uci in moves.split():
        ledger.apply(Moved(uci, 0))
    return ledger


def write_book(file: Path, entries: dict[str, int], board: chess.Board | None = None) -> str:
    """Weights by move, in Polyglot's format: key, move, weight, learn."""
    key = chess.polyglot.zobrist_hash(board or chess.Board())
    rows = []
    for uci, weight in entries.items():
        move = chess.Move.from_uci(uci)
        rows.append(struct.pack(">QHHI", key, move.to_square | move.from_square << 6, weight, 0))
    file.write_bytes(b"".join(rows))
    return str(file)


class Tables:
    """Stub tables: king and queen against king is won for the queen's side, nearer where the kings are nearer."""

    dtz = True

    def probe_wdl(self, board: chess.Board) -> int:
        if board.occupied.bit_count() > 3:
            raise KeyError("no such table")
        strong = board.pieces_mask(chess.QUEEN, True) | board.pieces_mask(chess.QUEEN, False)
        if not strong:
            return 0
        if any(board.is_capture(move) for move in board.legal_moves):
            return 0  # the queen hangs
        return 2 if board.occupied_co[board.turn] & strong else -2

    def probe_dtz(self, board: chess.Board) -> int:
        if not self.dtz:
            raise KeyError("no such table")
        kings = [board.king(side) or 0 for side in chess.COLORS]
        return self.probe_wdl(board) * chess.square_distance(*kings)

    def probe_dtm(self, board: chess.Board) -> int:
        return self.probe_dtz(board)

    def close(self) -> None:
        pass


# -- sites -----------------------------------------------------------------------------------------------------------


class Sites:
    """One loopback server in the place of all of them; `answers` by path, a dict or (status, text)."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}
        self.requests: list[web.Request] = []
        self.url = ""
        self.made: list[Site] = []

    def site(self) -> Site:
        """A client of it, closed with it."""
        self.made.append(Site(self.url))
        return self.made[-1]

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append(request)
        found = self.answers.get(request.path, (404, '{"error":"Not found"}'))
        if isinstance(found, tuple):
            return web.Response(status=found[0], text=found[1], headers=dict(found[2:] and found[2]))
        return web.json_response(found)


@pytest.fixture
async def sites() -> AsyncIterator[Sites]:
    found = Sites()
    app = web.Application()
    app.router.add_get("/{path:.*}", found.answer)
    async with TestServer(app) as server:
        found.url = str(server.make_url(""))
        yield found
        for site in found.made:
            await site.close()


CLOUD = {
    "fen": chess.STARTING_FEN,
    "knodes": 13_683,
    "depth": 40,
    "pvs": [{"moves": "e2e4 e7e5", "cp": 24}, {"moves": "d2d4 d7d5", "cp": 10}, {"moves": "a2a3 e7e5", "cp": -60}],
}
EXPLORER = {
    "white": 20,
    "draws": 0,
    "black": 20,
    "moves": [
        {"uci": "e2e4", "san": "e4", "averageRating": 2400, "white": 20, "draws": 10, "black": 20},
        {"uci": "d2d4", "san": "d4", "averageRating": 2400, "white": 15, "draws": 10, "black": 5},
        {"uci": "a2a3", "san": "a3", "averageRating": 2400, "white": 2, "draws": 0, "black": 0},
    ],
}
CHESSDB = {"status": "ok", "score": 12, "depth": 33, "pv": ["e2e4", "e7e5"], "move": "d2d4"}


def table_answer() -> dict[str, object]:
    """What the server says of KQK: categories are those of the side that has to answer."""
    moves = []
    board = chess.Board(KQK)
    for move in list(board.legal_moves):
        uci = move.uci()
        board.push(move)
        wdl = Tables().probe_wdl(board)
        dtz = Tables().probe_dtz(board)
        moves.append({"uci": uci, "category": {-2: "loss", 0: "draw"}[wdl], "dtz": dtz, "zeroing": False})
        board.pop()
    return {"category": "win", "dtz": 1, "moves": moves}


def best_by_tables() -> list[str]:
    return [str(m["uci"]) for m in table_answer()["moves"] if m["category"] == "loss"]  # type: ignore[attr-defined]


Make = Callable[[Sites, Path], MoveSource]
SOURCES: dict[str, Make] = {
    "book": lambda sites, folder: Book({"standard": [write_book(folder / "b.bin", {"e2e4": 3})]}, Opening()),
    "syzygy": lambda sites, folder: Syzygy(Tables()),
    "gaviota": lambda sites, folder: Gaviota(Tables()),
    "cloud": lambda sites, folder: Cloud(sites.site()),
    "explorer": lambda sites, folder: Explorer(sites.site()),
    "chessdb": lambda sites, folder: Chessdb(sites.site()),
    "online tables": lambda sites, folder: OnlineTables(sites.site()),
}
ONLINE = ("cloud", "explorer", "chessdb", "online tables")


@pytest.fixture(params=SOURCES)
async def source(request: pytest.FixtureRequest, sites: Sites, tmp_path: Path) -> AsyncIterator[MoveSource]:
    answer_all(sites)
    made = SOURCES[request.param](sites, tmp_path)
    yield made
    await made.close()


def answer_all(sites: Sites) -> None:
    sites.answers |= {"/api/cloud-eval": CLOUD, "/masters": EXPLORER, "/lichess": EXPLORER, "/cdb.php": CHESSDB}
    sites.answers |= {"/player": (200, "\n" + json.dumps(EXPLORER) + "\n"), "/standard": table_answer()}


# -- what every source keeps to --------------------------------------------------------------------------------------


async def test_what_is_found_is_legal_and_says_where_it_is_from(source: MoveSource) -> None:
    found = [await source.find(game(fen), PLAIN) for fen in (None, KQK)]
    assert any(found)
    for ledger, one in zip((game(), game(KQK)), found, strict=True):
        moves = () if one is None else (one.uci,) if isinstance(one, Choice) else one.moves
        if isinstance(source, Cloud | Chessdb | Explorer) and ledger.board.fen() == KQK:
            continue  # the imitation answers every position alike
        assert all(read_move(ledger.board, uci) in ledger.board.legal_moves for uci in moves)
        assert one is None or one.why


async def test_nothing_is_changed_by_looking(source: MoveSource) -> None:
    ledger = game(KQK)
    await source.find(ledger, PLAIN)
    assert ledger.board.fen() == KQK
    assert ledger.moves == []


async def test_a_position_with_many_men_and_no_theory_is_unknown(source: MoveSource, sites: Sites) -> None:
    sites.answers.clear()
    assert await source.find(game(moves="a2a3 h7h6 a3a4"), PLAIN) is None


async def test_it_closes_twice_without_a_fuss(source: MoveSource) -> None:
    await source.close()
    await source.close()


# -- books -----------------------------------------------------------------------------------------------------------


async def test_the_best_entry_and_the_weights(tmp_path: Path) -> None:
    files = {"standard": [write_book(tmp_path / "b.bin", {"a2a3": 0, "e2e4": 90, "d2d4": 10})]}
    best = Book(files, Opening("best_move"))
    assert {(await best.find(game(), PLAIN)).uci for _ in range(20)} == {"e2e4"}  # type: ignore[union-attr]
    for selection, least, known in (("weighted_random", 0, {"e2e4", "d2d4"}), ("uniform_random", 11, {"e2e4"})):
        book = Book(files, Opening(selection, least))  # type: ignore[arg-type]
        assert {(await book.find(game(), PLAIN)).uci for _ in range(200)} == known  # type: ignore[union-attr]
    assert await best.find(game(moves="a2a3"), PLAIN) is None
    assert await Book(files, Opening(max_depth=1)).find(game(moves="g1f3 g8f6 f3g1 f6g8"), PLAIN) is None


async def test_a_pool_has_books_of_its_own_where_kirichess_acts(tmp_path: Path) -> None:
    own, usual = write_book(tmp_path / "own.bin", {"c2c4": 1}), write_book(tmp_path / "usual.bin", {"e2e4": 1})
    book = Book({"standard": [usual], "winder": [own]}, Opening())
    said = [(pool, limit) for pool in ("winder", "anchor") for limit in (ACTS, PLAIN)]
    found = [await book.find(game(pool=pool), limit) for pool, limit in said]
    assert [one and one.uci for one in found] == ["c2c4", "e2e4", "e2e4", "e2e4"]


def test_a_book_that_is_not_there_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Book({"standard": [str(tmp_path / "none.bin")]}, Opening())
    with pytest.raises(UsageError, match="does not exist"):
        open_syzygy([str(tmp_path / "none")])
    with pytest.raises(UsageError, match="no Syzygy tables"):
        open_syzygy([str(tmp_path)])


# -- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["syzygy", "gaviota", "online tables"])
async def test_tables_choose_in_plain_chess_and_leave_moves_where_kirichess_acts(
    name: str, sites: Sites, tmp_path: Path
) -> None:
    answer_all(sites)
    source = SOURCES[name](sites, tmp_path)
    chosen = await source.find(game(KQK), PLAIN)
    assert isinstance(chosen, Choice)
    assert chosen.score_cp == 20_000
    left = await source.find(game(KQK), ACTS)
    assert isinstance(left, RootMoves)
    assert sorted(left.moves) == sorted(best_by_tables())
    assert left.moves[0] == chosen.uci
    assert await source.find(game("8/8/8/8/8/1k6/1q6/KR5Q w - - 0 1"), PLAIN) is None or name == "online tables"
    await source.close()


async def test_two_games_at_once_are_both_looked_up() -> None:
    """The second waits for the first; a look-up that hangs is another matter."""

    class Slow(Tables):
        def probe_dtz(self, board: chess.Board) -> int:
            time.sleep(0.005)
            return super().probe_dtz(board)

    source = Syzygy(Slow())
    found = await asyncio.gather(*(source.find(game(KQK, game_id=f"game000{number}"), PLAIN) for number in range(3)))
    assert all(isinstance(each, Choice) for each in found)
    await source.close()


async def test_a_look_up_that_hangs_holds_up_no_other_game() -> None:
    free = threading.Event()

    class Hung(Tables):
        def probe_dtz(self, board: chess.Board) -> int:
            free.wait()
            return super().probe_dtz(board)

    chain = Chain([Gated("syzygy", Syzygy(Hung()), Gate(timeout_ms=200))])
    try:
        async with asyncio.timeout(10):
            found = await asyncio.gather(*(chain.find(game(KQK, game_id=f"game000{each}"), PLAIN) for each in range(3)))
            assert found == [None] * 3
            assert await chain.find(game(KQK), PLAIN) is None
    finally:
        free.set()


async def test_without_distances_the_outcome_alone_counts() -> None:
    tables = Tables()
    tables.dtz = False
    assert isinstance(await Syzygy(tables).find(game(KQK), PLAIN), RootMoves)


@pytest.mark.skipif("KIRICHESS_TEST_SYZYGY" not in os.environ, reason="KIRICHESS_TEST_SYZYGY names no folder of tables")
async def test_real_tables_mate_with_a_queen() -> None:
    source = Syzygy(open_syzygy([os.environ["KIRICHESS_TEST_SYZYGY"]]))
    assert isinstance(await source.find(game(KQK), PLAIN), Choice)
    await source.close()


@pytest.mark.skipif(not Path("/usr/share/gaviotatb/gtb4").is_dir(), reason="no gaviotatb")
@pytest.mark.parametrize(
    ("fen", "wdl"),
    [
        ("8/8/8/4k3/8/8/8/R3K3 w - - 0 1", 2),
        ("8/8/8/4k3/8/8/8/R3K3 b - - 0 1", -2),
        ("k7/8/8/8/8/8/P7/K7 b - - 0 1", 0),
        ("8/8/8/8/8/1k6/8/K1B5 w - - 0 1", None),
    ],
)
async def test_real_gaviota_tables(fen: str, wdl: int | None) -> None:
    source = Gaviota(open_gaviota(["/usr/share/gaviotatb/gtb4"]))
    plain, acts = [await source.find(game(fen), limit) for limit in (PLAIN, ACTS)]
    if wdl is not None:
        assert isinstance(plain, Choice) and plain.wdl == wdl
        assert isinstance(acts, RootMoves) and acts.wdl == wdl
    await source.close()


# -- sites -----------------------------------------------------------------------------------------------------------


async def test_scores_of_the_cloud_are_whites(sites: Sites) -> None:
    black = game(moves="e2e4")
    sites.answers["/api/cloud-eval"] = {"depth": 40, "knodes": 9, "pvs": [{"moves": "e7e5", "cp": 24}]}
    found = await Cloud(sites.site()).find(black, PLAIN)
    assert found is not None
    assert (found.uci, found.score_cp, found.depth) == ("e7e5", -24, 40)


@pytest.mark.parametrize(("within_cp", "known"), [(0, {"e2e4"}), (20, {"e2e4", "d2d4"})])
async def test_good_moves_of_the_cloud(sites: Sites, within_cp: int, known: set[str]) -> None:
    answer_all(sites)
    cloud = Cloud(sites.site(), "good", within_cp=within_cp)
    assert {(await cloud.find(game(), PLAIN)).uci for _ in range(60)} == known  # type: ignore[union-attr]
    assert await Cloud(sites.site(), min_depth=41).find(game(), PLAIN) is None


async def test_the_explorer_goes_by_a_players_performance_and_by_moves_that_have_won(sites: Sites) -> None:
    moves = [
        {"uci": "e2e4", "white": 0, "draws": 30, "black": 0, "performance": 2500},
        {"uci": "d2d4", "white": 5, "draws": 5, "black": 10, "performance": 2400},
    ]
    sites.answers["/player"] = sites.answers["/masters"] = {"moves": moves}
    best = await Explorer(sites.site(), "player", player="Somebody", sort="performance").find(game(), PLAIN)
    won = await Explorer(sites.site(), sort="performance", only_with_wins=True).find(game(), PLAIN)
    assert (best and best.uci, won and won.uci) == ("e2e4", "d2d4")
    for move in moves:
        del move["performance"]
    sites.answers["/lichess"] = {"moves": moves}
    by_rate = await Explorer(sites.site(), "lichess", sort="performance").find(game(), PLAIN)
    assert by_rate and by_rate.uci == "e2e4", "nobody has performed: the rate decides"


async def test_the_explorer_counts_games_for_the_side_to_move(sites: Sites) -> None:
    answer_all(sites)
    by_rate = await Explorer(sites.site()).find(game(), PLAIN)
    by_games = await Explorer(sites.site(), "player", player="Somebody", sort="games_played").find(game(), PLAIN)
    assert (by_rate and by_rate.uci, by_games and by_games.uci) == ("d2d4", "e2e4")
    assert sites.requests[-1].query["player"] == "Somebody"
    assert sites.requests[-1].query["color"] == "white"


@pytest.mark.parametrize(("quality", "uci"), [("best", "e2e4"), ("good", "d2d4"), ("all", "d2d4")])
async def test_the_qualities_of_chessdb(sites: Sites, quality: str, uci: str) -> None:
    answer_all(sites)
    found = await Chessdb(sites.site(), quality).find(game(), PLAIN)  # type: ignore[arg-type]
    assert found is not None
    assert found.uci == uci


@pytest.mark.parametrize("name", ONLINE)
async def test_a_site_is_told_the_position_and_nothing_of_us(
    sites: Sites, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    answer_all(sites)
    source = SOURCES[name](sites, tmp_path)
    await source.find(game(KQK), PLAIN)
    await source.close()
    (request,) = sites.requests
    assert not {"authorization", "cookie"} & {header.lower() for header in request.headers}
    assert KQK in request.query.values()


async def test_an_answer_is_asked_for_once(sites: Sites) -> None:
    answer_all(sites)
    cloud = Cloud(sites.site())
    for _ in range(3):
        assert await cloud.find(game(), PLAIN)
    sites.answers.clear()
    for _ in range(3):
        assert await cloud.find(game(moves="a2a3"), PLAIN) is None
    assert len(sites.requests) == 2


async def test_two_games_that_ask_a_site_at_once_are_both_answered(sites: Sites) -> None:
    """One after the other, and what both want to know is asked once."""
    sites.answers["/masters"] = EXPLORER
    chain = Chain([Gated("explorer", Explorer(sites.site()), Gate(timeout_ms=5_000))])
    found = await asyncio.gather(*(chain.find(game(moves=moves), PLAIN) for moves in ("", "", "g1f3 g8f6 f3g1 f6g8")))
    assert all(found)
    assert len(sites.requests) == 2


@pytest.mark.parametrize("status", [429, 500, 302])
async def test_a_site_that_refuses_is_left_alone(sites: Sites, status: int) -> None:
    sites.answers["/api/cloud-eval"] = (status, "", {"Location": "/elsewhere"})
    chain = Chain([Gated("cloud", Cloud(sites.site()))])
    for moves in ("", "a2a3", "h2h3"):
        assert await chain.find(game(moves=moves), PLAIN) is None
    assert len(sites.requests) == 1
    await chain.close()


# -- the chain -------------------------------------------------------------------------------------------------------


class Scripted:
    """Answers, fails or hangs as it is told."""

    def __init__(self, answer: Callable[[], Awaitable[Choice | RootMoves | None]]) -> None:
        self.answer = answer
        self.asked = 0

    async def find(self, ledger: Ledger, limit: Limit) -> Choice | RootMoves | None:
        self.asked += 1
        return await self.answer()

    async def close(self) -> None:
        pass


async def knows() -> Choice:
    return Choice("e2e4")


async def knows_nothing() -> None:
    return None


async def lies() -> Choice:
    return Choice("e2e5")


async def leaves_nothing() -> RootMoves:
    return RootMoves(())


async def fails() -> Choice:
    raise RuntimeError("a fault nobody thought of")


async def hangs() -> Choice:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("first", [knows_nothing, lies, leaves_nothing, fails, hangs])
async def test_a_source_that_is_no_use_gives_way_to_the_next(
    first: Callable[[], Awaitable[Choice | RootMoves | None]],
) -> None:
    good = Scripted(knows)
    chain = Chain([Gated("bad", Scripted(first), Gate(timeout_ms=50)), Gated("good", good)])
    async with asyncio.timeout(10):
        assert await chain.find(game(), PLAIN) == Choice("e2e4")
    assert good.asked == 1


async def test_all_together_take_no_more_than_a_tenth_of_the_time() -> None:
    chain = Chain([Gated(str(number), Scripted(hangs), Gate(timeout_ms=60_000)) for number in range(5)])
    async with asyncio.timeout(10):
        assert await chain.find(game(), replace(PLAIN, deadline_ms=1_000)) is None


async def test_gates() -> None:
    source = Scripted(knows_nothing)
    chain = Chain([Gated("slow", source, Gate(20_000, 200_000, out_of_book=2, max_moves=5))])
    await chain.find(game(), replace(PLAIN, white_ms=19_999))
    await chain.find(game(moves="g1f3 g8f6 f3g1 f6g8 " * 3), replace(PLAIN, white_ms=20_000))
    assert source.asked == 0
    for game_id in ("one", "one", "one", "two"):
        await chain.find(game(game_id=game_id), replace(PLAIN, white_ms=20_000))
    assert source.asked == 3


async def test_near_a_flag_only_the_engine_chooses() -> None:
    """In Anchor a queen is worth more than the clock that is left, on either side."""
    chain = Chain([Gated("good", Scripted(knows))])
    assert await chain.find(game(), ACTS) is not None
    poor = game()
    poor.apply(TakenBack(0, 0, poor.black_ms - 3_000))
    assert await chain.find(poor, ACTS) is None
    assert await chain.find(poor, PLAIN) is not None
    assert await chain.find(game(), replace(ACTS, white_ms=5_000)) is None


async def test_the_settings_make_the_chain(sites: Sites, tmp_path: Path) -> None:
    answer_all(sites)
    online = {"enabled": True, "url": sites.url.rstrip("/")}
    names = ("chessdb_book", "lichess_cloud_analysis", "lichess_opening_explorer", "online_egtb")
    play = Play.model_validate(
        {
            "engine": "x",
            "polyglot": {"enabled": True, "book": {"standard": [write_book(tmp_path / "b.bin", {"c2c4": 1})]}},
            "online_moves": dict.fromkeys(names, online),
        }
    )
    chain = open_sources(play)
    found = [await chain.find(game(fen), PLAIN) for fen in (None, KQK)]
    assert [one and one.why for one in found] == ["from the book", "the online tablebase: wins"]
    await chain.close()
    assert await open_sources(Play.model_validate({"engine": "x"})).find(game(), PLAIN) is None


@pytest.mark.parametrize("status", [429, 500])
async def test_a_site_that_rests_has_not_missed(sites: Sites, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for pause in ("_LIMITED_S", "_BROKEN_S"):
        monkeypatch.setattr(f"bridge.sources.site.{pause}", 0.2)
    sites.answers["/api/cloud-eval"] = (status, "")
    chain = Chain([Gated("cloud", Cloud(sites.site()), Gate(timeout_ms=5_000, out_of_book=2))])
    for moves in ("", "a2a3", "h2h3", "b2b3"):
        assert await chain.find(game(moves=moves), PLAIN) is None
    assert len(sites.requests) == 1
    await asyncio.sleep(0.3)
    answer_all(sites)
    assert await chain.find(game(), PLAIN) is not None
    await chain.close()


# -- the gates of openings -------------------------------------------------------------------------------------------


async def test_a_site_gives_so_many_moves_in_a_game_and_none_where_a_book_has_known_one() -> None:
    book, site = Scripted(knows), Scripted(knows)
    chain = Chain([Gated(BOOK, book, Gate(max_answers=1)), Gated("site", site, Gate(max_answers=2))])
    shy = Chain([Gated(BOOK, book), Gated("site", site, Gate(only_without_book=True))])
    found = [await chain.find(game(), PLAIN) for _ in range(4)]
    assert [choice is not None for choice in found] == [True, True, True, False]
    assert (book.asked, site.asked) == (1, 2)
    await shy.find(game(), PLAIN)
    book.answer = knows_nothing
    assert await shy.find(game(), PLAIN) is None, "a book has known a move in this game"
    assert await shy.find(game(game_id="game0002"), PLAIN) is not None


async def test_a_move_that_repeats_is_taken_only_where_it_may() -> None:
    async def goes_back() -> Choice:
        return Choice("f3g1")

    home = game(moves="g1f3 g8f6 f3g1 f6g8 g1f3 g8f6")
    shy, bold = (Chain([Gated("site", Scripted(goes_back), Gate(may_repeat=may))]) for may in (False, True))
    assert await shy.find(home, PLAIN) is None
    assert await bold.find(home, PLAIN) is not None


@pytest.mark.parametrize(
    ("normalization", "least", "known"),
    [("none", 30, 2), ("sum", 30, 2), ("sum", 45, 1), ("max", 70, 1), ("max", 66, 2)],
)
async def test_least_weights_of_a_book_are_a_percentage_where_it_says_so(
    tmp_path: Path, normalization: Normalization, least: int, known: int
) -> None:
    file = write_book(tmp_path / "book.bin", {"e2e4": 60, "d2d4": 40})
    opening = Opening("uniform_random", least, normalization=normalization)
    book = Book({"standard": [file]}, opening)
    assert len({(await book.find(game(), PLAIN)).uci for _ in range(40)}) == known  # type: ignore[union-attr]
    await book.close()


async def test_the_sites_are_asked_by_their_priority() -> None:
    usual: dict[str, object] = {name: {"enabled": True} for name in ("chessdb_book", "lichess_cloud_analysis")}
    other = {**usual, "lichess_cloud_analysis": {"enabled": True, "priority": 1}}
    plays = [Play.model_validate({"engine": "main", "online_moves": sites}) for sites in (usual, other)]
    names = [[gated.name for gated in open_sources(play)._sources] for play in plays]
    assert names == [["chessdb_book", "lichess_cloud_analysis"], ["lichess_cloud_analysis", "chessdb_book"]]


async def test_what_a_game_began_with_bounds_the_sites_not_what_is_left() -> None:
    begun = Ledger(Setup("game0001", named("anchor"), "think", 0, time_control=TimeControl(600_000, 0)))
    for most_ms, asked in ((599_999, False), (600_000, True)):
        chain = Chain([Gated("site", Scripted(knows), Gate(max_ms=most_ms))])
        assert (await chain.find(begun, PLAIN) is not None) is asked
