"""`pools`: the rated pools and what their figures mean."""

import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.cli.console import console

if TYPE_CHECKING:
    from bridge.rules.dials import Dials

_FEELS_LIKE = {
    "winder": "1m bullet",
    "ratchet": "2m bullet",
    "fulcrum": "3m blitz",
    "anchor": "5m blitz",
    "mainspring": "10m rapid",
    "eclipse": "15m rapid",
}
"""Rules §7."""


@click.command("pools")
@click.option("-c", "--config", type=click.Path(path_type=Path), help="A configuration file: the pools of its own too.")
def command(config: Path | None) -> None:
    """Show the pools: dials, thinking budget, ceiling and safe platform clock.

    Thinking budget: seconds a move over 40 moves, after tolls and captures. Ceiling: how long a game can last in
    practice. Safe platform clock: the ordinary time control whose flag does not fall before the KiriChess flag.
    """
    from rich.table import Table

    from bridge.rules.budget import effective_ceiling_s, safe_platform_ms, thinking_budget_s
    from bridge.rules.clock_text import clock_text
    from bridge.rules.pools import POOLS, PRESETS

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in (
        "pool",
        "time",
        "economy",
        "captures",
        "thinking budget",
        "ceiling",
        "safe platform clock",
        "feels like",
    ):
        table.add_column(name)
    for name, dials in {**POOLS, **(_own(config) if config is not None else {})}.items():
        safe_ms = safe_platform_ms(dials)
        table.add_row(
            name,
            f"{_number(dials.base_s / 60)}+{_number(dials.increment_s)}",
            dials.economy or f"{_number(dials.gain)}/{_number(dials.loss)}",
            f"C{_number(dials.capture_multiplier)}",
            f"{float(thinking_budget_s(dials)):.1f} s a move",
            f"{float(effective_ceiling_s(dials) / 60):.1f} min",
            f"{clock_text(safe_ms)}, so {-(-safe_ms // 60_000)}+0",
            _FEELS_LIKE.get(name, ""),
        )
    screen = console(sys.stdout)
    screen.print(table)
    dials = next(iter(POOLS.values()))
    screen.print("Seconds at C1      " + "  ".join(f"{piece} {_number(s)}" for piece, s in dials.values_s.items()))
    screen.print("Tolls in seconds   " + "  ".join(f"{piece} {_number(s)}" for piece, s in dials.tolls_s.items()))
    screen.print(
        f"Check chip         {_number(dials.chip_s)} s, double check times {_number(dials.double_check_factor)}"
    )
    screen.print(f"Custom presets     {', '.join(PRESETS)} (unrated)")


def _own(config: Path) -> "Mapping[str, Dials]":
    """Raises SettingsError."""
    from bridge.rules.pools import parse_dials
    from bridge.settings import load

    return {name: parse_dials(dials).dials for name, dials in load(config, mode="check").pools.items()}


def _number(value: Fraction) -> str:
    return f"{float(value):g}"
