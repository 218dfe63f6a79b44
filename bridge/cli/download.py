"""One finished game from a server that speaks the Lichess API (`GET /game/export/{id}`)."""

import json
import urllib.error
import urllib.request
from http.client import HTTPException

from bridge.errors import RateLimited, RecordError, Refused, Unreachable
from bridge.records.fields import Json

TIMEOUT_S = 15
_MAX_BYTES = 16 * 1024 * 1024


def download_game(url: str, game_id: str) -> Json:
    """The game's export as JSON, with clocks.

    Raises:
        PlatformError: refused, rate limited or unreachable; RecordError: the answer is no game.
    """
    address = f"{url}/game/export/{game_id}?clocks=true&evals=false&opening=false"
    headers = {"Accept": "application/json", "User-Agent": "kirichess-bridge"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=TIMEOUT_S) as answer:
            body = answer.read(_MAX_BYTES)
    except urllib.error.HTTPError as error:
        error.close()
        raise _refused(error.code, f"{url}/{game_id}", error.headers.get("Retry-After")) from error
    except (OSError, HTTPException, ValueError) as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        raise Unreachable(f"{url} cannot be reached: {cause}; check the address and the network") from error
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RecordError("the server's answer is not JSON", place=f"{url}/{game_id}") from error
    if not isinstance(given, dict):
        raise RecordError("the server's answer is no game", place=f"{url}/{game_id}")
    return given


def _refused(status: int, address: str, retry_after: str | None) -> Refused | RateLimited | Unreachable:
    if status == 404:
        return Refused(f"{address}: no such game", status=status)
    if status == 429:
        seconds = float(retry_after) if retry_after and retry_after.isdecimal() else None
        return RateLimited(f"{address}: too many requests; try again in a minute", retry_after_s=seconds)
    if status >= 500:
        return Unreachable(f"{address}: the server failed ({status}); try again later")
    return Refused(f"{address}: the server refused ({status})", status=status)
