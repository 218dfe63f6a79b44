"""The configuration read again while the program runs: policy is replaced whole, or nothing is.

What a running program cannot change (accounts, engines, journal, …) is named, and then the old settings go on, as they
do when the file is wrong.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import structlog
from pydantic import BaseModel

from bridge.errors import SettingsError
from bridge.settings.load import load
from bridge.settings.models import Settings

log = structlog.get_logger("kirichess_reload")

_POLL_S = 2.0
"""Between looks at the file; one that changes again and again is read when it has been left alone for so long."""

POLICY = frozenset({"reload", "drain_s", "engine_limits", "pools"})
"""Keys that count from the next decision on."""
PLAY_POLICY = frozenset(
    {
        *{"pool", "rules", "concurrency", "move_overhead", "abort_time", "greeting", "language", "draw_or_resign"},
        *{"challenge", "matchmaking", "tournaments", "max_takebacks_accepted", "first_move_percent", "correspondence"},
    }
)
"""Those of them below `play:`. Games that run keep their pool, their overhead and their manners."""


class Reload:
    """Reads `file` again when it is told to, or, where the settings say so, when it changes.

    `variables` are those of the environment at the start: secrets among them are gone from it by now. `apply` makes
    new settings count.
    """

    def __init__(
        self, file: Path, variables: Mapping[str, str], settings: Settings, apply: Callable[[Settings], None]
    ) -> None:
        self._file = file
        self._variables = variables
        self._settings = settings
        self._apply = apply
        self._asked = asyncio.Event()
        self._seen = self._stamp()

    def now(self) -> None:
        """Read it soon, changed or not."""
        self._asked.set()

    async def run(self) -> None:
        """Wait for changes for ever."""
        waiting = False
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), _POLL_S)
            stamp = self._stamp()
            changed = stamp != self._seen and stamp is not None
            self._seen = stamp
            if self._asked.is_set() or (waiting and not changed):
                self._asked.clear()
                waiting = False
                await self._read()
            elif changed and self._settings.reload:
                waiting = True

    def _stamp(self) -> tuple[int, int] | None:
        """None: there is no file just now, as while an editor replaces it."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    async def _read(self) -> None:
        try:
            settings = await asyncio.to_thread(load, self._file, variables=self._variables)
        except SettingsError as error:
            log.error("settings_refused", cause="; ".join(error.problems), file=str(self._file))
            return
        changed = list(changes(self._settings, settings))
        kept = [key for key in changed if not is_policy(key)]
        if kept := kept or list(_judged_otherwise(self._settings, settings)):
            cause = f"only a restart can change {', '.join(kept)}: nothing was changed"
            log.error("settings_refused", cause=cause, file=str(self._file))
            return
        self._settings = settings
        self._apply(settings)
        log.info("settings_reloaded", changed=changed, file=str(self._file))


def changes(old: object, new: object, at: str = "") -> Iterator[str]:
    """The keys that differ, as deep as both sides have the same shape: `accounts[0].play.challenge.modes`."""
    if old == new:
        return
    if isinstance(old, BaseModel) and type(old) is type(new):
        for name in type(old).model_fields:
            yield from changes(getattr(old, name), getattr(new, name), f"{at}.{name}" if at else name)
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        if all(isinstance(each, BaseModel) for each in (*old, *new)):
            for index, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from changes(one, other, f"{at}[{index}]")
        else:
            yield at
    else:
        yield at


def _judged_otherwise(old: Settings, new: Settings) -> Iterator[str]:
    """Entries whose pool is one of the file's own and means something else now."""
    for index, (one, other) in enumerate(zip(old.watch, new.watch, strict=True)):
        if one.ruleset() != other.ruleset():
            yield f"watch[{index}].pool"


def is_policy(key: str) -> bool:
    """Whether a running program can change it."""
    steps = key.split(".")
    if steps[0].startswith("accounts["):
        return len(steps) > 2 and steps[1] == "play" and steps[2].partition("[")[0] in PLAY_POLICY
    return steps[0] in POLICY
