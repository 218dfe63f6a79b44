"""What kiri does beyond the engine it wraps; every part can be turned off or set by itself."""

from dataclasses import dataclass


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
    main_part: float = 0.8
    """The share of the nodes for the engine's first search where another may follow."""
    pressure: bool = False
    win_points: int = 1000
    weight: float = 0.35
    """What seconds weigh against centipawns when moves are compared; 0: nothing."""
    trigger: int = 25
    """Look for another move when one is better for the clocks by so many points."""
    margin: int = 10
    """By how many points it must then be better in all."""
    slow: float = 1.3
    quick: float = 0.7
    """Our own thinking in proofs, against the pace, and the other side's."""
    plan: bool = True
    """Plan thinking time by tolls and captures; off: as Stockfish does."""
    haste: float = 0.0
    """How many moves the plan sets tolls aside for, against the expectation; 0: as the economy asks."""
