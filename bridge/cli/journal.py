"""`journal`: look into the journal, copy it, thin it out and prove it, while the daemon writes to it."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.clocks import DAY_MS, wall_ms
from bridge.errors import BridgeError, RecordError, UsageError

if TYPE_CHECKING:
    from bridge.journal.reader import JournalReader

_MOST_DAYS = 36_500

F = TypeVar("F", bound=Callable[..., Any])


@click.group(name="journal")
def command() -> None:
    """Look into the journal, copy it, thin it out and prove it; the daemon may run meanwhile."""


def _source(function: F) -> F:
    """The options that say which journal."""
    function = click.option(
        "-c", "--config", type=click.Path(path_type=Path), help="The configuration file that names the journal."
    )(function)
    return click.option(
        "--journal", "place", metavar="PATH|URL", help="The journal itself.  [default: journal.db, if it is there]"
    )(function)


def _json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")(function)


@command.command()
@click.option("--last", "most", metavar="N", type=click.IntRange(min=1), help="Only the last N games.")
@_json_option
@_source
def games(place: str | None, config: Path | None, as_json: bool, most: int | None) -> None:
    """List the games: players, pool, plies, result."""
    from bridge.cli.journal_view import game_rows, games_table

    with _reader(place, config) as reader:
        rows = game_rows(reader)[-(most or 0) :]
        if as_json:
            _json_lines(rows)
        elif rows:
            _print(games_table(rows))


@command.command()
@click.argument("game")
@_json_option
@_source
def show(game: str, place: str | None, config: Path | None, as_json: bool) -> None:
    """Show what is stored about GAME, entry by entry."""
    from bridge.cli.journal_view import entries_table
    from bridge.cloudevents import to_json

    with _reader(place, config) as reader:
        if game not in reader.games():
            raise _no_game(game)
        entries = list(reader.entries(game))
        if as_json:
            for entry in entries:
                click.echo(to_json(entry))
        else:
            _print(entries_table(entries))


@command.command()
@click.argument("chosen", metavar="[GAME]...", nargs=-1)
@click.option("--raw", is_flag=True, help="The platform's own lines instead, as far as they are kept.")
@click.option("-o", "output", metavar="FILE", type=click.Path(path_type=Path), help="Write there, not to stdout.")
@_source
def export(chosen: tuple[str, ...], raw: bool, output: Path | None, place: str | None, config: Path | None) -> None:
    """Write every entry, or those of the GAMEs, as CloudEvents JSON, one a line."""
    from bridge.cloudevents import to_json

    def lines(reader: "JournalReader") -> Iterator[str]:
        if unknown := set(chosen) - set(reader.games()):
            raise _no_game(min(unknown))
        for game in chosen or (reader.games() if raw else [None]):
            if raw and game is not None:
                yield from _raw_lines(reader, game)
            else:
                yield from (to_json(entry) for entry in reader.entries(game))

    with _reader(place, config) as reader:
        if output is None:
            for line in lines(reader):
                click.echo(line)
            return
        _not_the_journal(output, reader)
        try:
            _write(output, lines(reader))
        except OSError as error:
            raise BridgeError(f"{output} cannot be written: {error.strerror}") from error


def _write(output: Path, lines: Iterator[str]) -> None:
    """A file appears whole or not at all; into a device or a pipe it is written as it comes."""
    whole = output.is_file() or not output.exists()
    target = output.with_name(f"{output.name}-unfinished") if whole else output
    try:
        with target.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        if whole:
            target.replace(output)
    finally:
        if whole:
            target.unlink(missing_ok=True)


def _no_game(game: str) -> RecordError:
    return RecordError(f"the journal has no game {game}; `journal games` lists them")


def _not_the_journal(file: Path, reader: "JournalReader") -> None:
    if file.exists() and file.samefile(reader.file):
        raise UsageError(f"{file} is the journal itself; choose another name")


def _raw_lines(reader: "JournalReader", game: str) -> Iterator[str]:
    for block in reader.raw(game):
        for line in block.lines:
            text = line.text.decode("utf-8", "replace")
            about = {"game": game, "source": block.source, "time_ms": line.wall_ms, "steady_ms": line.at_ms}
            yield json.dumps({**about, "line": text})


@command.command()
@click.option(
    "--days",
    default=90,
    show_default=True,
    metavar="N",
    type=click.IntRange(2, _MOST_DAYS),
    help="Games older than this go.",
)
@click.option(
    "--raw-days",
    metavar="N",
    type=click.IntRange(0, _MOST_DAYS),
    help="The platform's lines older than this go.  [default: as configured]",
)
@click.option(
    "--forget-sink",
    "forget",
    metavar="NAME",
    multiple=True,
    help="A sink that is used no more: it keeps nothing back, and should it return it begins with what is new then.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@_json_option
@_source
def prune(
    place: str | None,
    config: Path | None,
    days: int,
    raw_days: int | None,
    forget: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Delete games that were judged long ago, and old lines of the platform.

    Numbers stay as they are and are never given again. Running games stay, and what a sink has still to deliver, even
    one that is not configured any more: what is printed then names it, and --forget-sink lets go of it.
    """
    from bridge.cli.console import complain
    from bridge.journal.prune import prune as prune_file

    file, configured = _place(place, config)
    now_ms = wall_ms()
    raw_before_ms = now_ms - (configured if raw_days is None else raw_days) * DAY_MS
    before_ms = now_ms - days * DAY_MS
    gone = prune_file(file, before_ms=before_ms, raw_before_ms=raw_before_ms, forget=forget, dry=dry_run)
    if as_json:
        told = {"games": gone.games, "entries": gone.entries, "raw_blocks": gone.raw_blocks, "held_by": gone.held_by}
        _json_lines([{**told, "dry_run": dry_run}])
        return
    verb = "would go" if dry_run else "gone"
    click.echo(f"{verb}: {gone.games} games, {gone.entries} entries, {gone.raw_blocks} blocks of platform lines")
    if gone.held_by:
        complain(
            f"older games stay for the sink {gone.held_by!r}, which has not delivered them yet; if it is used no more, "
            f"let go of it: kirichess-bridge journal prune --forget-sink {shlex.quote(gone.held_by)}"
        )


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@_source
def backup(file: Path, force: bool, place: str | None, config: Path | None) -> None:
    """Write a whole copy of the journal to FILE, as it is at one moment."""
    if file.exists() and not file.is_file():
        raise UsageError(f"{file} is no ordinary file; choose another name")
    if file.exists() and not force:
        raise UsageError(f"{file} is there already; choose another name, or overwrite it with --force")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"{file}: its folder does not exist")
    with _reader(place, config) as reader:
        _not_the_journal(file, reader)
        copy = file.with_name(f"{file.name}-unfinished")
        reader.backup(copy)
    copy.replace(file)
    click.echo(f"{file} is written, {file.stat().st_size} bytes")


@command.command()
@click.argument("game")
@click.option("--ledger", is_flag=True, help="With --json: every counted ply too.")
@_json_option
@_source
def replay(game: str, ledger: bool, place: str | None, config: Path | None, as_json: bool) -> None:
    """Compute GAME's ledger once more from the platform's lines, and print the verdict."""
    from bridge.proof import judged, recompute
    from bridge.records.one_line import one_line
    from bridge.records.verdict_json import verdict_object

    with _reader(place, config) as reader:
        if game not in reader.games():
            raise _no_game(game)
        entries, blocks = list(reader.entries(game)), reader.raw(game)
    found = recompute(game, entries, blocks)
    if isinstance(found, str):
        raise RecordError(f"game {game} cannot be computed from its source: {found}")
    verdict = judged(found, entries, blocks)
    click.echo(json.dumps(verdict_object(verdict, ledger=ledger), ensure_ascii=False) if as_json else one_line(verdict))


@command.command()
@click.argument("chosen", metavar="[GAME]...", nargs=-1)
@_json_option
@_source
@click.pass_context
def verify(ctx: click.Context, chosen: tuple[str, ...], place: str | None, config: Path | None, as_json: bool) -> None:
    """Prove that what is stored of every game, or of the GAMEs, agrees with itself and with the platform's lines.

    What does not agree is named by game and ply, and so is what is damaged or missing; the exit status is 1 then.
    """
    from bridge.cli.console import complain
    from bridge.cli.journal_proof import check, numbers_told

    wrong = unproven = count = 0
    with _reader(place, config) as reader:
        if unknown := set(chosen) - set(reader.games()):
            raise _no_game(min(unknown))
        missing = reader.missing()
        for found in check(reader, chosen, missing):
            proof = found.proof
            count += 1
            wrong += not found.agrees
            unproven += bool(proof.missing)
            for difference in proof.differences:
                complain(str(difference))
            if as_json:
                _json_lines([found.to_json()])
            elif proof.missing and chosen and found.agrees:
                complain(f"game {proof.game}: not computed from its source: {proof.missing}")
        if not chosen:
            for first, last in missing:
                complain(numbers_told(first, last))
        if not as_json:
            proved = f"{count - unproven} computed from the source"
            click.echo(f"{count} games: {count - wrong} agree, {wrong} do not; {proved}")
    if wrong or (missing and not chosen):
        ctx.exit(1)


def _place(place: str | None, config: Path | None) -> tuple[Path, int]:
    """The journal's file, and how many days its raw lines are kept."""
    from bridge.journal.place import parse_url
    from bridge.settings import Settings, load

    if place is not None and config is not None:
        raise UsageError("give -c or --journal, not both: the file names its journal")
    settings = Settings() if config is None else load(config, mode="check")
    address = settings.journal.url if place is None else place if "://" in place else f"sqlite:///{place}"
    file = parse_url(address)[1]
    if file is None:
        raise UsageError("a journal in memory is gone with its program; give a file with --journal")
    if place is None and config is None and not file.exists():
        raise UsageError("which journal? give it with --journal PATH, or the configuration with -c FILE")
    return file, settings.journal.raw_days


def journal_file(place: str | None, config: Path | None) -> Path:
    """The file that the options name. Raises UsageError, SettingsError."""
    return _place(place, config)[0]


@contextmanager
def _reader(place: str | None, config: Path | None) -> Iterator["JournalReader"]:
    """What is damaged is told and left out, and the exit status is 1 in the end."""
    from bridge.cli.console import complain
    from bridge.journal.reader import JournalReader

    with JournalReader(_place(place, config)[0], complain) as reader:
        yield reader
    if reader.damaged:
        click.get_current_context().exit(1)


def _json_lines(rows: list[dict[str, object]]) -> None:
    for row in rows:
        click.echo(json.dumps(row, ensure_ascii=False))


def _print(table: object) -> None:
    from bridge.cli.console import console

    console(sys.stdout).print(table)
