"""Time that a player was given, where the platform says so in words: some servers send no state with it (API §1.5)."""

import re

import chess

from bridge.interfaces import ChatLine

_PLATFORM = "lichess"
_WORDS = re.compile(r"(White|Black) \+ (\d{1,2}) seconds?")


class ToldGifts:
    """What each side was given since its last ply, in ms by colour; a state may show it too, before or after.

    Words that are not in English are no loss: such a gift is seen in the next reading, as at least what it shows.
    """

    def __init__(self) -> None:
        self.told_ms = [0, 0]
        self._plies = 0
        self._white_begins = True

    def begins(self, start_fen: str | None) -> None:
        """Where the game's moves begin."""
        self._white_begins = start_fen is None or " w " in start_fen

    def moved(self, plies: int) -> None:
        """So many plies stand now; a takeback loses gifts."""
        if plies < self._plies:
            self.told_ms = [0, 0]
        for ply in range(self._plies, min(plies, self._plies + 2)):
            self.told_ms[self._white_begins == (ply % 2 == 0)] = 0
        self._plies = plies

    def heard(self, line: ChatLine) -> bool:
        """True when the platform itself tells the players of a gift; anybody else may write such a line."""
        words = _WORDS.fullmatch(line.text.strip())
        if words is None or line.user != _PLATFORM or line.room != "player":
            return False
        self.told_ms[chess.WHITE if words[1] == "White" else chess.BLACK] += 1000 * int(words[2])
        return True
