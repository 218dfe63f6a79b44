"""A game that was read → PGN with what KiriChess makes of it; in a PGN, what others wrote there stays."""

import io
import re

import chess.pgn

from bridge.records.game import Game
from bridge.records.pgn_writer import as_counted, exported, pgn_game, tag_text
from bridge.rules.verdict import Verdict

_OURS = re.compile(r"\[%(?:clk|kclk|keff|kthink|kspent)\b[^\]]*\]\s*")
_OUR_TAG = "Kiri"


def annotated(game: Game, verdict: Verdict) -> str:
    """The whole game; a PGN keeps its own tags, signs, variations and the rest of its comments."""
    ours = pgn_game(verdict)
    if not game.movetext or as_counted(verdict) is not verdict:
        return exported(ours)
    theirs = _as_read(game)
    for name, value in game.tags.items():
        if not name.startswith(_OUR_TAG):
            theirs.headers[name] = tag_text(value)
    for name, told in ours.headers.items():
        if name.startswith(_OUR_TAG) or name not in game.tags:
            theirs.headers[name] = told
    theirs.comment = _merged(ours.comment, theirs.comment)
    for our, their in zip(ours.mainline(), theirs.mainline(), strict=True):
        their.comment = _merged(our.comment, their.comment)
    return exported(theirs)


def _as_read(game: Game) -> chess.pgn.Game:
    tags = '[Variant "Chess960"]\n' if game.chess960 else ""
    tags += f'[FEN "{game.start_fen}"]\n' if game.start_fen else ""
    moves = "\n".join(text for _, text in game.movetext)
    for builder in (_Builder, _MovesBuilder):
        found = chess.pgn.read_game(io.StringIO(f"{tags}\n{moves}\n"), Visitor=builder)
        if found is not None and not found.errors:
            return found
    raise AssertionError("its moves were read before")


class _Builder(chess.pgn.GameBuilder[chess.pgn.Game]):
    def handle_error(self, error: Exception) -> None:
        """Only a variation can have one; python-chess would print it too."""
        self.game.errors.append(error)


class _MovesBuilder(_Builder):
    """For games with a variation that cannot be read: after it python-chess finds no moves any more."""

    def begin_variation(self) -> chess.pgn.SkipType:  # type: ignore[override]  # as any visitor may
        return chess.pgn.SKIP

    def end_variation(self) -> None:
        """It was not begun."""


def _merged(ours: str, theirs: str) -> str:
    return f"{ours} {_OURS.sub('', theirs)}".strip()
