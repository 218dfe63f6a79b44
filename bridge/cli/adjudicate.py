"""`adjudicate`: finished games in, verdicts out."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from bridge.cli.console import complain, console, is_lively
from bridge.cli.targets import DEFAULT_URL, FileTarget, OnlineTarget, parse_target
from bridge.cli.values import server_address
from bridge.errors import PlatformError, RecordError, UsageError

if TYPE_CHECKING:
    from bridge.cli.rules_choice import RulesChoice
    from bridge.records.game import Game
    from bridge.rules.verdict import Verdict

FORMATS = ("table", "jsonl", "csv", "pgn")


@click.command("adjudicate")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@click.option("--pool", metavar="NAME", help="Judge by this pool's rules.")
@click.option("--rules", "rules_file", metavar="FILE", type=click.Path(path_type=Path), help="Dials, as JSON or YAML.")
@click.option("--ledger", is_flag=True, help="Give every counted ply too.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("-o", "output", metavar="FILE", type=click.Path(path_type=Path), help="Write there, not to stdout.")
@click.option(
    "--url", callback=server_address, default=DEFAULT_URL, show_default=True, help="The server that game ids belong to."
)
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    pool: str | None,
    rules_file: Path | None,
    ledger: bool,
    form: str,
    output: Path | None,
    url: str,
) -> None:
    """Judge finished games under KiriChess rules.

    A TARGET is a PGN file (plain, .zst, .gz or .bz2), Lichess export JSON or NDJSON, game records, a Lichess game id
    or address, or - for stdin. Verdicts come in input order; --format pgn writes the games with both clocks and what
    each move did, and keeps what others wrote in them. --rules and --pool outrank what a game carries itself.
    A broken game is one line on stderr, the others are done, and the exit status is 1.
    """
    from bridge.cli.rules_choice import RulesChoice

    wanted = [parse_target(target, url) for target in targets]
    choice = RulesChoice(rules_file, pool)
    failures: list[str] = []
    with _output(output, wanted) as out, _progress(wanted) as advance:
        judged = _judged(wanted, choice, advance, failures)
        verdicts = (verdict for _, verdict in judged)
        if form == "pgn":
            _write_pgn(judged, out)
        elif form == "jsonl":
            _write_jsonl(verdicts, out, ledger)
        elif form == "csv":
            _write_csv(verdicts, out, ledger)
        else:
            _write_table(list(verdicts), out, ledger)
    if failures:
        ctx.exit(1)


def _judged(
    targets: Sequence[FileTarget | OnlineTarget],
    choice: "RulesChoice",
    advance: Callable[[int], object] | None,
    failures: list[str],
) -> Iterator[tuple["Game", "Verdict"]]:
    for target in targets:
        try:
            for game in target.games(advance):
                if isinstance(game, RecordError):
                    failures.append(str(game))
                    complain(str(game))
                    continue
                try:
                    verdict = game.judge(choice.of(game))
                except RecordError as error:
                    failures.append(str(error))
                    complain(str(error))
                else:
                    yield game, verdict
        except PlatformError as error:
            failures.append(str(error))
            complain(str(error))


# -- output ------------------------------------------------------------------------------------------------------


@contextmanager
def _output(path: Path | None, targets: Sequence[FileTarget | OnlineTarget]) -> Iterator[IO[str]]:
    if path is None or str(path) == "-":
        yield sys.stdout
        return
    inputs = [target.path for target in targets if isinstance(target, FileTarget) and target.path is not None]
    if path.exists() and any(path.samefile(given) for given in inputs):
        raise UsageError(f"{path} is one of the files to be read: write the verdicts to another one")
    try:
        file = path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
    with file:
        yield file


@contextmanager
def _progress(targets: Sequence[FileTarget | OnlineTarget]) -> Iterator[Callable[[int], object] | None]:
    """A bar over the bytes read, on stderr, where that is a terminal."""
    if not is_lively(sys.stderr):
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    total = sum(target.size for target in targets)
    columns = (TextColumn("judging"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(sys.stderr), transient=True) as progress:
        task = progress.add_task("judging", total=total or None)
        yield lambda count: progress.advance(task, count)


def _write_pgn(judged: Iterator[tuple["Game", "Verdict"]], out: IO[str]) -> None:
    from bridge.records.annotated import annotated

    for game, verdict in judged:
        out.write(annotated(game, verdict) + "\n")


def _write_jsonl(verdicts: Iterator["Verdict"], out: IO[str], ledger: bool) -> None:
    from bridge.records.verdict_json import verdict_object

    for verdict in verdicts:
        out.write(json.dumps(verdict_object(verdict, ledger=ledger)) + "\n")


def _write_csv(verdicts: Iterator["Verdict"], out: IO[str], ledger: bool) -> None:
    from bridge.records.table import CSV_COLUMNS, CSV_LEDGER_COLUMNS, csv_ledger_rows, csv_row

    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_LEDGER_COLUMNS if ledger else CSV_COLUMNS)
    for verdict in verdicts:
        writer.writerows(csv_ledger_rows(verdict) if ledger else [csv_row(verdict)])


def _write_table(verdicts: Sequence["Verdict"], out: IO[str], ledger: bool) -> None:
    from bridge.records.explanation import plies_table
    from bridge.records.one_line import one_line
    from bridge.records.table import verdict_table

    if not verdicts:
        return
    screen = console(out)
    if not ledger:
        screen.print(verdict_table(verdicts))
        return
    for verdict in verdicts:
        screen.print(plies_table(verdict))
        screen.print(f"{verdict.setup.game_id}: {one_line(verdict)}\n")
