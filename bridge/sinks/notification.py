"""Events in words, to people, by whatever Apprise can write to."""

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from types import MappingProxyType

from jinja2 import ChainableUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bridge import event_types
from bridge.errors import SinkError
from bridge.event_filter import EventFilter
from bridge.interfaces import Entry, Journal
from bridge.sinks.plain_lines import plain_line

_FORCED = "{% if data.verdict.flag.forced %}Forced flagfall: {% endif %}"
TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        event_types.VERDICT_FINAL: _FORCED + "game {{ game }}: {{ data.text }}",
        event_types.VERDICT_CHANGED: _FORCED + "game {{ game }}: now {{ data.text }} ({{ data.cause }})",
        event_types.ACCOUNT_OFFLINE: "{{ account }} is offline: {{ data.reason }}",
        event_types.ACCOUNT_ONLINE: "{{ account }} is online",
        event_types.ENGINE_FAILED: "{{ account }}, game {{ game }}: engine failed: {{ data.cause }}",
    }
)
"""What is said of an event, as plain text; of others what the terminal says, or their type."""
_TITLE = "KiriChess"


class Notification:
    """A Sink that tells people. `template` (Jinja: type, game, account, data) stands for those of all events; what it
    gives nothing for is not sent. `url` is a secret: it is in no name and no error.
    """

    def __init__(
        self, url: str, wanted: EventFilter, template: str | None = None, *, journal: Journal | None = None
    ) -> None:
        self._url = url
        self._wanted = wanted
        self._journal = journal
        self._template = template
        self._environment = ImmutableSandboxedEnvironment(autoescape=False, undefined=ChainableUndefined)
        mark = hashlib.sha256("\n".join([url, *wanted.marks, template or ""]).encode()).hexdigest()[:8]
        self.name = f"notification {url.partition(':')[0]} {mark}"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    async def write(self, entry: Entry) -> bool:
        """Tell one event; False: it is not wanted, or there is nothing to say. Raises SinkError unless it was taken."""
        return await self._wanted.wants(entry, self._journal) and await self.deliver(entry)

    async def deliver(self, entry: Entry) -> bool:
        """Tell one event, wanted or not; False: there is nothing to say. Raises SinkError unless it was taken."""
        text = self.text(entry)
        # Apprise waits for the network.
        if text and not await asyncio.to_thread(_send, self._url, text):
            raise SinkError(f"{self.name} was not taken; see that the service can be reached and knows the address")
        return bool(text)

    def text(self, entry: Entry) -> str:
        """What is said of an event; empty: nothing. Raises SinkError: the template cannot be filled in."""
        template = self._template or TEMPLATES.get(entry.type)
        if template is None:
            return plain_line(entry) or ", ".join(filter(None, (entry.type, entry.subject, entry.account)))
        try:
            filled = self._environment.from_string(template)
            text = filled.render(type=entry.type, game=entry.subject, account=entry.account, data=entry.data)
        except (TemplateError, TypeError, ValueError) as error:
            raise SinkError(f"{self.name}: its template does not work for {entry.type}: {error}") from error
        return text.strip()

    async def close(self) -> None:
        """Nothing to let go of."""


def _send(url: str, text: str) -> bool:
    import apprise  # slow to load, and few need it

    # It would tell the address.
    logging.getLogger("apprise").disabled = True
    service = apprise.Apprise()
    return bool(service.add(url)) and bool(service.notify(text, _TITLE, body_format=apprise.NotifyFormat.TEXT))
