"""A judged game → PGN, with the platform's clock and the KiriChess clock after every ply (interfaces, "Verdict")."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import chess
import chess.pgn

from bridge.records.effect_comments import effects_text
from bridge.records.evaluations import Evaluation, by_ply
from bridge.records.own_tags import berserk_tag, clocks_tag, first_moves_tag
from bridge.records.pgn_times import final_think_ms, spent_ms, untold_ms
from bridge.records.verdict_json import platform_result
from bridge.rules.events import Ended
from bridge.rules.position import read_legal, start_board
from bridge.rules.snapshot import RECORD_END, TimeControl
from bridge.rules.verdict import Verdict

UNKNOWN_DATE = "????.??.??"
_TERMINATIONS = {
    **dict.fromkeys(("mate", "resign", "stalemate", "draw", "insufficientMaterialClaim", "variantEnd"), "Normal"),
    "outoftime": "Time forfeit",
    **dict.fromkeys(("timeout", "noStart", "aborted"), "Abandoned"),
    "cheat": "Rules infraction",
}
"""Lichess status → the Termination it writes; others are `Unterminated`."""


def to_pgn(
    verdict: Verdict,
    *,
    event: str = "KiriChess game",
    date: str = UNKNOWN_DATE,
    evaluations: Iterable[Evaluation] = (),
    sans: Sequence[str] | None = None,
) -> str:
    """The whole game as the platform has it, plies after the KiriChess end included; our reader gives it back.

    `[%clk]` is the platform's clock where it is known; `[%kclk N]` the mover's KiriChess clock after a counted ply, in
    milliseconds; `[%keff …]` what that ply did to both (`effect_comments`); `[%kthink N]` its thinking time, only where
    the platform's clock would tell another one (time given, an increment that a takeback left); `[%kspent W/B]` what
    White and Black had spent on moves after it that were taken back. `date` is `YYYY.MM.DD`. `evaluations`
    become `[%eval]` as Lichess writes it, with the depth: only for a game that is over on its platform (fair play).
    `sans`: the SAN of every ply, where it is known.
    """
    counted = as_counted(verdict)
    if sans is not None and counted.moves == verdict.moves:
        return _told(_head(counted, event, date), _comments(counted, evaluations), sans)
    game = pgn_game(verdict, event=event, date=date, evaluations=evaluations)
    try:
        return exported(game)
    finally:
        _take_apart(game)


def _take_apart(game: chess.pgn.Game) -> None:
    """A node and the next one refer to each other: a long game would wait for the garbage collector."""
    nodes: list[chess.pgn.GameNode] = [game]
    while nodes:
        node = nodes.pop()
        nodes += node.variations
        node.variations.clear()


def exported(game: chess.pgn.Game) -> str:
    """The text of a game, with an empty line behind it."""
    return game.accept(chess.pgn.StringExporter(columns=100)) + "\n"


def _told(head: chess.pgn.Game, comments: Sequence[str], sans: Sequence[str]) -> str:
    """A game whose SANs are known: no move is made on a board, which takes most of an exporter's time."""
    exporter = chess.pgn.StringExporter(columns=100)
    for name, value in head.headers.items():
        exporter.visit_header(name, value)
    exporter.end_headers()
    before, *after = comments
    if before:
        exporter.visit_comment(before)
    for ply, (san, comment) in enumerate(zip(sans, after, strict=True), head.ply()):
        if ply % 2 == 0 or exporter.force_movenumber:
            exporter.write_token(f"{ply // 2 + 1}{'...' if ply % 2 else '.'} ")
        exporter.write_token(f"{san} ")
        exporter.force_movenumber = False
        if comment:
            exporter.visit_comment(comment)
    exporter.visit_result(head.headers["Result"])
    return exporter.result() + "\n"


def pgn_game(
    verdict: Verdict,
    *,
    event: str = "KiriChess game",
    date: str = UNKNOWN_DATE,
    evaluations: Iterable[Evaluation] = (),
) -> chess.pgn.Game:
    """The same before it is text."""
    counted = as_counted(verdict)
    game = _head(counted, event, date)
    _add_moves(game, counted.moves, _comments(counted, evaluations))
    if counted.moves != verdict.moves:
        _add_platform_line(game, verdict)
    return game


def _head(verdict: Verdict, event: str, date: str) -> chess.pgn.Game:
    """A game without its moves."""
    game = chess.pgn.Game()
    _set_position(game, verdict)
    for name, value in _tags(verdict, event, date).items():
        game.headers[name] = tag_text(value)
    return game


def as_counted(verdict: Verdict) -> Verdict:
    """The verdict with the plies that counted for its moves, where a takeback after the KiriChess end, which it cannot
    undo (R5, R8), has left the platform other ones; else the verdict as it is.
    """
    rows = [row for row in verdict.rows if row.ply is not None]
    moves, readings_ms = tuple(row.uci or "" for row in rows), tuple(row.reading_ms for row in rows)
    # Mostly they are the same to the letter; castling can be spelled in two ways.
    platform = tuple(verdict.moves[: len(rows)])
    if moves == platform or _moves(verdict, moves) == _moves(verdict, platform):
        return verdict
    return replace(verdict, moves=moves, readings_ms=readings_ms, platform_plies=len(rows))


def _moves(verdict: Verdict, moves: Sequence[str]) -> list[chess.Move]:
    board = start_board(verdict.start_fen)
    for uci in moves:
        board.push(read_legal(board, uci))
    return board.move_stack


def _add_moves(game: chess.pgn.Game, moves: Sequence[str], comments: Sequence[str]) -> None:
    board = game.board()
    board.chess960 = True
    game.comment, *after = comments
    node: chess.pgn.GameNode = game
    for uci, comment in zip(moves, after, strict=True):
        move = read_legal(board, uci)
        board.push(move)
        node = node.add_main_variation(move, comment=comment)


def _comments(verdict: Verdict, evaluations: Iterable[Evaluation]) -> list[str]:
    """What is told before the first ply and after each; "": nothing."""
    untold, spent, thought = untold_ms(verdict), spent_ms(verdict), by_ply(evaluations, verdict.moves)
    rows = {row.ply: row for row in verdict.rows if row.ply is not None}
    mover = start_board(verdict.start_fen).turn
    told = [_spent_comment(spent, 0)]
    for ply, reading_ms in enumerate(verdict.readings_ms, 1):
        comments = [f"[%clk {clk(reading_ms)}]"] if reading_ms is not None else []
        comments += [f"[%kthink {untold[ply]}]"] if ply in untold else []
        if (row := rows.get(ply)) is not None:
            kiri_ms = row.white_ms if row.side else row.black_ms
            comments += [f"[%kclk {kiri_ms}]", f"[%keff {effects_text(row.effects, row.increment_ms)}]"]
        comments += [_spent_comment(spent, ply)] if ply in spent else []
        comments += [_eval_comment(thought[ply], mover)] if ply in thought else []
        told.append(" ".join(comments))
        mover = not mover
    return told


def _eval_comment(evaluation: Evaluation, mover: chess.Color) -> str:
    """As python-chess would write it."""
    node = chess.pgn.Game()
    node.set_eval(evaluation.after(mover), evaluation.depth)
    return node.comment


def _spent_comment(spent: Mapping[int, Sequence[int]], ply: int) -> str:
    return f"[%kspent {spent[ply][chess.WHITE]}/{spent[ply][chess.BLACK]}]" if ply in spent else ""


def _add_platform_line(game: chess.pgn.Game, verdict: Verdict) -> None:
    """As a variation, from where it leaves the plies that counted."""
    node: chess.pgn.GameNode = game
    for move, reading_ms in zip(_moves(verdict, verdict.moves), verdict.readings_ms, strict=True):
        if node.has_variation(move):
            node = node.variation(move)
        else:
            comment = f"[%clk {clk(reading_ms)}]" if reading_ms is not None else ""
            node = node.add_variation(move, comment=comment)


def tag_text(value: str) -> str:
    """On one line, quotes and backslashes escaped (PGN standard 7), which python-chess leaves to its callers."""
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def clk(milliseconds: int) -> str:
    """A platform clock as `h:mm:ss`, with the fraction it has."""
    seconds, fraction = divmod(max(0, milliseconds), 1000)
    shown = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{shown}.{fraction:03}".rstrip("0") if fraction else shown


def _set_position(game: chess.pgn.Game, verdict: Verdict) -> None:
    board = start_board(verdict.start_fen)
    board.chess960 = verdict.chess960
    game.setup(board)
    if verdict.chess960:
        game.headers["Variant"] = "Chess960"
    elif verdict.start_fen is not None:
        game.headers["Variant"] = "From Position"


def _tags(verdict: Verdict, event: str, date: str) -> dict[str, str]:
    setup, outcome, platform = verdict.setup, verdict.outcome, verdict.platform
    final_ms = final_think_ms(verdict)
    tags = {
        "Event": event,
        "Site": setup.site or "?",
        "Date": date,
        "White": setup.white or "?",
        "Black": setup.black or "?",
        "Result": platform_result(platform) if platform else "*",
        "GameId": setup.game_id,
        "TimeControl": _time_control(setup.time_control),
        "Termination": _termination(platform),
        "KiriPool": setup.rules.pool or "",
        "KiriRules": json.dumps(setup.rules.dials.to_mapping(), separators=(",", ":")),
        "KiriFirstMoves": first_moves_tag(setup),
        "KiriClocks": clocks_tag(setup),
        "KiriBerserk": berserk_tag(verdict.berserk),
        "KiriFinalThinkMs": "" if final_ms is None else str(final_ms),
        "KiriStatus": platform.status if platform else RECORD_END,
        "KiriScored": "" if setup.rules.scored else "no",
        "KiriResult": outcome.result,
        "KiriReason": outcome.reason,
    }
    return {name: value for name, value in tags.items() if value}


def _time_control(control: TimeControl | None) -> str:
    return f"{_seconds(control.initial_ms)}+{_seconds(control.increment_ms)}" if control is not None else "-"


def _seconds(milliseconds: int) -> str:
    return f"{(Decimal(milliseconds) / 1000).normalize():f}"


def _termination(end: Ended | None) -> str:
    return _TERMINATIONS.get(end.status, "Unterminated") if end is not None else "Unterminated"
