"""`bill`: what winning an ending costs, and whether the clock can pay it."""

import click

from bridge.cli.values import finite
from bridge.errors import RecordError, UsageError


@click.command("bill")
@click.argument("fen")
@click.option("--side", type=click.Choice(["white", "black"]), help="Who wants to win. [default: the stronger side]")
@click.option(
    "--clock",
    "clock_s",
    type=click.FloatRange(0, 10**9),
    callback=finite,
    metavar="SECONDS",
    help="That side's KiriChess clock.",
)
def command(fen: str, side: str | None, clock_s: float | None) -> None:
    """Price an ending: the tolls that textbook play pays until checkmate.

    Approximate, at the pools' tolls and without check chips (rules §7). Thinking is not counted, and the mating move's
    own toll need not be covered, since checkmate outranks the flag. Quote the FEN.
    """
    import chess

    from bridge.rules.bills import ENDINGS, conversion_bill, ending_name, stronger_side
    from bridge.rules.pools import POOLS
    from bridge.rules.position import start_board

    try:
        board = start_board(fen)
    except RecordError as error:
        raise UsageError(str(error)) from error
    winner = stronger_side(board, POOLS["anchor"]) if side is None else side == "white"
    if winner is None:
        raise UsageError("neither side is stronger: say who wants to win with --side white or --side black")
    name = chess.COLOR_NAMES[winner].title()
    bill = conversion_bill(board, winner)
    if bill is None:
        click.echo(f"{name}: {ending_name(board, winner)} is not in the list of priced endings ({', '.join(ENDINGS)}).")
        return
    click.echo(f"{name}: {bill.ending} costs about {bill.seconds} s of tolls in {bill.moves} moves.")
    if clock_s is None:
        return
    needed_s = bill.seconds - bill.last_toll_s
    if bill.can_be_paid(round(clock_s * 1000)):
        click.echo(f"{name} can afford it: {clock_s - needed_s:g} s are left to think with.")
    else:
        click.echo(
            f"{name} cannot afford it: the clock must hold more than {needed_s} s before thinking, not {clock_s:g} s."
        )
