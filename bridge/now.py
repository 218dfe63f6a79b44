"""The daemon's parts as its metrics show them, at one moment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from bridge.feed import Feed
from bridge.journal import SqlJournal
from bridge.lobby import Lobby
from bridge.metrics import AccountNow, Now, SinkNow
from bridge.platforms.lichess.platform import Lichess
from bridge.web.status import StatusReport


def now(
    report: StatusReport,
    platforms: Sequence[Lichess],
    lobbies: Sequence[Lobby],
    feeds: Sequence[Feed],
    journal: SqlJournal,
) -> Now:
    """What stands where."""
    return Now(
        version=report.version,
        ready=report.ready,
        draining=report.draining,
        journal_seq=journal.seq,
        journal_works=not journal.trouble,
        waiting_appends=journal.waiting,
        accounts=tuple(_accounts(platforms, {lobby.name: lobby for lobby in lobbies})),
        sinks=tuple(SinkNow(feed.name, journal.seq - feed.seq, not feed.cause, feed.given_up) for feed in feeds),
    )


def _accounts(platforms: Sequence[Lichess], lobbies: dict[str, Lobby]) -> Iterator[AccountNow]:
    """One that only watches may have no name: it is called after its server; no two are called alike."""
    seen: Counter[str] = Counter()
    for platform in platforms:
        name = platform.name or str(urlsplit(platform.url).hostname)
        lobby = lobbies.get(platform.name)
        seen[name] += 1
        label = name if seen[name] == 1 else f"{name} {seen[name]}"
        online = lobby.online if lobby is not None else platform.alive
        yield AccountNow(label, online, len(lobby.games) if lobby is not None else 0, platform.traffic)
