"""What the journal has of a game, computed once more from the platform's lines and held against what is stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bridge import event_types
from bridge.errors import PlatformError, RecordError
from bridge.interfaces import Entry, FinishedGame, GameInfo, GameOpened, GameState, Player
from bridge.journal.raw import Block
from bridge.platforms.lichess.replay import finished_again, read_again
from bridge.recompute import Difference, Recomputed, against_events, against_source, against_verdict, stored_events
from bridge.records import fields
from bridge.rules.events import Agreed, Ended, Event, Started
from bridge.rules.ledger import Ledger
from bridge.rules.refine import refine
from bridge.rules.snapshot import Setup, Snapshot
from bridge.rules.verdict import Verdict, judge, verdict
from bridge.tracker import setup_of

EXPORT = "export"


_JUDGED_WITHIN_MS = 300_000
"""From the end of a game to its final verdict, the archive's delay included."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a journal should have: final verdicts of games that were over some time before `now_ms`, and every one that
    came before the missing entry `gone`, if one is missing; lines that came since `raw_since_ms` (None: never)."""

    now_ms: int = 0
    gone: int = 0
    raw_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """`differences` is empty where all agrees; `missing` says why the platform's lines could not be asked, if so."""

    game: str
    differences: Sequence[Difference]
    missing: str = ""


def prove(game: str, entries: Sequence[Entry], blocks: Sequence[Block], kept: Kept = Kept()) -> Proof:
    """Stored clocks against stored events, stored events against the platform's lines, verdicts against both."""
    differences: list[Difference] = []
    missing = ""
    try:
        differences += _unjudged(game, entries, kept)
        differences += against_events(game, entries, _archived_clocks(blocks, entries), _archived_after(blocks))
        found = recompute(game, entries, blocks)
        if isinstance(found, str):
            missing = found
        else:
            differences += against_source(game, [event for _, event in _settled(entries)], found.events)
            differences += _against_archive(game, entries, blocks)
            missing = _unarchived(entries, blocks)
        if missing and _lines_are_kept(entries, kept):
            differences.append(Difference(game, 0, missing))
    except (RecordError, PlatformError) as error:
        differences.append(Difference(game, 0, str(error)))
    except Exception as error:  # noqa: BLE001  # whatever stumbles over what is stored, none of it is as it was written
        differences.append(Difference(game, 0, f"cannot be computed from what is stored: {error!r}"))
    return Proof(game, differences, missing)


def _unjudged(game: str, entries: Sequence[Entry], kept: Kept) -> Iterator[Difference]:
    ends = [entry for entry, event in stored_events(entries) if isinstance(event, Ended)]
    if not ends or any(entry.type == event_types.VERDICT_FINAL for entry in entries):
        return
    if kept.gone > ends[-1].seq or kept.now_ms - ends[-1].time_ms > _JUDGED_WITHIN_MS:
        yield Difference(game, 0, "is over, and its final verdict is not stored")


def _lines_are_kept(entries: Sequence[Entry], kept: Kept) -> bool:
    return kept.raw_since_ms is not None and entries[0].time_ms >= kept.raw_since_ms


def _unarchived(entries: Sequence[Entry], blocks: Sequence[Block]) -> str:
    """A final verdict from the archive, and what the archive said is not there."""
    final = _final(entries)
    setup = next(event.setup for _, event in stored_events(entries) if isinstance(event, Started))
    from_lines = final is None or _source(final) == setup.source
    return "" if from_lines or _archived(blocks, setup) is not None else "what the platform's archive said is not kept"


def recompute(game: str, entries: Sequence[Entry], blocks: Sequence[Block]) -> Recomputed | str:
    """The game's ledger from its platform's lines; a text where they are not all there: why."""
    stored = _settled(entries)
    started = next(((entry, event) for entry, event in stored if isinstance(event, Started)), None)
    if started is None:
        raise RecordError(f"game {game}: the journal has no start of it")
    entry, event = started
    ours = _read_by(entry.account, blocks)
    if hole := _hole(ours, entry.time_ms):
        return hole
    found = Recomputed(event.setup)
    for number, run in enumerate(_runs(ours)):
        if number and not run[0].lines[0].text:
            found.resume([event for entry, event in stored if entry.seq <= run[0].after])
        found.take(_snapshots(event.setup, run), from_first=not entry.account)
    return found


def judged(found: Recomputed, entries: Sequence[Entry], blocks: Sequence[Block]) -> Verdict:
    """The verdict from the finest record that is kept: the archive's, where the game was judged from that."""
    final = _final(entries)
    archived = _archived(blocks, found.ledger.setup)
    if archived is not None and final is not None and _source(final) == archived.source:
        return _from_archive(archived, found.ledger.setup)
    clocks_ms = archived.snapshot.clocks_ms if archived is not None else None
    ledger = Ledger.replay(refine(found.events, clocks_ms)) if clocks_ms else found.ledger
    return verdict(ledger, final=ledger.platform is not None)


def _settled(entries: Sequence[Entry]) -> list[tuple[Entry, Event]]:
    """As if the game had begun by the rules that were agreed on in chat: the platform's lines know nothing of them."""
    stored = stored_events(entries)
    rules = next((event.rules for _, event in reversed(stored) if isinstance(event, Agreed)), None)
    if rules is None:
        return stored
    return [
        (entry, Started(replace(event.setup, rules=rules)) if isinstance(event, Started) else event)
        for entry, event in stored
        if not isinstance(event, Agreed)
    ]


def _read_by(account: str, blocks: Sequence[Block]) -> Sequence[Block]:
    """Of two accounts in one game only one's reading made the events; a watched game ("") is read in one way."""
    return [block for block in blocks if not account or block.source in (f"bot:{account}", EXPORT)]


def _hole(blocks: Sequence[Block], started_ms: int) -> str:
    if not blocks:
        return "the platform's lines are not kept"
    if blocks[0].first != 0 or blocks[0].lines[0].wall_ms > started_ms:
        return "the first of the platform's lines are not kept any more"
    ends: dict[str, int] = {}
    for block in blocks:
        if block.first not in (0, ends.get(block.source)):
            return "some of the platform's lines were not stored"
        ends[block.source] = block.first + len(block.lines)
    return ""


def _runs(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The blocks that one reader read, from its first line on."""
    run: list[Block] = []
    for block in blocks:
        opens = block.first == 0 and not block.lines[0].text
        if run and (opens or block.source != run[0].source):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _snapshots(setup: Setup, run: Sequence[Block]) -> Iterator[Snapshot]:
    source = run[0].source
    lines = [line for block in run for line in block.lines]
    if source == EXPORT:
        for line in lines:
            yield finished_again(line.text, setup.site.rpartition("/")[0]).snapshot
        return
    for message in read_again(_info(setup), source, ((line.text, line.at_ms) for line in lines)):
        if isinstance(message, GameOpened | GameState):
            yield message.snapshot


def _info(setup: Setup) -> GameInfo:
    return GameInfo(
        id=setup.game_id,
        white=Player(name=setup.white),
        black=Player(name=setup.black),
        variant="chess960" if setup.chess960 else "fromPosition" if setup.start_fen else "standard",
        time_control=setup.time_control,
        start_fen=setup.start_fen,
        url=setup.site,
    )


def _archived(blocks: Sequence[Block], setup: Setup) -> FinishedGame | None:
    kept = [line for block in blocks if block.source == EXPORT for line in block.lines]
    return finished_again(kept[-1].text, setup.site.rpartition("/")[0]) if kept else None


def _archived_clocks(blocks: Sequence[Block], entries: Sequence[Entry]) -> Sequence[int | None]:
    """What final verdicts were refined by; empty where no archive was asked."""
    setup = next((event.setup for _, event in stored_events(entries) if isinstance(event, Started)), None)
    archived = _archived(blocks, setup) if setup is not None else None
    return (archived.snapshot.clocks_ms or ()) if archived is not None else ()


def _archived_after(blocks: Sequence[Block]) -> int:
    """The number of the entry after which the archive first answered."""
    return min((block.after for block in blocks if block.source == EXPORT), default=0)


def _from_archive(finished: FinishedGame, setup: Setup) -> Verdict:
    return judge(setup_of(finished.info, setup.rules, finished.source, finished.precision_ms), finished.snapshot)


def _final(entries: Sequence[Entry]) -> Mapping[str, object] | None:
    """The data of the last final verdict."""
    found = None
    for entry in entries:
        told = entry.data.get("verdict")
        if entry.type in event_types.VERDICTS and isinstance(told, dict) and told.get("final") is True:
            found = entry.data
    return found


def _against_archive(game: str, entries: Sequence[Entry], blocks: Sequence[Block]) -> Iterator[Difference]:
    final = _final(entries)
    setup = next(event.setup for _, event in _settled(entries) if isinstance(event, Started))
    archived = _archived(blocks, setup)
    if final is not None and archived is not None and _source(final) == archived.source:
        yield from against_verdict(game, final, _from_archive(archived, setup))


def _source(final: Mapping[str, object]) -> object:
    """What a final verdict was made from."""
    return (fields.mapping(final, "verdict") or {}).get("clock_source")
