"""A match in figures: score and Elo by pool, how games ended, what went wrong."""

from collections import Counter
from collections.abc import Sequence

from bridge.lab.results import GameLine, Json, PairLine
from bridge.lab.statistics import Estimate, estimate

POOLED = "pooled"


def by_pool(pairs: Sequence[PairLine]) -> dict[str, Estimate]:
    """Pool → estimate, and `pooled` over all of them where there are several."""
    names = list(dict.fromkeys(line.pool for line in pairs))
    out = {name: estimate([line.score for line in pairs if line.pool == name]) for name in names}
    if len(names) > 1:
        out[POOLED] = estimate([line.score for line in pairs])
    return out


def endings(pairs: Sequence[PairLine], pool: str) -> Counter[tuple[str, str]]:
    """(won, drawn or lost; how) → games of a pool, or of all where it is `pooled`."""
    games = [game for line in pairs if pool in (line.pool, POOLED) for game in line.games]
    return Counter((_result(game), _how(game)) for game in games)


def _result(game: GameLine) -> str:
    return {1.0: "won", 0.0: "lost"}.get(game.score, "drawn")


def _how(game: GameLine) -> str:
    if game.fault is not None:
        return game.fault[1]
    return f"{game.reason} ({game.cause})" if game.cause else game.reason


def faults(pairs: Sequence[PairLine]) -> Counter[tuple[str, str]]:
    """(first or second, crash or illegal) → games."""
    all_faults = [game.fault for line in pairs for game in line.games]
    return Counter(("first" if fault[0] else "second", fault[1]) for fault in all_faults if fault is not None)


def nodes_a_move(pairs: Sequence[PairLine]) -> tuple[float, float]:
    """Mean nodes of a move: the first contestant's and the second's."""
    games = [game for line in pairs for game in line.games]
    own, other = sum(game.own_asked for game in games), sum(game.other_asked for game in games)
    return (
        sum(game.own_nodes for game in games) / max(1, own),
        sum(game.other_nodes for game in games) / max(1, other),
    )


def tallies(pairs: Sequence[PairLine]) -> Counter[str]:
    """What the first contestant counted of its own doings, all games together."""
    total: Counter[str] = Counter()
    for line in pairs:
        for game in line.games:
            total.update(game.tally)
    return total


def report_object(settings: Json, pairs: Sequence[PairLine]) -> Json:
    """The whole report as JSON values."""
    first, second = nodes_a_move(pairs)
    return {
        "schema": "kirichess.match/1",
        "settings": settings,
        "pools": {name: _estimate_object(value) for name, value in by_pool(pairs).items()},
        "endings": {
            name: {f"{result} {how}": count for (result, how), count in sorted(endings(pairs, name).items())}
            for name in by_pool(pairs)
        },
        "faults": {f"{who} {what}": count for (who, what), count in sorted(faults(pairs).items())},
        "nodes_a_move": {"first": round(first, 1), "second": round(second, 1)},
        "tally": dict(sorted(tallies(pairs).items())),
    }


def _estimate_object(value: Estimate) -> Json:
    return {
        "games": value.pairs * 2,
        "score": round(value.score, 4),
        "margin": round(value.margin, 4),
        "elo": _finite(value.elo),
        "elo_low": _finite(value.elo_low),
        "elo_high": _finite(value.elo_high),
        "pentanomial": list(value.pentanomial),
    }


def _finite(value: float) -> float | None:
    return round(value, 1) if abs(value) < 10_000 else None
