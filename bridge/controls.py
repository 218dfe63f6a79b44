"""What the monitor may have the program do: each thing within what a bot account may do anyway."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.clocks import steady_ms
from bridge.errors import UsageError
from bridge.event_types import VERDICT_CHANGED, VERDICT_FINAL
from bridge.interfaces import FinishedGame, Journal, Resign
from bridge.judged_again import judged_again
from bridge.lobby import Lobby
from bridge.platforms.lichess.platform import Lichess
from bridge.tracker import Tracker
from bridge.verdicts import standing
from bridge.web.control import Done
from bridge.web.sheet import game_entries


@dataclass(frozen=True, slots=True)
class DaemonControls:
    """`lobbies` and `platforms` are asked at each use; `read_again` None: there is no file to read."""

    journal: Journal
    lobbies: Callable[[], Sequence[Lobby]]
    platforms: Callable[[], Sequence[Lichess]]
    stop_taking: Callable[[], None]
    read_again: Callable[[], Callable[[], None] | None]

    async def resign(self, game_id: str) -> Done:
        """Give up a running game of one of our bots. Raises UsageError, PlatformError."""
        for lobby in self.lobbies():
            if game_id in (*lobby.games, *lobby.parked):
                await lobby.bot.platform.perform(Resign(game_id))
                return Done("resigned", f"{lobby.name} resigns game {game_id}")
        raise UsageError(f"no bot of ours is playing a game {game_id}")

    def drain(self) -> Done:
        """Take no more games, and end when the running ones are over."""
        self.stop_taking()
        return Done("draining", "no new games; the program ends when the running ones are over")

    def reload(self) -> Done:
        """Have the configuration read again. Raises UsageError."""
        read_again = self.read_again()
        if read_again is None:
            raise UsageError("this program was started without a configuration file")
        read_again()
        return Done("rereading", "the configuration is read again; the log tells what came of it")

    async def adjudicate(self, game_id: str, why: str = "on request") -> Done:
        """Judge a finished game by the platform's archive; a result that differs from the standing one is told, and one
        that is certain now.

        Raises:
            UsageError: the game has no final verdict yet, none of our platforms has it, or it would be judged worse.
            BridgeError: the archive or the journal cannot be read.
        """
        entries = await game_entries(self.journal, game_id)
        told = standing(entries)
        if told is None:
            raise UsageError(f"game {game_id} has no final verdict yet, so there is nothing to judge again")
        account = next(entry.account for entry in entries if entry.type == VERDICT_FINAL)
        tracker = Tracker(game_id, account, self.journal, steady_ms)
        try:
            await tracker.resume()
            judged = judged_again(entries, told, await self._finished(game_id, tracker.ledger.setup.site))
            before = await self.journal.last_seq()
            await tracker.conclude(judged, f"judged again {why}, from the source {judged.setup.source}")
        finally:
            tracker.close()
        changed = await self.journal.read(subject=game_id, types=(VERDICT_CHANGED,), after=before, limit=1)
        text = f"game {game_id}: {judged.outcome.result}, {'changed' if changed else 'as it was'}"
        return Done("changed" if changed else "unchanged", text)

    async def _finished(self, game_id: str, site: str) -> FinishedGame:
        for platform in self.platforms():
            if not site or site.startswith(f"{platform.url}/"):
                return await platform.finished(game_id)
        raise UsageError(f"game {game_id} is not from a platform of this configuration")
