"""`explain`: one game ply by ply."""

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.cli.console import complain, console
from bridge.cli.targets import DEFAULT_URL, parse_target
from bridge.cli.values import server_address
from bridge.errors import RecordError, UsageError

if TYPE_CHECKING:
    from bridge.records.game import Game


@click.command("explain")
@click.argument("target")
@click.option(
    "--game", "number", type=click.IntRange(1, sys.maxsize), metavar="N", help="Which game of the file. [default: 1]"
)
@click.option("--pool", metavar="NAME", help="Judge by this pool's rules.")
@click.option("--rules", "rules_file", metavar="FILE", type=click.Path(path_type=Path), help="Dials, as JSON or YAML.")
@click.option(
    "--url", callback=server_address, default=DEFAULT_URL, show_default=True, help="The server that game ids belong to."
)
def command(target: str, number: int | None, pool: str | None, rules_file: Path | None, url: str) -> None:
    """Explain one game: both clocks, the gap, each effect and its cause, and the ending.

    TARGET is what `adjudicate` takes. Amounts are seconds; `+5/−5` is what the mover's and the other clock change by.
    """
    from bridge.cli.rules_choice import RulesChoice
    from bridge.records.explanation import ending_lines, plies_table

    choice = RulesChoice(rules_file, pool)
    game = _pick(target, url, number)
    verdict = game.judge(choice.of(game))
    screen = console(sys.stdout)
    screen.print(f"{game.game_id}: {game.white or 'White'} v {game.black or 'Black'}")
    screen.print(plies_table(verdict))
    for line in ending_lines(verdict):
        screen.print(line)


def _pick(target: str, url: str, number: int | None) -> "Game":
    games = parse_target(target, url).games()
    wanted = number or 1
    game = next(islice(games, wanted - 1, None), None)
    if game is None:
        raise UsageError(f"{target} has no game {wanted}")
    if isinstance(game, RecordError):
        raise game
    if number is None and next(games, None) is not None:
        complain("the file holds more games: this is the first, --game N shows another")
    return game
