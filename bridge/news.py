"""What the parts of one game have stored beside its ledger.

They are given these and no methods of the session: they would keep each other, and all of the game, until the garbage
collector comes by.
"""

import structlog

from bridge import event_types, history
from bridge.errors import JournalError
from bridge.interfaces import Draft, Journal
from bridge.outbox import Outbox
from bridge.records.evaluations import Evaluation, to_line
from bridge.tasks import Tasks

log = structlog.get_logger("kirichess_session")


def keep_thought(journal: Journal, game_id: str, account: str, thought: Evaluation) -> None:
    """What our engine thought of a move, told to nobody before the game is over (fair play)."""
    journal.keep(game_id, f"engine:{account}", to_line(thought), 0)


def engine_failed(outbox: Outbox, game_id: str, account: str, cause: str) -> None:
    """An engine gave no move."""
    outbox.put([Draft(event_types.ENGINE_FAILED, game_id, {"cause": cause}, account)])


def draw_stood(tasks: Tasks, journal: Journal, account: str, game_id: str) -> None:
    """The draw that we offered stands."""
    tasks.spawn(_remember_draw(journal, account, game_id))


async def _remember_draw(journal: Journal, account: str, game_id: str) -> None:
    try:
        await history.remember_draw(journal, account, game_id)
    except JournalError as error:
        # After a restart it may be offered once more, which harms nobody.
        log.warning("draw_not_remembered", game=game_id, cause=str(error))
