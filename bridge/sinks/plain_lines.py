"""Games as text, one line an event, for files, pipes and people without colours."""

from collections.abc import Mapping

from rich.console import Console

from bridge import event_types
from bridge.interfaces import Entry
from bridge.records.game import printable
from bridge.records.pool_told import PLAIN, pool_title, pool_told
from bridge.rules.clock_text import clock_text
from bridge.sinks.ply_text import changed_text, effects_text, flag_text, move_text, withdrawn_text


class PlainLines:
    """One line an event; what no person wants to read has none."""

    name = "terminal"

    def __init__(self, console: Console) -> None:
        self._console = console

    async def write(self, entry: Entry) -> None:
        """Print what the event means."""
        line = plain_line(entry)
        if line:
            # Not `print`, which would look for markup, colours and widths in text that has none.
            self._console.file.write(line + "\n")
            self._console.file.flush()

    async def close(self) -> None:
        """Nothing to let go of."""


def plain_line(entry: Entry) -> str:
    """What the event means, in one line without control characters; empty where no person wants to read it."""
    if entry.type == event_types.CONTROL_USED:
        return printable(_of_control(entry))
    return printable(_of_game(entry) or _of_account(entry))


def _of_control(entry: Entry) -> str:
    data = entry.data
    what = f"{entry.subject} {data.get('action')}".lstrip()
    return (
        f"{what}: asked through the monitor by {data.get('by')} from {data.get('forwarded_for') or data.get('address')}"
    )


def _of_game(entry: Entry) -> str:
    data, game = entry.data, entry.subject
    match entry.type:
        case event_types.GAME_STARTED:
            return f"{game} started: {data.get('white')} (White) v {data.get('black')} (Black), {_pool(data)}"
        case event_types.GAME_RULES:
            return f"{game} {_pool(data)} from now on  {_clocks(data)}"
        case event_types.GAME_PLY:
            return f"{game} {move_text(data)}  {_clocks(data)}  {effects_text(data)}"
        case event_types.GAME_TAKEBACK:
            return f"{game} moves taken back  {_clocks(data)}"
        case event_types.GAME_FINISHED:
            return f"{game} over on the platform: {data.get('status')}"
        case event_types.FLAG_PROVISIONAL:
            return f"{game} {flag_text(data)}"
        case event_types.FLAG_WITHDRAWN:
            return f"{game} {withdrawn_text(data)}"
        case event_types.VERDICT_PROVISIONAL | event_types.VERDICT_FINAL:
            return f"{game} {entry.type.rsplit('.', 1)[1]} verdict: {data.get('text')}"
        case event_types.VERDICT_CHANGED:
            return f"{game} verdict changed: {changed_text(data)}"
        case event_types.ANOMALY:
            return f"{game} anomaly: {data.get('note')}"
        case event_types.ENGINE_FAILED:
            return f"{game} engine failed: {data.get('cause')}"
    return ""


def _of_account(entry: Entry) -> str:
    data = entry.data
    match entry.type:
        case event_types.ACCOUNT_ONLINE:
            return f"{entry.account} is online"
        case event_types.ACCOUNT_OFFLINE:
            return f"{entry.account} is offline ({data.get('reason')})"
        case event_types.CHALLENGE_ACCEPTED:
            pool = data.get("pool")
            return f"{entry.subject} challenge accepted, {f'pool {pool}' if pool else 'plain chess'}"
        case event_types.CHALLENGE_DECLINED:
            return f"{entry.subject} challenge declined: {data.get('reason')}"
        case event_types.CHALLENGE_SENT:
            return f"{entry.subject} we challenge {data.get('opponent')}"
        case event_types.CHALLENGE_ANSWERED:
            reason = data.get("reason")
            return f"{data.get('opponent')}, challenged by us: {data.get('outcome')}" + (
                f" ({reason})" if reason else ""
            )
    return ""


def _pool(data: Mapping[str, object]) -> str:
    title = pool_title(data)
    return title if pool_told(data) == PLAIN else f"pool {title}"


def _clocks(data: Mapping[str, object]) -> str:
    white, black = data.get("white_ms"), data.get("black_ms")
    if not isinstance(white, int) or not isinstance(black, int):
        return ""
    gap = white - black
    return f"White {clock_text(white)} Black {clock_text(black)} gap {'+' if gap > 0 else ''}{clock_text(gap)}"
