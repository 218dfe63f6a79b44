"""A webhook: every wanted event is posted to one address, signed after Standard Webhooks.

See https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
"""

import binascii
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import aiohttp
import structlog
from standardwebhooks.webhooks import EmptyWebhookSecretError
from standardwebhooks.webhooks import Webhook as Signature
from yarl import URL

from bridge.cloudevents import CONTENT_TYPE, to_json
from bridge.errors import SinkError, UsageError
from bridge.event_filter import EventFilter
from bridge.interfaces import Entry, Journal

log = structlog.get_logger("kirichess_webhook")

TIMEOUT_S = 10.0
GONE = 410


class Webhook:
    """A Sink that posts CloudEvents. `wanted` says which (names: types with `*` for any part); others are passed over.

    What happened to a game before we were there is asked of `journal`, if the filter needs it.

    `secret` is `whsec_` and base64, or any text; None leaves the posts unsigned. Answers of 2xx count as delivered;
    410 Gone means that the receiver wants no more of this entry. A redirect is a failure: a signed event goes only
    where the configuration says. Raises UsageError for a secret that is none.
    """

    def __init__(
        self,
        url: str,
        secret: str | None,
        wanted: EventFilter | Sequence[str] = ("kirichess.*",),
        *,
        journal: Journal | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._url = URL(url)
        self._wanted = wanted if isinstance(wanted, EventFilter) else EventFilter(wanted)
        self._journal = journal
        self._signatures = [] if secret is None else _signatures(secret)
        self._now = now
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._session: aiohttp.ClientSession | None = None
        # An address may hold a password or a key of the receiver's, and the name goes into logs and the journal. One
        # address may stand in several entries: each has its own place in the journal.
        mark = hashlib.sha256("\n".join([url, *self._wanted.marks]).encode()).hexdigest()[:8]
        self.name = f"webhook {self._url.host}:{self._url.port} {mark}"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    async def write(self, entry: Entry) -> bool:
        """Post one entry; False: it is not wanted. Raises SinkError unless it was taken."""
        wanted = await self._wanted.wants(entry, self._journal)
        if wanted:
            await self.deliver(entry)
        return wanted

    async def deliver(self, entry: Entry) -> None:
        """Post one entry, wanted or not. Raises SinkError unless it was taken."""
        status = await self._post(entry)
        if status == GONE:
            log.warning("refused_for_good", sink=self.name, event_id=entry.id, type=entry.type)
        elif not 200 <= status < 300:
            raise SinkError(f"{self.name} answered {status}; see what is wrong there, or mend webhooks.url")

    async def close(self) -> None:
        """Give back the connections."""
        if self._session is not None:
            await self._session.close()

    async def _post(self, entry: Entry) -> int:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, headers={"User-Agent": "kirichess-bridge"})
        body = to_json(entry)
        headers = {"Content-Type": CONTENT_TYPE, **self._signed(entry.id, body)}
        try:
            post = self._session.post(self._url, data=body.encode(), headers=headers, allow_redirects=False)
            async with post as response:
                return response.status
        except TimeoutError as error:
            raise SinkError(f"{self.name} did not answer in {self._timeout.total:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            cause = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            raise SinkError(
                f"{self.name} cannot be reached: {cause}; see that it runs, or mend webhooks.url"
            ) from error

    def _signed(self, event_id: str, body: str) -> dict[str, str]:
        # The time is that of this attempt: receivers refuse old ones, and a retry may come a day later.
        now = self._now().astimezone(UTC)
        headers = {"webhook-id": event_id, "webhook-timestamp": str(int(now.timestamp()))}
        if self._signatures:
            signatures = [signature.sign(event_id, now, body) for signature in self._signatures]
            headers["webhook-signature"] = " ".join(signatures)
        return headers


def _signatures(secret: str) -> list[Signature]:
    """One signature a reading of the secret: receivers take a text without `whsec_` for base64, or as it stands.

    The standard allows several signatures in one header, of which one must fit.
    """
    readings: list[str | bytes] = [secret] if secret.startswith("whsec_") else [secret, secret.encode()]
    signatures: list[Signature] = []
    for reading in readings:
        try:
            signatures.append(Signature(reading))
        except (binascii.Error, EmptyWebhookSecretError):
            # Not base64: the other reading remains, or none does and that is told below.
            continue
    if not signatures:
        raise UsageError("webhooks.secret: after whsec_ must come base64; make one: openssl rand -base64 24")
    return signatures
