"""An account's own entries in the journal: its challenges, and whether its stream is open."""

import structlog

from bridge import event_types
from bridge.errors import JournalError
from bridge.interfaces import Draft, Journal

log = structlog.get_logger("kirichess_account")


class AccountLog:
    """What is told of one account. The account goes on where the journal does not take it."""

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self._journal = journal

    async def store(self, kind: str, subject: str, data: dict[str, object]) -> bool:
        """False when the journal did not take it."""
        try:
            await self._journal.append([Draft(kind, subject, data, self.name)])
        except JournalError as error:
            log.error("event_not_stored", type=kind, subject=subject, account=self.name, cause=str(error))
            return False
        return True


class Connection:
    """Whether a stream is open. `trouble` says why it is not `online`; empty while it is."""

    def __init__(self, account: AccountLog) -> None:
        self._account = account
        self.online = self.was_online = False
        self.trouble = "not connected yet"

    async def went(self, *, online: bool, reason: str = "") -> None:
        """It opened, or was lost: a change is stored."""
        self.trouble = reason
        if online == self.online:
            return
        self.online = online
        self.was_online = self.was_online or online
        kind = event_types.ACCOUNT_ONLINE if online else event_types.ACCOUNT_OFFLINE
        await self._account.store(kind, "", {"reason": reason} if reason else {})
