"""What `journal verify` finds, game by game."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bridge.clocks import wall_ms
from bridge.journal.marks import RAW_SINCE
from bridge.journal.reader import JournalReader
from bridge.proof import Kept, Proof, prove

_OF_A_GAME = ("kirichess.game.", "kirichess.verdict.")


@dataclass(frozen=True, slots=True)
class Checked:
    """A game's proof; `damaged`: what of the game could not be read, and was told when it was met."""

    proof: Proof
    damaged: Sequence[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.proof.differences and not self.damaged

    def to_json(self) -> dict[str, object]:
        """Plain JSON values."""
        told = [{"ply": each.ply, "what": each.what} for each in self.proof.differences]
        told += [{"ply": 0, "what": what} for what in self.damaged]
        return {
            "game": self.proof.game,
            "agrees": self.agrees,
            "differences": told,
            "not_recomputed": self.proof.missing,
        }


def check(reader: JournalReader, chosen: Sequence[str], missing: Sequence[tuple[int, int]]) -> Iterator[Checked]:
    """The chosen games, or all. `missing`: the numbers of entries that are gone. Raises JournalError."""
    kept = Kept(wall_ms(), missing[-1][1] if missing else 0, reader.mark(RAW_SINCE))
    for game in chosen or reader.games():
        entries, blocks = list(reader.entries(game)), reader.raw(game)
        # Of a challenge no game may have come.
        if chosen or any(entry.type.startswith(_OF_A_GAME) for entry in entries):
            proof = prove(game, entries, blocks, kept)
            yield Checked(proof, [what for what, about in reader.damaged.items() if about == game])


def numbers_told(first: int, last: int) -> str:
    """What is said of entries that are gone."""
    numbers = f"entry {first} is" if first == last else f"entries {first} to {last} are"
    return f"{numbers} missing: stored once, not pruned, and gone"
