"""`events`: watch them as they come, see what they hold, send again what a receiver missed."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.cli.values import server_address
from bridge.errors import BridgeError, UsageError

if TYPE_CHECKING:
    from bridge.event_filter import EventFilter
    from bridge.interfaces import Entry
    from bridge.journal.dead_letters import DeadLetter
    from bridge.journal.reader import JournalReader
    from bridge.sinks.notification import Notification
    from bridge.sinks.webhook import Webhook

F = TypeVar("F", bound=Callable[..., Any])


@click.group(name="events")
def command() -> None:
    """Watch events as they come, see what they hold, send again what a receiver missed."""


def _config(function: F) -> F:
    return click.option("-c", "--config", type=click.Path(path_type=Path), help="The daemon's configuration file.")(
        function
    )


def _journal(function: F) -> F:
    return click.option("--journal", "place", metavar="PATH|URL", help="The journal itself.")(function)


def _json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")(function)


@command.command()
@click.argument("kind", metavar="[TYPE]", required=False)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of every event, or of those of one TYPE."""
    from bridge.event_schema import events_schema
    from bridge.event_types import EVENT_TYPES

    if kind is not None and kind not in EVENT_TYPES:
        raise UsageError(f"no event is called {kind!r}; they are {', '.join(EVENT_TYPES)}")
    click.echo(json.dumps(events_schema(kind), indent=2, ensure_ascii=False))


@command.command()
@click.option("--url", callback=server_address, help="The address of the daemon's monitor.")
@click.option("--after", metavar="N", type=click.IntRange(min=0), help="Begin behind entry N, not with the new ones.")
@click.option("--type", "types", metavar="NAME", multiple=True, help="Only these types; * stands for any part.")
@click.option("--account", "accounts", metavar="NAME", multiple=True, help="Only events of these accounts.")
@click.option("--pool", "pools", metavar="NAME", multiple=True, help="Only events of games in these pools.")
@click.option("--game", metavar="ID", help="Only events of this game.")
@_json_option
@_journal
@_config
def tail(
    config: Path | None,
    place: str | None,
    url: str | None,
    after: int | None,
    types: tuple[str, ...],
    accounts: tuple[str, ...],
    pools: tuple[str, ...],
    game: str | None,
    as_json: bool,
) -> None:
    """Print events as they come, until interrupted: from the daemon's monitor, or from a journal's file."""
    from bridge.event_filter import EventFilter

    if sum(given is not None for given in (config, place, url)) > 1:
        raise UsageError("give one of -c, --url and --journal")
    wanted = EventFilter(types or ("*",), accounts, pools)
    if place is not None:
        coming = _from_file(place, wanted, after)
    else:
        many = (("type", types), ("account", accounts), ("pool", pools), ("game", (game,) if game else ()))
        query = [(name, value) for name, values in many for value in values]
        # The monitor has filtered already, and knows the pools of games that began long ago.
        coming, wanted = _from_daemon(config, url, query, after), EventFilter(("*",))
    asyncio.run(_print(coming, wanted, game, as_json))


def _from_file(place: str, wanted: "EventFilter", after: int | None) -> "AsyncGenerator[Entry]":
    from bridge.cli.event_tail import from_journal
    from bridge.cli.journal import journal_file

    return from_journal(journal_file(place, None), wanted.at_once, after)


def _from_daemon(
    config: Path | None, url: str | None, query: Sequence[tuple[str, str]], after: int | None
) -> "AsyncGenerator[Entry]":
    from bridge.cli.event_tail import from_monitor
    from bridge.cli.status import DEFAULT_URL, monitor_of

    address, token = (url or DEFAULT_URL, None) if config is None else monitor_of(config)
    return from_monitor(address, token, query, after)


async def _print(coming: "AsyncGenerator[Entry]", wanted: "EventFilter", game: str | None, as_json: bool) -> None:
    from bridge.cloudevents import to_json
    from bridge.sinks.plain_lines import plain_line

    async for entry in coming:
        if game in (None, entry.subject) and await wanted.wants(entry):
            line = to_json(entry) if as_json else plain_line(entry) or f"{entry.subject or entry.account} {entry.type}"
            click.echo(line)
            sys.stdout.flush()


@command.command()
@click.option("--forget", "ids", metavar="ID", multiple=True, type=int, help="Take this one off the list, unsent.")
@click.option("--forget-sink", "sinks", metavar="NAME", multiple=True, help="All of a sink that is used no more.")
@_json_option
@_journal
@_config
def dead(config: Path | None, place: str | None, as_json: bool, ids: tuple[int, ...], sinks: tuple[str, ...]) -> None:
    """List what could not be delivered for a day: `events resend` sends it again.

    With --forget or --forget-sink those are taken off the list and printed, for the last time.
    """
    from bridge.journal.dead_letters import dead_letters, forget

    with _reader(place, config) as reader:
        letters = dead_letters(reader)
        file = reader.file
    if ids or sinks:
        _demand("number", set(ids) - {letter.id for letter in letters})
        _demand("sink", set(sinks) - {letter.sink for letter in letters})
        letters = [letter for letter in letters if letter.id in ids or letter.sink in sinks]
        forget(file, letters)
    for letter in letters:
        click.echo(json.dumps(_told(letter), ensure_ascii=False) if as_json else _line(letter))


def _demand(what: str, missing: Collection[object]) -> None:
    if missing:
        named = ", ".join(sorted(map(str, missing)))
        raise UsageError(f"no dead letter has the {what} {named}; `events dead` lists them")


@command.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=int)
@click.option("--all", "everything", is_flag=True, help="All that `events dead` lists.")
@click.option("-c", "--config", required=True, type=click.Path(path_type=Path), help="The daemon's configuration file.")
@click.pass_context
def resend(ctx: click.Context, ids: tuple[int, ...], everything: bool, config: Path) -> None:
    """Deliver what `events dead` lists under these IDs; what is taken leaves the list. Exit status 1: not all was."""
    from bridge.journal.dead_letters import dead_letters

    if bool(ids) == everything:
        raise UsageError("give the IDs that `events dead` lists, or --all")
    with _reader(None, config) as reader:
        letters = [letter for letter in dead_letters(reader) if everything or letter.id in ids]
        file = reader.file
    _demand("number", set(ids) - {letter.id for letter in letters})
    if not asyncio.run(_send(letters, config, file)):
        ctx.exit(1)


async def _send(letters: "Sequence[DeadLetter]", config: Path, file: Path) -> bool:
    """Each is taken off the list when it is delivered. False: some were not."""
    from bridge.cli.console import complain
    from bridge.hooks import receivers
    from bridge.journal.dead_letters import forget
    from bridge.settings import load

    sinks = {sink.name: sink for sink in receivers(load(config))}
    sent = 0
    try:
        for letter in letters:
            try:
                await _deliver(letter, sinks)
            except BridgeError as error:
                complain(f"{letter.id} not sent: {error}")
                continue
            forget(file, [letter])
            sent += 1
    finally:
        for sink in sinks.values():
            await sink.close()
    click.echo(f"sent: {sent} of {len(letters)}")
    return sent == len(letters)


async def _deliver(letter: "DeadLetter", sinks: "dict[str, Webhook | Notification]") -> None:
    if letter.entry is None:
        raise UsageError(f"entry {letter.seq} is no longer in the journal ({_letting_go(letter)})")
    if letter.sink not in sinks:
        gone = f"{letter.sink} is neither a webhook nor a notification of this configuration"
        raise UsageError(f"{gone} ({_letting_go(letter)})")
    await sinks[letter.sink].deliver(letter.entry)


def _letting_go(letter: "DeadLetter") -> str:
    return f"`events dead --forget {letter.id}` takes it off the list"


def _told(letter: "DeadLetter") -> dict[str, object]:
    from bridge.cloudevents import rfc3339, to_cloudevent

    return {
        "id": letter.id,
        "sink": letter.sink,
        "seq": letter.seq,
        "given_up": rfc3339(letter.time_ms),
        "cause": letter.cause,
        "event": None if letter.entry is None else to_cloudevent(letter.entry),
    }


def _line(letter: "DeadLetter") -> str:
    from bridge.cloudevents import rfc3339

    what = "pruned" if letter.entry is None else f"{letter.entry.type} {letter.entry.subject}".rstrip()
    return f"{letter.id}  {rfc3339(letter.time_ms)}  {letter.seq} {what}  to {letter.sink}: {letter.cause}"


def _reader(place: str | None, config: Path | None) -> "JournalReader":
    from bridge.cli.journal import journal_file
    from bridge.journal.reader import JournalReader

    return JournalReader(journal_file(place, config))
