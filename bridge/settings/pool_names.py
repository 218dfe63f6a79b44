"""Pools by name: the six, the presets, and those that the file itself defines in `pools:`, wherever a pool is named."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, PrivateAttr

from bridge.errors import DialError
from bridge.rules.dials import Dials as PoolDials
from bridge.rules.pools import DEFAULT_POOL, NAMED, Ruleset, parse_dials
from bridge.settings.base import Section
from bridge.settings.problems import unknown

_TAKEN = ("custom", "standard", "auto")
"""Words that stand where a pool's name could."""

_KNOWN: ContextVar[Mapping[str, PoolDials]] = ContextVar("pools", default=NAMED)
"""The pools that a name may mean, while settings are read."""


@contextmanager
def also_known(pools: object) -> Iterator[None]:
    """Settings that are read within may name these too; `pools` as `every_pool` takes them."""
    token = _KNOWN.set(every_pool(pools))
    try:
        yield
    finally:
        _KNOWN.reset(token)


def every_pool(pools: object) -> Mapping[str, PoolDials]:
    """All that can be named beside these, which are plain values, whatever they are.

    One whose dials are wrong is known nevertheless: what is wrong with them is told once, where they stand.
    """
    own = pools if isinstance(pools, dict) else {}
    found = {str(name).lower(): _dials(given) for name, given in own.items()}
    return {**NAMED, **{name: dials for name, dials in found.items() if name not in NAMED}}


def _dials(given: object) -> PoolDials:
    try:
        return parse_dials(given if isinstance(given, dict) else {}).dials
    except DialError:
        return NAMED[DEFAULT_POOL]


def _pool_name(value: str) -> str:
    if value.lower() not in _KNOWN.get():
        raise ValueError(unknown("pool", value, _KNOWN.get()))
    return value.lower()


def _own_name(value: str) -> str:
    name = value.lower()
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,31}", name):
        raise ValueError(f"a pool's name is letters, digits and hyphens, as it is said in chat, not {value!r}")
    if name in NAMED or name in _TAKEN:
        raise ValueError(f"{name!r} is taken: give your pool another name")
    return name


PoolName: TypeAlias = Annotated[str, AfterValidator(_pool_name)]
OwnPoolName: TypeAlias = Annotated[str, AfterValidator(_own_name)]


class NamesPools(Section):
    """A section that knows every pool of its file."""

    _pools: Mapping[str, PoolDials] = PrivateAttr(default_factory=_KNOWN.get)

    def rules_of(self, dials: Mapping[str, object]) -> Ruleset:
        """What dials mean here. Raises DialError."""
        return parse_dials(dials, self._pools)
