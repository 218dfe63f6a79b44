"""What an account does to get games by itself: it challenges bots and joins tournaments, where the settings say so.

Everything here can be set anew while it runs.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack

from bridge.clocks import steady_ms
from bridge.lobby import Lobby
from bridge.matchmaking import Matchmaker
from bridge.name_lists import NameLists
from bridge.pairing import Pairing
from bridge.session import BotAccount
from bridge.settings.play import Play
from bridge.settings.tournaments import TournamentSettings
from bridge.tasks import Tasks
from bridge.tournaments import Entry, TournamentPolicy, Tournaments


class Seeking:
    """One account's search for games. `ours`: the ids of this configuration's accounts, which never meet by it."""

    def __init__(
        self,
        bot: BotAccount,
        lobby: Lobby,
        pairing: Pairing,
        play: Play,
        lists: NameLists,
        ours: Callable[[], frozenset[str]],
    ) -> None:
        self._lists = lists
        self._ours = ours
        self._block_lists: tuple[str, ...] = ()
        self.matchmaker = Matchmaker(bot, lobby, pairing, None, self._blocked, steady_ms)
        self.tournaments = Tournaments(lobby, pairing, None, steady_ms)
        self.set(play)

    def set(self, play: Play) -> None:
        """From the next challenge or joining on."""
        wanted, theirs = play.matchmaking, play.challenge
        also = frozenset(name.lower() for name in theirs.block_list)
        shared = wanted.include_challenge_block_list
        self._block_lists = wanted.online_block_list + (theirs.online_block_list if shared else ())
        policy = wanted.policy(play.pool_clocks, play.has_pool, also if shared else frozenset())
        self.matchmaker.policy = policy if wanted.allow_matchmaking else None
        self.tournaments.policy = tournament_policy(play.tournaments) if play.tournaments.wanted else None
        if wanted.allow_matchmaking:
            self._lists.names(self._block_lists)

    def _blocked(self) -> frozenset[str]:
        return self._ours() | self._lists.names(self._block_lists)

    def start(self, stack: AsyncExitStack) -> None:
        """Run both until the stack ends."""
        tasks = Tasks()
        stack.push_async_callback(tasks.end)
        tasks.spawn(self.matchmaker.run())
        tasks.spawn(self.tournaments.run())

    def drain(self) -> None:
        """Seek no more; what stands is taken back."""
        self.matchmaker.drain()
        self.tournaments.drain()


def tournament_policy(settings: TournamentSettings) -> TournamentPolicy:
    """What the settings mean."""
    entries = [
        Entry(entry.id, entry.team or "", entry.password.get_secret_value() if entry.password else "")
        for entry in settings.join
    ]
    return TournamentPolicy(tuple(entries), settings.teams, settings.listed, settings.early_s)
