"""What we write, we read back: events of the journal, and PGN with both clocks."""

import io
import json
from pathlib import Path

import chess
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import RecordError
from bridge.records.events import decode, encode
from bridge.records.game import Game
from bridge.records.pgn_writer import clk, to_pgn
from bridge.records.reader import read_games, read_lines
from bridge.rules.diff import diff
from bridge.rules.events import Berserked, Ended, Event, Moved, Noted, Resynced, Started, TakenBack, TimeGiven
from bridge.rules.ledger import Ledger
from bridge.rules.pools import POOLS, PRESETS, Ruleset, named, parse_dials
from bridge.rules.snapshot import Anomaly, Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge

ROOT = Path(__file__).parent.parent.parent
CONTROL = TimeControl(180_000, 2_000)


def through_json(event: Event) -> Event:
    return decode(json.loads(json.dumps(encode(event))))


# -- events ------------------------------------------------------------------------------------------------------

SIDES = st.sampled_from(chess.COLORS)
MS = st.integers(-(10**9), 10**9)
OPTIONAL_MS = st.none() | MS
WORDS = st.text(max_size=20)
EVENTS = st.one_of(
    st.builds(Moved, WORDS, OPTIONAL_MS, OPTIONAL_MS, MS, OPTIONAL_MS),
    st.builds(TakenBack, st.integers(0, 500), MS, MS, OPTIONAL_MS, OPTIONAL_MS, OPTIONAL_MS),
    st.builds(TimeGiven, SIDES, MS, st.booleans()),
    st.builds(Resynced, SIDES, MS),
    st.builds(Berserked, SIDES, OPTIONAL_MS),
    st.builds(Ended, WORDS, st.none() | SIDES, MS),
    st.builds(Noted, st.builds(Anomaly, WORDS, st.integers(0, 500), WORDS)),
)
DECIMALS = st.integers(0, 10**6) | st.floats(0, 10**6, allow_nan=False)
F_MODES = st.builds(lambda n: {"f_mode": n}, DECIMALS) | st.sampled_from([{"pool": name} for name in PRESETS])
DIALS = F_MODES | st.fixed_dictionaries(
    {"pool": st.sampled_from(sorted(POOLS))},
    optional={
        "base_s": st.floats(0.001, 10**6),
        "increment_s": DECIMALS,
        "economy": st.sampled_from(["steal", "bounty", "burn"])
        | st.fixed_dictionaries({"gain": DECIMALS, "loss": DECIMALS}),
        "capture_multiplier": DECIMALS,
        "values_s": st.dictionaries(st.sampled_from(["pawn", "queen"]), DECIMALS),
        "tolls_s": st.dictionaries(st.sampled_from(["king", "castling"]), DECIMALS),
        "double_flag": st.sampled_from(["stack", "mover_loses", "draw"]),
        "dead_position": st.sampled_from(["material", "exact"]),
    },
)


@given(EVENTS)
def test_every_event_comes_back(event: Event) -> None:
    assert through_json(event) == event


@given(DIALS, st.none() | st.just(CONTROL), st.booleans(), st.none() | WORDS, st.sampled_from([None, 0, 500]))
def test_a_start_comes_back_with_its_whole_economy(
    dials: dict[str, object], control: TimeControl | None, flag: bool, fen: str | None, precision_ms: int | None
) -> None:
    rules = parse_dials(dials)
    setup = Setup("id", rules, "export", precision_ms, fen, flag, control, not flag, "Ann", "Bob", "https://x")
    assert through_json(Started(setup)) == Started(setup)


def test_a_pool_that_only_a_configuration_knew_keeps_its_name() -> None:
    setup = Setup("id", Ruleset(parse_dials({"base_s": 77}).dials, "our-own"), "stream", 10)
    assert through_json(Started(setup)) == Started(setup)


def test_a_stored_game_replays_to_the_same_ledger() -> None:
    (game,) = read_games(ROOT / "config" / "sample.pgn")
    assert isinstance(game, Game)
    setup = game.setup(named("anchor"))
    ledger = Ledger(setup)
    events: list[Event] = [Started(setup)]
    for event in diff(ledger, game.snapshot):
        ledger.apply(event)
        events.append(event)
    replayed = Ledger.replay(through_json(event) for event in events)
    assert (replayed.rows, replayed.outcome, replayed.moves) == (ledger.rows, ledger.outcome, ledger.moves)


@pytest.mark.parametrize(
    "given_event",
    [{}, {"event": "nonsense"}, {"event": ["moved"]}, {"event": "moved", "ply": 3}, {"event": "started"},
     {"event": "resynced", "side": "grey", "reading_ms": 1}, {"event": "started", "setup": {"white": "Ann"}}],
)  # fmt: skip
def test_what_is_no_event_is_refused(given_event: dict[str, object]) -> None:
    with pytest.raises(RecordError):
        decode(given_event)


# -- PGN ---------------------------------------------------------------------------------------------------------


def written(setup: Setup, snapshot: Snapshot) -> tuple[Verdict, Game, str]:
    verdict = judge(setup, snapshot)
    text = to_pgn(verdict, date="2026.05.17")
    (game,) = read_lines(enumerate(text.split("\n"), 1), "x")
    assert isinstance(game, Game), game
    return verdict, game, text


def setup(**changes: object) -> Setup:
    site = "https://lichess.org/abcdefgh"
    values = {"time_control": CONTROL, "free_first_moves": True, "site": site, "white": "Ann"}
    clocks = {"source": "export", "precision_ms": 40}
    return Setup("abcdefgh", named("winder"), **{**clocks, **values, **changes})  # type: ignore[arg-type]


MOVES = ["e2e4", "e7e5", "g1f3", "g8f6", "f1c4", "f8c5", "e1g1"]
CLOCKS = [180_000, 180_000, 171_230, 178_500, 150_000, 170_000, 140_010]


def test_pgn_holds_both_clocks_and_the_verdict_and_is_judged_the_same() -> None:
    verdict, game, text = written(setup(), Snapshot(MOVES, "resign", chess.WHITE, clocks_ms=CLOCKS))
    assert "2. Nf3 { [%clk 0:02:51.23] [%kclk 46230] [%keff toll:-2000/0] }" in text.replace("\n", " ")
    for tag in ("KiriPool", "KiriRules", "KiriResult", "KiriReason"):
        assert f"[{tag} " in text
    assert '[TimeControl "180+2"]' in text
    assert '[Termination "Normal"]' in text
    again = game.judge(parse_dials(game.rules or {}))
    assert again.rows == verdict.rows
    assert (again.outcome, again.moves, again.setup.rules) == (verdict.outcome, verdict.moves, verdict.setup.rules)


def test_moves_after_the_kirichess_end_stay_with_their_platform_clock() -> None:
    """White's 61 s of thinking in Winder end the game before ply 3; the platform goes on."""
    verdict, game, text = written(
        setup(), Snapshot(MOVES, "resign", chess.WHITE, clocks_ms=[*CLOCKS[:2], 121_000, *CLOCKS[3:]])
    )
    assert (verdict.plies, len(game.snapshot.moves)) == (2, 7)
    assert text.count("%kclk") == 2
    assert game.snapshot.clocks_ms is not None
    assert game.snapshot.clocks_ms[6] == 140_010


def test_a_set_position_and_chess960_castling_come_back() -> None:
    fen = "1r2k3/8/8/8/8/8/8/1R2K3 w Qq - 0 1"
    verdict, game, text = written(setup(start_fen=fen, chess960=True), Snapshot(["e1b1"], "resign", chess.WHITE))
    assert '[Variant "Chess960"]' in text
    assert (game.start_fen, game.snapshot.moves, game.chess960) == (fen, ["e1b1"], True)
    assert game.judge(named("winder")).rows[0].effects == verdict.rows[0].effects


@pytest.mark.parametrize(
    ("status", "winner", "result", "termination"),
    [
        ("outoftime", chess.BLACK, "0-1", "Time forfeit"),
        ("timeout", chess.WHITE, "1-0", "Abandoned"),
        ("cheat", chess.WHITE, "1-0", "Rules infraction"),
        ("draw", None, "1/2-1/2", "Normal"),
        ("aborted", None, "*", "Abandoned"),
        ("started", None, "*", "Unterminated"),
    ],
)
def test_the_platforms_ending_keeps_its_words(
    status: str, winner: chess.Color | None, result: str, termination: str
) -> None:
    verdict, game, text = written(setup(), Snapshot(MOVES, status, winner, clocks_ms=CLOCKS))
    assert f'[Result "{result}"]' in text
    assert f'[Termination "{termination}"]' in text
    again = game.judge(named("winder"))
    if result != "*":
        assert (again.outcome, again.platform and again.platform.winner) == (verdict.outcome, winner)


ELSEWHERE = "http://127.0.0.1:8080/abcdefgh"
TWO = ["e2e4", "e7e5"]


def stream(moves: list[str], white_s: float, black_s: float, status: str = "started") -> Snapshot:
    """A line as a game stream has it."""
    winner = chess.WHITE if status == "resign" else None
    return Snapshot(moves, status, winner, white_ms=round(white_s * 1000), black_ms=round(black_s * 1000))


PLAYED = [stream(TWO[:ply], 180, 180) for ply in range(3)]
STREAMED = {
    "first moves and increments": [
        *PLAYED,
        stream([*TWO, "g1f3"], 178.5, 180),
        stream([*TWO, "g1f3", "b8c6"], 178.5, 175.25),
    ],
    "a gift": [
        *PLAYED,
        stream([*TWO, "g1f3"], 178.5, 180),
        stream([*TWO, "g1f3"], 193.5, 180),
        stream([*TWO, "g1f3", "b8c6"], 193.5, 182),
        stream([*TWO, "g1f3", "b8c6", "f1c4"], 190, 182),
    ],
    "a takeback": [
        *PLAYED,
        stream([*TWO, "g1f3"], 172, 180),
        stream(TWO, 172, 180),
        stream([*TWO, "b1c3"], 164.5, 180),
        stream([*TWO, "b1c3", "b8c6"], 164.5, 179),
    ],
    "a first move taken back": [
        *PLAYED,
        stream(TWO[:1], 180, 180),
        stream(["e2e4", "c7c5"], 180, 179.97),
        stream(["e2e4", "c7c5", "g1f3"], 170, 179.97),
    ],
    "a takeback at the end": [*PLAYED, stream([*TWO, "g1f3"], 172, 180), stream(TWO, 172, 180)],
}


@pytest.mark.parametrize("lines", STREAMED.values(), ids=STREAMED)
@pytest.mark.parametrize("site", [ELSEWHERE, "https://lichess.org/abcdefgh", ""])
@pytest.mark.parametrize("pending_s", [0, 3.5, 70])
def test_what_was_streamed_from_any_server_is_judged_the_same(
    lines: list[Snapshot], site: str, pending_s: float
) -> None:
    last = lines[-1]
    left = [(last.black_ms or 0) / 1000, (last.white_ms or 0) / 1000]
    left[len(last.moves) % 2 == 0] -= pending_s
    end = stream(list(last.moves), left[1], left[0], "resign")
    verdict = judge(setup(site=site, precision_ms=10, source="stream"), *lines, end)
    (game,) = read_lines(enumerate(to_pgn(verdict).split("\n"), 1), "x")
    assert isinstance(game, Game), game
    again = game.judge(named("winder"))
    assert (again.outcome, again.plies, again.setup.site) == (verdict.outcome, verdict.plies, site)
    assert (again.white_ms, again.black_ms) == (verdict.white_ms, verdict.black_ms)
    assert again.moves == verdict.moves
    assert again.readings_ms == verdict.readings_ms
    written_again = to_pgn(again)
    (third,) = read_lines(enumerate(written_again.split("\n"), 1), "x")
    assert isinstance(third, Game), third
    assert third.judge(named("winder")) == again


def test_clocks_that_run_from_move_one_are_told_where_the_site_says_otherwise() -> None:
    timed = setup(free_first_moves=False)
    verdict, game, text = written(timed, Snapshot(TWO, "resign", chess.WHITE, clocks_ms=[179_000, 175_000]))
    assert '[KiriFirstMoves "timed"]' in text
    assert game.judge(named("winder")).rows == verdict.rows


@pytest.mark.parametrize(
    "tag",
    ['KiriFirstMoves "perhaps"', 'KiriFinalThinkMs "-5"', 'KiriFinalThinkMs "soon"', 'KiriClocks "stream"',
     'KiriBerserk "grey"', 'KiriStatus "not over"'],
)  # fmt: skip
def test_our_own_tags_are_read_strictly(tag: str) -> None:
    (told,) = read_lines(enumerate(['[Event "x"]', f"[{tag}]", "", "1. e4 *"], 1), "x")
    assert str(told).startswith(f"x: game 1, line 2: {tag.split()[0]} must be")


@pytest.mark.parametrize("name", ['Max "Q" Euwe', "back\\slash", 'ends in "', "ends in \\", '"]', '\\"', "Ünï"])
def test_names_cannot_break_the_tags(name: str) -> None:
    _, game, text = written(setup(white=name, black=name), Snapshot(["e2e4"], "resign", chess.WHITE))
    assert (game.snapshot.winner, game.white, game.black) == (chess.WHITE, name, name)
    told = chess.pgn.read_game(io.StringIO(text))
    assert told is not None
    assert not told.errors
    assert told.headers["White"].replace('\\"', '"').replace("\\\\", "\\") == name
    assert [move.uci() for move in told.mainline_moves()] == ["e2e4"]


def test_a_name_of_several_lines_is_written_on_one() -> None:
    _, game, text = written(setup(white='A\n[Result "0-1"]'), Snapshot(["e2e4"], "resign", chess.WHITE))
    assert (game.snapshot.winner, game.white) == (chess.WHITE, 'A [Result "0-1"]')
    assert text.count("\n[Result ") == 1


def test_dials_are_quoted_as_pgn_wants_and_read_in_either_way() -> None:
    _, game, text = written(setup(), Snapshot(MOVES, "resign", chess.WHITE, clocks_ms=CLOCKS))
    assert '[KiriRules "{\\"base_s\\":60,' in text
    (bare,) = read_lines(enumerate(text.replace('\\"', '"').split("\n"), 1), "x")
    assert isinstance(bare, Game)
    assert bare.rules == game.rules


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0:00:00"),
        (59_000, "0:00:59"),
        (3_600_000, "1:00:00"),
        (61_230, "0:01:01.23"),
        (100, "0:00:00.1"),
        (-5, "0:00:00"),
    ],
)
def test_platform_clocks_are_written_with_the_fraction_they_have(milliseconds: int, shown: str) -> None:
    assert clk(milliseconds) == shown
