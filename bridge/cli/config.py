"""`config check`, `config schema`, `config init` and `config import`."""

import json
import os
import shutil
from pathlib import Path

import click

from bridge.cli.first_run import init
from bridge.errors import UsageError


@click.group(name="config")
def command() -> None:
    """Check, describe or write a configuration file."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Say everything that is wrong with FILE, each with its line and column."""
    from bridge.settings import load

    settings = load(file, mode="check", warn=lambda line: click.echo(f"warning: {line}", err=True))
    playing = sum(account.play is not None for account in settings.accounts)
    counts = (
        _count(len(settings.accounts), "account") + (f" ({playing} playing)" if playing else ""),
        _count(len(settings.engines), "engine"),
        f"{len(settings.watch)} watched",
        _count(len(settings.webhooks), "webhook"),
        _count(len(settings.notifications), "notification"),
    )
    click.echo(f"{file}: ok – {', '.join(counts)}")


@command.command()
def schema() -> None:
    """Print the JSON Schema of the file, for editors."""
    from bridge.settings import Settings

    described = Settings.model_json_schema()
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **described, "title": "kirichess-bridge"}
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


command.add_command(init)


@command.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where it goes.  [default: standard output]")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
def import_(file: Path, output: Path | None, force: bool) -> None:
    """Convert lichess-bot's or BotLi's FILE; what has no counterpart is told on standard error, one line each."""
    from bridge.settings.importing import convert

    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} is there already; choose another with -o, or overwrite it with --force")
    try:
        found = convert(file.read_text("utf-8-sig"), str(file), _seen_from(output or Path("config.yml"), file))
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is not UTF-8 text (byte {error.start + 1}); save it as UTF-8") from error
    for note in found.notes:
        click.echo(note, err=True)
    for path in found.engines:
        # A bare name is looked up on PATH; other paths count from the new file's folder.
        if shutil.which(path if os.sep not in path else (output or Path()).parent / path) is None:
            click.echo(
                f"{path}: this engine is not there, or cannot be run; mend `path:` before the first game", err=True
            )
    if output is None:
        click.echo(found.text, nl=False)
        return
    try:
        output.write_text(found.text, "utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    click.echo(f"{output} is written, from {found.peer}. Then: kirichess-bridge doctor -c {output}", err=True)


def _seen_from(ours: Path, theirs: Path) -> str:
    """The other bot's folder, from our file's: its paths count from there."""
    folder, home = theirs.absolute().parent, ours.absolute().parent
    below = str(folder.relative_to(home)) if folder.is_relative_to(home) else str(folder)
    return "" if below == "." else below


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
