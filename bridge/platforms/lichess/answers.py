"""What an answer that is not 200 means: one of the three platform errors, in a line fit to be shown (API §1.1)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from bridge.errors import DailyLimit, PlatformError, RateLimited, Refused, ServerError, Unreachable
from bridge.platforms.lichess.shapes import Json, WireError, read_object

_MAX_WORDS = 200
_MAX_WAIT_S = 86_400.0
_DEEPEST = 8
_BROKEN = (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError)
"""Their own words tell of chunks and transports, which is no help to anybody."""

PER_DAY = "bot.vsBot.day"
"""Key of the limit of games between bots: it concerns them, not the endpoint (§4)."""


class Senseless(Unreachable):
    """A stream that can be read and makes no sense: to be opened again, in no hurry."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as both HTTP libraries give it; header names are looked up whatever their case."""

    what: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def error(self) -> PlatformError:
        """Never assumes JSON: a proxy in front of Lichess answers with pages."""
        found = self._json()
        said = f"{self.what}: {self.status} {_words(found)}".rstrip()
        limit = found.get("ratelimit")
        wait_s = self._figure(limit)
        if isinstance(limit, Mapping) and limit.get("key") == PER_DAY:
            return DailyLimit(said, retry_after_s=wait_s, ours=self.status == 429)
        if self.status == 429:
            return RateLimited(said, retry_after_s=wait_s)
        if self.status >= 500 or self.status == 408:
            return ServerError(said)
        if 300 <= self.status < 400:
            said += "(it sends us elsewhere: is the account's url right?)"
        return Refused(said, status=self.status)

    def _json(self) -> Json:
        try:
            return read_object(self.body)
        except WireError:
            return {}

    def _figure(self, limit: object) -> float | None:
        """`ratelimit.seconds`, else Retry-After, else None."""
        given = limit.get("seconds") if isinstance(limit, Mapping) else None
        if isinstance(given, int | float) and not isinstance(given, bool):
            return min(_MAX_WAIT_S, max(0.0, float(given)))
        header = next((value for name, value in self.headers.items() if name.lower() == "retry-after"), "")
        # The other form, a date, would need their clock and ours to agree.
        return min(_MAX_WAIT_S, float(header)) if header.strip().isdecimal() else None


def _words(found: Json) -> str:
    """`error` is a text, or an object of fields with lists of texts."""
    error = found.get("error")
    if isinstance(error, Mapping):
        error = "; ".join(f"{field}: {_flat(texts)}" for field, texts in error.items())
    return " ".join(str(error).split())[:_MAX_WORDS] if error else ""


def _flat(texts: object) -> str:
    return ", ".join(str(text) for text in texts) if isinstance(texts, list) else str(texts)


def no_answer(what: str, error: BaseException) -> Unreachable:
    """A request that failed below HTTP. Only the error's own words: some carry the request's headers."""
    if (cause := system_cause(error)) is not None:
        return Unreachable(f"{what}: {cause}")
    if isinstance(error, TimeoutError):
        return Unreachable(f"{what}: no answer in time")
    if isinstance(error, _BROKEN):
        return Unreachable(f"{what}: the connection broke")
    said = " ".join(str(error).split())[:_MAX_WORDS]
    return Unreachable(f"{what}: {type(error).__name__}" + (f": {said}" if said else ""))


def system_cause(error: BaseException) -> str | None:
    """What the system itself said, below the words of the HTTP libraries: `connection refused`, say."""
    below: BaseException | None = error
    for _ in range(_DEEPEST):
        if isinstance(below, OSError) and below.errno is not None:
            return (os.strerror(below.errno) if below.errno > 0 else str(below.strerror)).lower()
        below = below.__cause__ or below.__context__ if below is not None else None
    return None
