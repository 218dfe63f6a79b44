"""`match`: engines against each other under KiriChess rules."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bridge.cli.console import complain, console, is_lively
from bridge.cli.values import finite
from bridge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.lab.game import Terms
    from bridge.lab.match import MatchPlan
    from bridge.lab.results import Book, Json, PairLine
    from bridge.lab.statistics import Sprt

DEFAULT_NODES = 4_000


@click.command("match")
@click.argument("first")
@click.argument("second")
@click.option(
    "--pool", "pools", multiple=True, metavar="NAME", help="A pool to play; may be repeated. [default: anchor]"
)
@click.option(
    "--rules", "rules_file", metavar="FILE", type=click.Path(path_type=Path), help="Dials, in place of --pool."
)
@click.option(
    "--pairs", type=click.IntRange(min=1), default=10, show_default=True, help="Openings a pool, two games each."
)
@click.option("--nodes", type=click.IntRange(min=1), help=f"Nodes a move. [default: {DEFAULT_NODES}]")
@click.option("--depth", type=click.IntRange(min=1), help="Depth of a move, in place of nodes.")
@click.option("--movetime", type=click.IntRange(min=1), metavar="MS", help="Time of a move, in place of nodes.")
@click.option(
    "--time",
    "time_model",
    type=click.Choice(["budget", "own", "none", "wall"]),
    default="budget",
    show_default=True,
    help="Thinking time: the pool's budget for both; each its own plan, with nodes to match; none; as measured.",
)
@click.option(
    "--openings", default="tuning", show_default=True, metavar="SET", help="tuning, held-out, or a file of FENs."
)
@click.option(
    "--skip", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out the first openings of the set."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the thinking times.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Games at once.")
@click.option("--nice", type=click.IntRange(0, 19), default=10, show_default=True, help="How far to stand back.")
@click.option(
    "--sprt",
    nargs=2,
    type=float,
    callback=finite,
    metavar="ELO0 ELO1",
    help="Stop once one of two Elo differences is refuted.",
)
@click.option(
    "-o", "output", metavar="FILE", type=click.Path(path_type=Path), help="Keep the games there, and go on from it."
)
@click.option("--pgn", metavar="FILE", type=click.Path(path_type=Path), help="Write the games with both clocks.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    first: str,
    second: str,
    pools: tuple[str, ...],
    rules_file: Path | None,
    pairs: int,
    nodes: int | None,
    depth: int | None,
    movetime: int | None,
    time_model: Literal["budget", "own", "none", "wall"],
    openings: str,
    skip: int,
    seed: int,
    jobs: int,
    nice: int,
    sprt: tuple[float, float] | None,
    output: Path | None,
    pgn: Path | None,
    as_json: bool,
) -> None:
    """Play FIRST against SECOND under KiriChess rules and tell the score with its error.

    An engine is kiri, kiri:PROGRAM, random, python:module:Class, xboard:PROGRAM or a UCI program, and `,name=value`
    sets an option: `kiri:stockfish,Hash=64`. Every opening is played twice with colours swapped and the same thinking
    times. A match that is stopped goes on from its file (-o).
    """
    from bridge.lab.entry import Entry
    from bridge.lab.match import MatchPlan
    from bridge.lab.results import Book
    from bridge.lab.statistics import Sprt

    terms = read_terms(pools, rules_file, (nodes, depth, movetime), time_model)
    fens = read_set(openings)[skip : skip + pairs]
    if not fens:
        raise UsageError(f"no opening is left after skipping {skip}")
    if sprt is not None and sprt[0] == sprt[1]:
        raise UsageError("--sprt wants two different Elo differences")
    entries = Entry.parse(first), Entry.parse(second)
    plan = MatchPlan(entries[0], entries[1], terms, fens, skip, seed)
    for entry in entries:
        contestant = entry.build()
        contestant.close()
        if depth is not None and not contestant.keeps_depth:
            raise UsageError(f"{entry.text} cannot be held to a depth: give --nodes or --movetime")
    if pgn is not None:
        pgn.open("a").close()  # that it cannot be written is told before the games are played
    book = Book(output, plan.settings())
    with closing(book):
        plan.require_same_openings(book.pairs)
        _play(plan, book, jobs, nice, Sprt(*sprt) if sprt else None)
    if pgn is not None:
        from bridge.lab.pgn import write_pgn

        write_pgn(pgn, book.pairs)
    show(plan.settings(), book.pairs, as_json)


def read_terms(
    pools: Sequence[str], rules_file: Path | None, limits: tuple[int | None, ...], time_model: "TimeModelName"
) -> "tuple[tuple[str, Terms], ...]":
    """What each pool, or the file of dials, is played by; of nodes, depth and move time one at most is given."""
    from bridge.cli.rules_choice import read_dials
    from bridge.lab.game import Terms
    from bridge.rules.pools import named, parse_dials

    if sum(limit is not None for limit in limits) > 1:
        raise UsageError("give one of --nodes, --depth and --movetime")
    nodes, depth, movetime = limits
    if depth is None and movetime is None and nodes is None:
        nodes = DEFAULT_NODES
    if time_model == "own" and nodes is None:
        raise UsageError("--time own needs --nodes: what the pool's budget buys")
    if rules_file is not None and pools:
        raise UsageError("give --pool or --rules, not both")
    if rules_file is not None:
        rulesets = [(rules_file.stem, parse_dials(read_dials(rules_file)))]
    else:
        rulesets = [(name.lower(), named(name)) for name in dict.fromkeys(pools or ("anchor",))]
    return tuple((name, Terms(rules, time_model, nodes, depth, movetime)) for name, rules in rulesets)


TimeModelName = Literal["budget", "own", "none", "wall"]


def read_set(which: str) -> tuple[str, ...]:
    """The FENs of a set by name, or of a file."""
    from bridge.lab.openings import SETS, openings, read_openings

    return openings(which) if which in SETS else read_openings(Path(which))


def _play(plan: "MatchPlan", book: "Book", jobs: int, nice: int, sprt: "Sprt | None") -> None:
    from bridge.lab.match import play_match

    total = sum(1 for _ in plan.work())
    with progress(total, len(book.pairs)) as advance, closing(play_match(plan, list(book.pairs), jobs, nice)) as games:
        for line in games:
            book.add(line)
            advance(book.pairs)
            if sprt is not None and (verdict := sprt.decision([pair.score for pair in book.pairs])) is not None:
                complain(f"SPRT: {verdict} accepted after {len(book.pairs)} pairs")
                return
    if sprt is not None:
        low, high = sprt.bounds
        ratio = sprt.ratio([pair.score for pair in book.pairs])
        complain(f"SPRT: undecided, log-likelihood ratio {ratio:.2f} within {low:.2f} and {high:.2f}")


@contextmanager
def progress(total: int, done: int) -> "Iterator[Callable[[Sequence[PairLine]], None]]":
    """A bar with the score so far on a terminal, nothing elsewhere."""
    import sys

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console(sys.stderr),
        disable=not is_lively(sys.stderr),
    )
    with bar:
        task = bar.add_task("pairs", total=total, completed=done)

        def advance(pairs: "Sequence[PairLine]") -> None:
            score = sum(line.score for line in pairs) / len(pairs)
            bar.update(task, advance=1, description=f"pairs, score {score:.1%}")

        yield advance


def show(settings: "Json", pairs: "Sequence[PairLine]", as_json: bool) -> None:
    """Print the report: a table for people, or one JSON object."""
    import sys

    from rich.table import Table

    from bridge.lab.report import by_pool, endings, faults, nodes_a_move, report_object, tallies

    if as_json:
        click.echo(json.dumps(report_object(settings, pairs)))
        return
    out = console(sys.stdout)
    table = Table("pool", "games", "score", "±", "Elo", "95 %", "pairs 0 ¼ ½ ¾ 1", box=None)
    for name, value in by_pool(pairs).items():
        span = f"{value.elo_low:+.0f} … {value.elo_high:+.0f}"
        counts = " ".join(map(str, value.pentanomial))
        table.add_row(
            name, str(value.pairs * 2), f"{value.score:.1%}", f"{value.margin:.1%}", f"{value.elo:+.0f}", span, counts
        )
    out.print(table)
    for name in by_pool(pairs):
        ends = sorted(endings(pairs, name).items(), key=lambda item: (item[0][0] != "won", item[0][0], -item[1]))
        out.print(f"{name}: " + " · ".join(f"{result} by {how} {count}" for (result, how), count in ends))
    first, second = nodes_a_move(pairs)
    wrong = ", ".join(f"{who} {what} {count}" for (who, what), count in sorted(faults(pairs).items())) or "none"
    out.print(f"nodes a move: {first:.0f} against {second:.0f}; faults: {wrong}")
    if counted := tallies(pairs):
        out.print("counted: " + " · ".join(f"{name} {count}" for name, count in sorted(counted.items())))
