"""The command group: one command a file, loaded when it is asked for, and the one place where errors become exits."""

import contextlib
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from bridge.cli.console import PROGRAM, complain
from bridge.errors import BridgeError, UsageError

COMMANDS = {
    "demo": "bridge.cli.demo:command",
    "run": "bridge.cli.run:command",
    "watch": "bridge.cli.watch:command",
    "adjudicate": "bridge.cli.adjudicate:command",
    "explain": "bridge.cli.explain:command",
    "bill": "bridge.cli.bill:command",
    "pools": "bridge.cli.pools:command",
    "match": "bridge.cli.match:command",
    "lab": "bridge.cli.lab:lab",
    "arena": "bridge.cli.arena:arena",
    "config": "bridge.cli.config:command",
    "doctor": "bridge.cli.doctor:command",
    "status": "bridge.cli.status:command",
    "journal": "bridge.cli.journal:command",
    "events": "bridge.cli.events:command",
    "account": "bridge.cli.account:command",
}
"""Command → where it is. One whose module does not exist yet is unknown, never a stub (interfaces)."""

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


class Commands(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands whose modules exist, in the table's order."""
        return [name for name, path in COMMANDS.items() if importlib.util.find_spec(path.partition(":")[0])]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), attribute, None)
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. A reader that has gone (`| head`) had what it wanted; click would make a failure of it."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _abandon_stdout()
            return 0

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted (interfaces, "Commands")."""
        extra["standalone_mode"] = False
        extra.setdefault("prog_name", PROGRAM)
        _write_anyway()
        try:
            status = super().main(args, *rest, **extra)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            status = EXIT_USAGE
        except click.ClickException as error:
            complain(_click_message(error))
            status = error.exit_code
        except (KeyboardInterrupt, click.Abort):
            complain("interrupted")
            status = EXIT_INTERRUPTED
        except BrokenPipeError:
            # The same with what was printed last.
            _abandon_stdout()
            status = 0
        except OSError as error:
            _abandon_stdout()
            complain(f"{error.filename or 'output'}: {(error.strerror or str(error)).lower()}")
            status = EXIT_FAILED
        except BridgeError as error:
            complain(str(error))
            status = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
            _flush_or_abandon()
        sys.exit(status if isinstance(status, int) else 0)


def _write_anyway() -> None:
    """A terminal that cannot show a character shows a substitute: no name in a game may stop the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _flush_or_abandon() -> None:
    try:
        sys.stdout.flush()
    except OSError:  # told already by the error that brought us here
        _abandon_stdout()


def _abandon_stdout() -> None:
    """The interpreter must not try to write what is left at its exit."""
    with contextlib.suppress(OSError, ValueError):  # no real stdout, in a test or a daemon: nothing is left to write
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _click_message(error: click.ClickException) -> str:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see {error.ctx.command_path} --help)"
    return f"{' '.join(error.format_message().split())}{hint}"


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"{PROGRAM} {version(PROGRAM)}")
    except PackageNotFoundError:
        click.echo(f"{PROGRAM} (run from its source, not installed)")
    ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def main() -> None:
    """Play and referee KiriChess, chess in which time is a resource, on ordinary chess sites."""


if __name__ == "__main__":
    main()
