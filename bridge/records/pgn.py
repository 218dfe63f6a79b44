"""PGN → games. python-chess reads the moves; what it would skip or forgive is an error here."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import chess
import chess.pgn

from bridge.errors import RecordError
from bridge.records.clock_comments import ClockComments, parse_time_control
from bridge.records.effect_comments import told_effects
from bridge.records.game import Game, is_lichess, printable, unnamed
from bridge.records.own_tags import OwnTags, read_own_tags
from bridge.records.pgn_text import GameText, Line, cut, fault
from bridge.records.termination import PgnEnd, pgn_end, same_result
from bridge.rules.position import start_board
from bridge.rules.snapshot import Anomaly, Snapshot

_STANDARD = frozenset({"", "standard", "chess", "classical", "normal", "regular", "fromposition"})
_CHESS960 = frozenset({"chess960", "960", "fischerandom", "fischerrandom", "fischerrandomchess"})
_ADDRESS_ID = re.compile(r"[A-Za-z0-9]{8,12}|\d+")
_FIRST_NUMBER = re.compile(r"\s*(\d+)\s*\.")


def read_pgn(lines: Iterable[Line], file: str) -> Iterator[Game | RecordError]:
    """Every game of a PGN text, in order; a game that cannot be read is a RecordError that says where and why."""
    for number, text in enumerate(cut(lines), 1):
        place = f"{file}: game {number}"
        try:
            game = _read(text)
        except RecordError as error:
            yield RecordError(error.message, place=f"{place}, {error.place or f'line {text.line}'}")
        else:
            game_id = game.game_id or unnamed(file, number)
            yield replace(game, game_id=game_id, place=f"{place}, line {text.line}")


def _read(text: GameText) -> Game:
    if text.fault is not None:
        raise fault(*text.fault)
    chess960 = _is_chess960(text)
    start_fen = text.tags.get("FEN") or None
    try:
        chess960 = chess960 or start_board(start_fen).has_chess960_castling_rights()
    except RecordError as error:
        raise fault(text.tag_lines["FEN"], error.message) from error
    first = _first_number(text)
    if start_fen is None and first is not None and first[1] > 1:
        raise fault(first[0], f"the moves begin with number {first[1]}, and no FEN says where from")
    moves = _read_moves(text, start_fen, chess960)
    result = _result(text)
    own = read_own_tags(text)
    end = pgn_end(result, text.tags.get("Termination", ""), moves.board)
    if own.status is not None:
        end = PgnEnd(own.status, end.winner)
    if text.result not in ("", "*") and not same_result(text.result, result):
        note = f"the Result tag says {result}, the moves end with {text.result}: taken from the tag"
        end = replace(end, notes=(*end.notes, Anomaly("result_mismatch", len(moves.uci), note)))
    return _game(text, moves, end, own, start_fen, chess960)


def _is_chess960(text: GameText) -> bool:
    variant = text.tags.get("Variant", "")
    name = re.sub(r"[^a-z0-9]", "", variant.lower())
    if name not in _STANDARD | _CHESS960:
        raise fault(text.tag_lines["Variant"], f"unsupported variant {variant!r}")
    return name in _CHESS960


def _first_number(text: GameText) -> tuple[int, int] | None:
    """Line and value of the first move number, if the moves begin with one."""
    for line, bare in text.bare:
        if bare.strip():
            number = _FIRST_NUMBER.match(bare)
            return (line, int(number[1][:9])) if number else None
    return None


def _result(text: GameText) -> str:
    tag = text.tags.get("Result", "").strip()
    return text.result if tag in ("", "*", "?") else tag


# -- moves -------------------------------------------------------------------------------------------------------


class _Moves(chess.pgn.BaseVisitor["_Moves"]):
    """What python-chess finds in one game: UCI moves, what comments say of them, and the first move it cannot read."""

    def __init__(self, chess960: bool) -> None:
        self.uci: list[str] = []
        self.clocks = ClockComments()
        self.effects: list[str | None] = []
        self.board = chess.Board()
        self.illegal: str | None = None
        self._chess960 = chess960
        self._token = ""

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        self._token = san
        return chess.pgn.SKIP if self.illegal else None

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if not move:
            self.illegal = f"null move {self._token!r}"
            return
        self.uci.append(board.uci(move, chess960=self._chess960))
        self.clocks.next_ply()
        self.effects.append(None)

    def visit_board(self, board: chess.Board) -> None:
        self.board = board

    def visit_comment(self, comment: str | list[str]) -> None:
        text = comment if isinstance(comment, str) else " ".join(comment)
        self.clocks.read(text)
        if self.effects and self.effects[-1] is None:
            self.effects[-1] = told_effects(text)

    def begin_variation(self) -> chess.pgn.SkipType | None:
        return chess.pgn.SKIP

    def handle_error(self, error: Exception) -> None:
        if self.illegal is None:
            kind = "ambiguous move" if isinstance(error, chess.AmbiguousMoveError) else "illegal move"
            self.illegal = f"{kind} {self._token!r} in {self.board.fen()}"

    def result(self) -> "_Moves":
        return self


class _NumberedLines(io.StringIO):
    """The text python-chess reads, and the number of the file's line it has come to."""

    def __init__(self, tags: str, moves: list[Line]) -> None:
        super().__init__(tags + "\n" + "".join(f"{text}\n" for _, text in moves))
        self._ahead = tags.count("\n") + 1
        self._numbers = [number for number, _ in moves]
        self._read = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # typeshed: also None, and bytes
        self._read += 1
        return super().readline(size)

    @property
    def number(self) -> int:
        """The file's line that was read last."""
        return self._numbers[min(max(0, self._read - self._ahead - 1), len(self._numbers) - 1)]


def _read_moves(text: GameText, start_fen: str | None, chess960: bool) -> _Moves:
    if not text.moves:
        return _Moves(chess960)
    tags = '[Variant "Chess960"]\n' if chess960 else '[Variant "Standard"]\n'
    lines = _NumberedLines(tags + (f'[FEN "{start_fen}"]\n' if start_fen else ""), text.moves)
    illegal_line = 0

    class Visitor(_Moves):
        def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
            nonlocal illegal_line
            if self.illegal is None:
                illegal_line = lines.number
            return super().begin_parse_san(board, san)

    moves = chess.pgn.read_game(lines, Visitor=lambda: Visitor(chess960))
    assert moves is not None, "there is text, so there is a game"
    if moves.illegal is not None:
        raise fault(illegal_line, moves.illegal)
    return moves


# -- tags --------------------------------------------------------------------------------------------------------


def _game(text: GameText, moves: _Moves, end: PgnEnd, own: OwnTags, start_fen: str | None, chess960: bool) -> Game:
    tags = {name: printable(value) for name, value in text.tags.items()}
    site = tags.get("Site", "")
    control = parse_time_control(tags.get("TimeControl", ""))
    clocks, notes = moves.clocks, end.notes
    source, precision_ms = own.clocks or (clocks.source, clocks.precision_ms)
    if isinstance(control, str) and own.clocks is None:
        notes = (Anomaly("time_control", 0, control), *notes)
        source = "none"
    snapshot = Snapshot(
        moves=moves.uci,
        status=end.status,
        winner=end.winner,
        white_ms=0 if end.ran_out and moves.board.turn else None,
        black_ms=0 if end.ran_out and not moves.board.turn else None,
        clocks_ms=clocks.clk_ms if source != "none" and clocks.source == "clk" else None,
        think_ms=clocks.think_ms if source != "none" else None,
        # Without clocks nothing is known of the last thinking time either, whatever the platform's clock started with.
        final_think_ms=0 if source == "none" else own.final_think_ms,
        berserk=own.berserk,
        spent_ms=clocks.spent_ms,
        notes=notes,
    )
    return Game(
        place="",
        game_id=_game_id(tags),
        snapshot=snapshot,
        source=source,
        precision_ms=None if source == "none" else precision_ms,
        start_fen=start_fen,
        chess960=chess960,
        time_control=None if isinstance(control, str) else control,
        free_first_moves=is_lichess(site) if own.free_first_moves is None else own.free_first_moves,
        white=_player(tags, "White"),
        black=_player(tags, "Black"),
        site="" if site == "?" else site,
        rules=own.rules,
        scored=own.scored,
        tags=tags,
        effects=moves.effects if any(moves.effects) else (),
        movetext=text.moves,
    )


def _player(tags: Mapping[str, str], side: str) -> str:
    name = tags.get(side, "")
    return "" if name == "?" else name


def _game_id(tags: Mapping[str, str]) -> str:
    """The platform's own name for the game: GameId, or the last part of the address it stands at."""
    if tags.get("GameId"):
        return tags["GameId"]
    for name in ("Site", "Link"):
        address = tags.get(name, "")
        if "://" in address:
            last = address.rstrip("/").rsplit("/", 1)[-1]
            if _ADDRESS_ID.fullmatch(last):
                return last[:8] if is_lichess(address) else last
    return tags.get("FICSGamesDBGameNo", "")
