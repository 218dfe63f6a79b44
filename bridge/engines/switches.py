"""What kiri does beyond the engine it wraps; every part can be turned off or set by itself."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Switches:
    """The defaults were tuned on the tuning openings (`tests/bench/ENGINE_RESULTS.md`)."""

    flags: bool = True
    """Play moves that flag the opponent at once; avoid those that flag ourselves or let us be flagged at once."""
    win_moves: int = 2
    """Search for forced flags within so many more moves of ours."""
    win_nodes: int = 400
    safe_moves: int = 1
    """Prove that the engine's move is not answered by such a flag."""
    safe_nodes: int = 400
    main_part: float = 0.95
    """The share of the nodes for the engine's first search where another may have to follow."""
    fresh: int = 3
    """Second choices are moves that the engine preferred within so many depths of its last."""
    persist: bool = True
    """With the better clock avoid repetitions, where the board allows it."""
    conversion: bool = True
    """In won endings prefer wins whose tolls the clock can pay."""
    swindle: bool = True
    """Where every move can be flagged, prefer one whose expected reply does not."""
    slow: float = 1.3
    quick: float = 0.7
    """Our own thinking in proofs, against the pace, and the other side's."""
    plan: bool = True
    """Plan thinking time by tolls and captures; off: as Stockfish does."""
    haste: float = 0.0
    """How many moves the plan sets tolls aside for, against the expectation; 0: as the economy asks."""

    @classmethod
    def of(cls, parts: Mapping[str, bool]) -> "Switches":
        """Whole parts by name: flags, proofs, persist, conversion, swindle, plan; on where nothing is said."""
        named = dict(parts)
        base = cls() if named.pop("proofs", True) else cls(win_moves=0, safe_moves=0)
        return replace(base, **named)
