"""What must hold after any number of kills: of the journal, the webhooks, the chat and the verdicts."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import chess

from bridge import event_types
from bridge.arena import Arena
from bridge.interfaces import Entry
from bridge.rules.pools import named
from bridge.rules.snapshot import Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge
from tests.restart.opponents import ABORT_S, BOT, Watch

ARCHIVE_MS = 40
"""How finely the archive knows the clocks of plies that nobody read."""
FIRST_MOVE_MS = 3000
_ABORT_LATE_MS = 3000


@dataclass
class Receiver:
    """What a webhook's receiver was sent: the bodies by id, in order of their first coming."""

    bodies: dict[str, str] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)

    def take(self, event_id: str, body: str) -> None:
        """One post."""
        self.times[event_id] += 1
        if self.bodies.setdefault(event_id, body) != body:
            self.changed.append(event_id)

    def count(self, kind: str) -> int:
        """How many different events of a type came."""
        return sum(json.loads(body)["type"] == kind for body in self.bodies.values())


@dataclass
class Findings:
    """What is wrong, one line each, and figures for the table."""

    wrong: list[str] = field(default_factory=list)
    figures: dict[str, object] = field(default_factory=dict)


def undisturbed(watch: Watch) -> Verdict:
    """The verdict of the same game, had every line been read at once: from the arena's own clocks."""
    game = watch.game
    assert game.clock is not None
    control = TimeControl(1000 * game.clock.control.limit_s, 1000 * game.clock.control.increment_s)
    setup = Setup(
        game.id, named(watch.pool), "stream", 10, start_fen=game.initial_fen, time_control=control,
        free_first_moves=True,
    )  # fmt: skip
    ends = (10 * game.clock.hand(chess.WHITE).remaining_cs, 10 * game.clock.hand(chess.BLACK).remaining_cs)
    clocks = [10 * cs for cs in game.clocks_cs]
    return judge(setup, Snapshot(tuple(game.moves), game.status.key, game.winner, *ends, clocks_ms=clocks))


def prove(
    entries: Sequence[Entry], receiver: Receiver, watches: Mapping[str, Watch], arena: Arena, kills_ms: Sequence[int]
) -> Findings:
    """Everything at once."""
    findings = Findings()
    by_game: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_game[entry.subject].append(entry)
    numbers = [entry.seq for entry in entries]
    if numbers != list(range(1, len(numbers) + 1)):
        findings.wrong.append("the journal's numbers have holes or doubles")
    findings.wrong += _webhooks(entries, receiver)
    exact = uncertain = 0
    for watch in watches.values():
        mine = by_game[watch.game.id]
        findings.wrong += [f"{watch.game.id}: {what}" for what in _game(watch, mine, kills_ms)]
        findings.wrong += [f"{watch.game.id}: {what}" for what in _chat(watch, arena)]
        exact += _is_exact(watch, mine)
        uncertain += not (_final(mine) or {}).get("certain")
    waits = sorted(wait for watch in watches.values() for wait in watch.waited_ms)
    ends = Counter(watch.game.status.key for watch in watches.values())
    offers = sum(f"{chess.COLOR_NAMES[w.bot].title()} offers draw" in _lines(w, arena, "lichess") for w in watches.values())  # fmt: skip  # noqa: E501
    findings.figures = {
        "games": f"{len(watches)} ({', '.join(f'{count} {end}' for end, count in sorted(ends.items()))})",
        "plies played": sum(watch.game.plies for watch in watches.values()),
        "openings of game streams": sum(len(watch.opened_ms) for watch in watches.values()),
        "first moves after an opening": f"{len(waits)}, median {waits[len(waits) // 2]} ms, longest {waits[-1]} ms",
        "verdicts equal to the undisturbed run's": f"{len(watches)}, of which {exact} to the millisecond, the others within {ARCHIVE_MS} ms (plies nobody read: the archive's clocks); {uncertain} not certain (unread plies before a takeback)",  # noqa: E501
        "takebacks": sum(watch.takebacks for watch in watches.values()),
        "draw offers of the bot": offers,
        "chat lines of the bot": sum(len(_lines(watch, arena, BOT)) for watch in watches.values()),
        "events stored": len(entries),
        "webhook posts": f"{receiver.times.total()}, of which {receiver.times.total() - len(receiver.bodies)} repeats, each with its first id and body",  # noqa: E501
    }
    return findings


def _webhooks(entries: Sequence[Entry], receiver: Receiver) -> Iterator[str]:
    for event_id in receiver.changed:
        yield f"webhook {event_id} came with two bodies"
    stored = {entry.id: entry for entry in entries}
    for event_id in receiver.bodies.keys() - stored.keys():
        yield f"webhook {event_id} tells what the journal does not have"
    for event_id in stored.keys() - receiver.bodies.keys():
        yield f"event {event_id} ({stored[event_id].type}) never came to the webhook"
    order: defaultdict[str, list[int]] = defaultdict(list)
    for event_id in receiver.bodies:
        if event_id in stored:
            order[stored[event_id].subject].append(stored[event_id].seq)
    for subject, numbers in order.items():
        if numbers != sorted(numbers):
            yield f"webhooks of {subject or 'the account'} came out of order"


def _game(watch: Watch, mine: Sequence[Entry], kills_ms: Sequence[int]) -> Iterator[str]:
    counts = Counter(entry.type for entry in mine)
    for kind in (event_types.GAME_STARTED, event_types.GAME_FINISHED, event_types.VERDICT_FINAL):
        if counts[kind] != 1:
            yield f"{counts[kind]} times {kind}"
    moves: list[str] = []
    for entry in mine:
        if entry.type == event_types.GAME_PLY:
            moves.append(str(entry.data["uci"]))
        elif entry.type == event_types.GAME_TAKEBACK:
            plies = entry.data["plies"]
            assert isinstance(plies, int)
            del moves[plies:]
    if moves != watch.game.moves:
        yield f"stored {' '.join(moves)}, played {' '.join(watch.game.moves)}"
    if counts[event_types.GAME_TAKEBACK] > watch.takebacks:
        yield f"{counts[event_types.GAME_TAKEBACK]} takebacks stored, {watch.takebacks} made"
    for wait_ms in watch.waited_ms:
        if wait_ms > FIRST_MOVE_MS:
            yield f"the first move came {wait_ms} ms after it was due"
    yield from _verdict(watch, mine)
    if watch.idle:
        yield from _abort(watch, mine, kills_ms)


def _verdict(watch: Watch, mine: Sequence[Entry]) -> Iterator[str]:
    told = _final(mine)
    if told is None:
        return
    if not told["certain"] and watch.takebacks:
        # What nobody read of plies older than a takeback no source tells any more (`rules.refine`).
        return
    expected = undisturbed(watch)
    judged, wanted = (told["result"], told["reason"]), (expected.outcome.result, expected.outcome.reason)
    if judged != wanted:
        yield f"judged {' '.join(map(str, judged))}, undisturbed {' '.join(wanted)}"
    if not told["certain"]:
        yield "its verdict is not certain"
    for name, clock_ms in (("white_ms", expected.white_ms), ("black_ms", expected.black_ms)):
        found_ms = told[name]
        if not isinstance(found_ms, int) or abs(found_ms - clock_ms) > ARCHIVE_MS:
            yield f"{name} {found_ms}, undisturbed {clock_ms}"


def _is_exact(watch: Watch, mine: Sequence[Entry]) -> bool:
    told, expected = _final(mine), undisturbed(watch)
    return told is not None and (told["white_ms"], told["black_ms"]) == (expected.white_ms, expected.black_ms)


def _final(mine: Sequence[Entry]) -> Mapping[str, object] | None:
    finals = [entry.data["verdict"] for entry in mine if entry.type == event_types.VERDICT_FINAL]
    return finals[0] if finals and isinstance(finals[0], dict) else None


def _abort(watch: Watch, mine: Sequence[Entry], kills_ms: Sequence[int]) -> Iterator[str]:
    """Aborted when its time was up, counted from its first start, or soon after the next one."""
    if watch.ended_by_us or watch.over_ms is None:
        return  # with the run
    due_ms = next(entry.time_ms for entry in mine if entry.type == event_types.GAME_STARTED) + 1000 * ABORT_S
    if watch.over_ms < due_ms - 100:
        yield f"aborted {due_ms - watch.over_ms} ms early"
    for opened_ms in watch.opened_ms:
        killed_ms = min((at_ms for at_ms in kills_ms if at_ms > opened_ms), default=2**62)
        latest_ms = max(opened_ms, due_ms) + _ABORT_LATE_MS
        if killed_ms > latest_ms and watch.over_ms > latest_ms:
            yield f"aborted {watch.over_ms - due_ms} ms after its time was up"


def _chat(watch: Watch, arena: Arena) -> Iterator[str]:
    for text, times in Counter(_lines(watch, arena, BOT)).items():
        if times > 1:
            yield f"said {times} times: {text}"
    falls = sum("flag has fallen" in line for line in _lines(watch, arena, BOT))
    if falls > 1:
        yield f"a fall announced {falls} times"
    offers = _lines(watch, arena, "lichess").count(f"{chess.COLOR_NAMES[watch.bot].title()} offers draw")
    if offers > 1:
        yield f"a draw offered {offers} times"


def _lines(watch: Watch, arena: Arena, user: str) -> list[str]:
    return [str(line["text"]) for line in arena.hall.chats[watch.game.id, "player"] if line["user"] == user]
