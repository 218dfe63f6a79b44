"""The referee and what it keeps: the ledger's verdicts, swapped colours, faults, a match that goes on."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from bridge.engines.switches import Switches
from bridge.engines.view import Found
from bridge.errors import EngineError, UsageError
from bridge.lab.contestant import Answer, Task, uci_position
from bridge.lab.dataset import positions
from bridge.lab.entry import Entry
from bridge.lab.game import Terms, play
from bridge.lab.kiri_contestant import KiriContestant
from bridge.lab.match import MatchPlan, play_two
from bridge.lab.openings import openings, read_openings
from bridge.lab.pgn import replayed, write_pgn
from bridge.lab.report import by_pool, endings, faults, report_object
from bridge.lab.results import Book, PairLine, pair_from_json, pair_to_json
from bridge.lab.timing import Noise, budget_ms, nodes_for, stockfish_ms
from bridge.lab.uci_pipe import UciPipe
from bridge.rules.events import Moved, TakenBack
from bridge.rules.ledger import Ledger
from bridge.rules.pools import POOLS, named, parse_dials
from bridge.rules.snapshot import Setup

QUIET = Noise(tuple([1.0] * 1_000))


class Scripted:
    """Plays the first legal move by name, or what it is told to."""

    keeps_depth = True

    def __init__(self, choose: Callable[[chess.Board], str] | None = None) -> None:
        self.choose = choose or (lambda board: min(move.uci() for move in board.legal_moves))
        self.tasks: list[Task] = []

    def start(self) -> None: ...

    def new_game(self) -> None: ...

    def plan_ms(self, ledger: Ledger) -> float:
        return 2_000.0

    def move(self, ledger: Ledger, task: Task) -> Answer:
        self.tasks.append(task)
        return Answer(self.choose(ledger.board), nodes=7)

    def close(self) -> None: ...


def pair_of(first: Scripted, second: Scripted, terms: Terms, index: int = 0) -> PairLine:
    return play_two(first, second, "first", "second", "winder", terms, index, openings("tuning")[index], 1)


def test_the_ledger_judges_the_same_game_alike() -> None:
    line = pair_of(Scripted(), Scripted(), Terms(named("winder"), nodes=10))
    for game in line.games:
        verdict = replayed(game)
        assert verdict.outcome.reason == game.reason
        own, other = (
            (verdict.white_ms, verdict.black_ms) if game.first_is_white else (verdict.black_ms, verdict.white_ms)
        )
        assert (own, other) == (game.own_ms, game.other_ms)


def test_a_game_lost_by_thinking_is_kept_with_it() -> None:
    class Slow(Scripted):
        def plan_ms(self, ledger: Ledger) -> float:
            return 40_000.0

    line = pair_of(Slow(), Scripted(), Terms(named("winder"), "own", nodes=10))
    assert endings([line], "winder") == {("lost", "flag (thinking)"): 2}
    for game in line.games:
        assert replayed(game).outcome.reason == "flag"
        assert {position["reason"] for position in positions("winder", game)} <= {"flag"}


def test_colours_are_swapped_and_the_noise_is_the_same() -> None:
    first, second = Scripted(), Scripted()
    line = pair_of(first, second, Terms(named("winder"), nodes=10))
    assert [game.first_is_white for game in line.games] == [True, False]
    # Both play alike, so the two games are the same game.
    assert line.games[0].record["moves"] == line.games[1].record["moves"]
    assert line.games[0].record["think_ms"] == line.games[1].record["think_ms"]
    assert line.score == 0.5


def test_thinking_follows_the_budget_model() -> None:
    first = Scripted()
    play(first, Scripted(), Terms(named("anchor"), nodes=10), QUIET, None, "x")
    assert first.tasks[0].think_ms == round(budget_ms(POOLS["anchor"], 360_000)) == 6_975
    assert budget_ms(POOLS["anchor"], 100_000) == 4_000


def test_with_plans_of_their_own_nodes_follow_the_time() -> None:
    first = Scripted()
    play(first, Scripted(), Terms(named("anchor"), "own", nodes=4_000), QUIET, None, "x")
    assert (first.tasks[0].think_ms, first.tasks[0].nodes) == (2_000, round(4_000 * 2_000 / 6_975))
    assert nodes_for(0, POOLS["anchor"], 4_000) == 1
    assert stockfish_ms(60_000, 8) == pytest.approx(60_000 * (0.012 + 11**0.45 * 0.0039))


@pytest.mark.parametrize("kind", ["crash", "illegal"])
def test_a_fault_loses_and_is_counted(kind: str) -> None:
    def fail(board: chess.Board) -> str:
        if kind == "crash":
            raise EngineError("it died")
        return "a1a1"

    line = pair_of(Scripted(fail), Scripted(), Terms(named("winder"), nodes=10))
    assert line.score == 0
    assert faults([line]) == {("first", kind): 2}
    assert endings([line], "winder") == {("lost", kind): 2}


def test_an_engine_that_dies_between_games_loses_the_next_one() -> None:
    class Dying(Scripted):
        games = 0

        def new_game(self) -> None:
            self.games += 1
            if self.games == 2:
                raise EngineError("it died")

    line = pair_of(Scripted(), Dying(), Terms(named("winder"), nodes=10))
    assert faults([line]) == {("second", "crash"): 1}
    assert line.games[1].score == 1


def test_a_pair_comes_back_from_its_line() -> None:
    line = pair_of(Scripted(), Scripted(), Terms(named("winder"), nodes=10))
    assert pair_from_json(pair_to_json(line)) == line


def test_a_stopped_match_goes_on_without_the_pair_that_was_cut_off(tmp_path: Path) -> None:
    terms = Terms(named("winder"), nodes=10)
    plan = MatchPlan(Entry.parse("random"), Entry.parse("random"), (("winder", terms),), openings("tuning")[:3])
    file = tmp_path / "match.jsonl"
    book = Book(file, plan.settings())
    for index in range(2):
        book.add(pair_of(Scripted(), Scripted(), terms, index))
    book.close()
    text = file.read_text()
    file.write_text(text[:-20])
    again = Book(file, plan.settings())
    assert [line.pair for line in again.pairs] == [0]
    again.add(pair_of(Scripted(), Scripted(), terms, 1))
    again.close()
    assert len(file.read_text().splitlines()) == 3
    with pytest.raises(UsageError, match="another match"):
        Book(file, {**plan.settings(), "nodes": 11})


def test_a_match_does_not_go_on_with_other_openings() -> None:
    terms = Terms(named("winder"), nodes=10)
    pools = (("winder", terms),)
    done = [pair_of(Scripted(), Scripted(), terms, index) for index in range(2)]
    more = MatchPlan(Entry.parse("random"), Entry.parse("random"), pools, openings("tuning")[:3])
    more.require_same_openings(done)
    replace(more, openings=openings("tuning")[1:3], first_pair=1).require_same_openings(done)
    with pytest.raises(UsageError, match="pair 0 was played from another opening"):
        replace(more, openings=openings("held-out")[:3]).require_same_openings(done)
    for wrong in ({"openings": openings("tuning")[5:6]}, {"first_pair": 1}):
        with pytest.raises(UsageError, match="another opening"):
            replace(more, **wrong).require_same_openings(done)


@pytest.mark.parametrize("base_s", [40, 81])
def test_a_pool_without_a_thinking_budget_is_played_all_the_same(base_s: int) -> None:
    """Nothing is left to think by the formula: the budget is nought, and each side's plan gets all the nodes."""
    dials = parse_dials({"base_s": base_s, "economy": "steal"}).dials
    assert budget_ms(dials, base_s * 1000) == 0
    assert nodes_for(500, dials, 4_000) == 4_000


def test_searches_that_follow_get_what_is_left_of_the_move_time() -> None:
    """Where every move can be flagged kiri asks three times; in all it thinks no longer than it may."""
    fen = "7k/8/8/3q4/8/8/8/K7 w - - 0 1"
    asked_ms: list[int] = []

    class Pipe(UciPipe):
        def search(self, position: str, go: str) -> tuple[Found, int]:
            words = go.split()
            asked_ms.append(int(words[words.index("movetime") + 1]))
            board = chess.Board(fen)
            board.push_uci(move := words[-1] if "searchmoves" in words else "a1b1")
            return Found(
                move, 0, 5, (move, next(reply.uci() for reply in board.legal_moves if board.gives_check(reply)))
            ), 9

    ledger = Ledger(Setup("x", named("anchor"), "think", 0, start_fen=fen))
    ledger.apply(TakenBack(0, ledger.white_ms - 2_500, 0))
    KiriContestant(Pipe("none"), Switches()).move(ledger, Task(movetime_ms=1_000))
    assert len(asked_ms) > 1
    assert sum(asked_ms) <= 1_000


def test_the_report_says_what_happened(tmp_path: Path) -> None:
    lines = [pair_of(Scripted(), Scripted(), Terms(named("winder"), nodes=10), index) for index in range(2)]
    report = json.loads(json.dumps(report_object({"first": "a"}, lines)))
    assert report["pools"]["winder"]["games"] == 4
    assert report["nodes_a_move"]["first"] == 7
    assert sum(report["endings"]["winder"].values()) == 4
    assert by_pool(lines)["winder"].score == 0.5
    write_pgn(tmp_path / "games.pgn", lines)
    text = (tmp_path / "games.pgn").read_text()
    assert text.count("[Event ") == 4
    assert "[%clk 0:" in text
    assert "[%kclk " in text


@pytest.mark.parametrize("fault", [None, "crash", "illegal"])
def test_the_pgn_says_who_won(tmp_path: Path, fault: str | None) -> None:
    """The match is its own platform: rating tools read `Result` and nothing else, and our reader reads it back."""

    def fail(board: chess.Board) -> str:
        if fault == "crash":
            raise EngineError("it died")
        return "a1a1"

    line = pair_of(Scripted(fail if fault else None), Scripted(), Terms(named("winder"), nodes=10))
    write_pgn(tmp_path / "games.pgn", [line])
    with (tmp_path / "games.pgn").open() as file:
        told = [chess.pgn.read_game(file) for _ in line.games]
    own = {1.0: ("1-0", "0-1"), 0.5: ("1/2-1/2", "1/2-1/2"), 0.0: ("0-1", "1-0")}
    for kept, game in zip(line.games, told, strict=True):
        assert game is not None
        result = own[kept.score][0 if kept.first_is_white else 1]
        assert (game.headers["Result"], game.headers["KiriResult"]) == (result, result)
        assert game.headers["KiriReason"] == kept.reason
    again = CliRunner().invoke(main, ["adjudicate", str(tmp_path / "games.pgn"), "--format", "jsonl"])
    verdicts = [json.loads(text) for text in again.stdout.splitlines()]
    assert [verdict["reason"] for verdict in verdicts] == [game.reason for game in line.games]
    assert [verdict["white_ms"] for verdict in verdicts] == [replayed(game).white_ms for game in line.games]


def test_openings_are_even_quiet_and_apart() -> None:
    tuning, held_out = set(openings("tuning")), set(openings("held-out"))
    assert len(tuning) >= 200
    assert len(held_out) >= 200
    assert not tuning & held_out
    for fen in sorted(tuning)[:20]:
        board = chess.Board(fen)
        assert (len(board.piece_map()), board.fullmove_number, board.turn) == (32, 5, chess.WHITE)


def test_a_bad_opening_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("# mine\n" + chess.STARTING_FEN + " ; even\nnonsense\n")
    with pytest.raises(UsageError, match="opening 2"):
        read_openings(file)
    with pytest.raises(UsageError, match="known sets: tuning, held-out"):
        read_openings(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("kiri", "kiri", ""),
        ("kiri:stockfish,Hash=64", "kiri", "stockfish"),
        ("/usr/games/stockfish", "uci", "/usr/games/stockfish"),
        ("python:module:Class,style=bold", "python", "module:Class"),
        ("random,seed=3", "random", ""),
    ],
)
def test_contestants_are_named_in_one_word(text: str, kind: str, target: str) -> None:
    entry = Entry.parse(text)
    assert (entry.kind, entry.target) == (kind, target)


@pytest.mark.parametrize("text", ["", "python:", "random,seed"])
def test_a_contestant_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Entry.parse(text)


def test_an_engine_is_told_the_moves_that_can_still_be_repeated() -> None:
    ledger = Ledger(Setup("x", named("anchor"), "think", 0))
    for uci in ["e2e4", "g8f6", "g1f3", "f6g8"]:
        ledger.apply(Moved(uci, 0))
    told = uci_position(ledger)
    assert told == "fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 moves g8f6 g1f3 f6g8"
