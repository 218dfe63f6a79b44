"""`lab`: datasets from self-play, and the check of an engine."""

import json
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Literal

import click

from bridge.cli.console import complain, console
from bridge.cli.match import DEFAULT_NODES, progress, read_set, read_terms


@click.group("lab")
def lab() -> None:
    """Experiments with engines."""


@lab.command("self-play")
@click.argument("engine", default="kiri")
@click.option("--pool", "pools", multiple=True, metavar="NAME", help="A pool; may be repeated. [default: anchor]")
@click.option(
    "--rules", "rules_file", metavar="FILE", type=click.Path(path_type=Path), help="Dials, in place of --pool."
)
@click.option("--pairs", type=click.IntRange(min=1), default=10, show_default=True, help="Openings, two games each.")
@click.option(
    "--openings", default="tuning", show_default=True, metavar="SET", help="tuning, held-out, or a file of FENs."
)
@click.option("--nodes", type=click.IntRange(min=1), default=DEFAULT_NODES, show_default=True, help="Nodes a move.")
@click.option(
    "--time", "model", type=click.Choice(["budget", "own", "none", "wall"]), default="budget", show_default=True
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the thinking times.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Games at once.")
@click.option("-o", "output", metavar="FILE", type=click.Path(path_type=Path), help="Write there, not to stdout.")
def self_play(
    engine: str,
    pools: tuple[str, ...],
    rules_file: Path | None,
    pairs: int,
    openings: str,
    nodes: int,
    model: Literal["budget", "own", "none", "wall"],
    seed: int,
    jobs: int,
    output: Path | None,
) -> None:
    """Let ENGINE play itself and write a dataset: one position a line.

    Each line is JSON: pool, game, ply, fen, the move, the engine's score for the side to move, both clocks before the
    move with the mover's thinking taken off, and the game's result and reason.
    """
    from bridge.lab.dataset import positions
    from bridge.lab.entry import Entry
    from bridge.lab.match import MatchPlan, play_match
    from bridge.lab.results import PairLine

    entry = Entry.parse(engine)
    entry.build().close()
    terms = read_terms(pools, rules_file, (nodes, None, None), model)
    plan = MatchPlan(entry, entry, terms, read_set(openings)[:pairs], seed=seed)
    count = 0
    file = output.open("w", encoding="utf-8") if output else nullcontext(sys.stdout)
    played: list[PairLine] = []
    total = sum(1 for _ in plan.work())
    with progress(total, 0) as advance, file as out, closing(play_match(plan, (), jobs, nice=10)) as finished:
        for pair in finished:
            played.append(pair)
            advance(played)
            lines = [json.dumps(position) for game in pair.games for position in positions(pair.pool, game)]
            out.writelines(f"{line}\n" for line in lines)
            count += len(lines)
    complain(f"{count} positions")


@lab.command("check-engine")
@click.argument("path")
@click.argument("args", nargs=-1)
def check(path: str, args: tuple[str, ...]) -> None:
    """Ask a UCI program what the bridge will ask of it. Exit status 1 if it fails what is needed."""
    from rich.table import Table

    from bridge.lab.uci_check import check_engine

    table = Table("", "question", "answer", box=None)
    failed = False
    for finding in check_engine(path, args):
        mark = "ok" if finding.ok else "FAILS" if finding.needed else "lacks"
        failed = failed or (finding.needed and not finding.ok)
        table.add_row(mark, finding.question, finding.detail)
    console(sys.stdout).print(table)
    if failed:
        click.get_current_context().exit(1)
