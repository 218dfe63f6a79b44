"""What Prometheus reads at /metrics: counters that follow the journal, histograms of our moves, gauges of what is now.

One registry a daemon. Names begin with `kirichess_`, times are seconds, labels come from closed lists or from the
configuration; should one grow all the same, what goes beyond `MOST_VALUES` is counted as `other`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from bridge import event_types
from bridge.errors import JournalError
from bridge.interfaces import Entry, Journal
from bridge.records.pool_told import pool_told
from bridge.stopwatch import Measures
from bridge.traffic import Traffic

log = structlog.get_logger("kirichess_metrics")

MOST_VALUES = 60
"""Of one label; six pools, nine presets and the reasons of rules §5 are far fewer."""

_ANSWER_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_THINK_BUCKETS_S = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)


@dataclass(frozen=True, slots=True)
class AccountNow:
    """One account: how many games run, and what its streams and requests have come to."""

    name: str
    online: bool
    games: int
    traffic: Traffic


@dataclass(frozen=True, slots=True)
class SinkNow:
    """One sink: how many entries it is behind, whether it works, what it gave up for good since the start."""

    name: str
    lag: int
    works: bool
    dead_letters: int


@dataclass(frozen=True, slots=True)
class Now:
    """The daemon as it is, asked at every scrape. `waiting_appends`: events the journal has not committed yet."""

    version: str
    ready: bool
    draining: bool
    journal_seq: int
    journal_works: bool
    waiting_appends: int
    accounts: Sequence[AccountNow]
    sinks: Sequence[SinkNow]


class Metrics:
    """The registry of one daemon. `now` is asked at every scrape."""

    def __init__(self, now: Callable[[], Now]) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(namespace="kirichess", registry=self._registry)
        self._registry.register(_NowCollector(now))
        self._events = self._counter("events", "Entries of the journal since the start.", "type")
        self._verdicts = self._counter("verdicts", "Final verdicts.", "pool", "reason")
        self._flags = self._counter("flags", "Games that a flag decided, by final verdict.", "cause", "forced")
        self._anomalies = self._counter("anomalies", "What did not add up in a game.", "kind")
        self._failures = self._counter("engine_failures", "Engines that died, kept silent or played nonsense.")
        self._think = self._histogram(
            "engine_think_seconds", "From asking an engine to its answer, fallbacks included.", _THINK_BUCKETS_S
        )
        self._answer = self._histogram(
            "line_to_move_seconds",
            "From a line of the stream to the move on its way, the engine's thinking left out.",
            _ANSWER_BUCKETS_S,
        )
        self._seen: dict[tuple[str, str], set[str]] = {}

    @property
    def measures(self) -> Measures:
        """Where games report how long their moves took."""
        return _Observed(self._think, self._answer)

    def expose(self) -> bytes:
        """The text that Prometheus reads (text exposition format 0.0.4)."""
        return generate_latest(self._registry)

    async def follow(self, journal: Journal) -> None:
        """Count what the journal is given from now on, until cancelled."""
        try:
            async for entry in journal.follow(await journal.last_seq()):
                self.count(entry)
        except JournalError as error:
            log.error("events_no_longer_counted", cause=str(error))

    def count(self, entry: Entry) -> None:
        """Take one entry into account."""
        self._events.labels(self._bounded("type", "type", entry.type)).inc()
        match entry.type:
            case event_types.VERDICT_FINAL:
                self._judged(_table(entry.data, "verdict"))
            case event_types.ANOMALY:
                self._anomalies.labels(self._bounded("anomaly", "kind", entry.data.get("kind"))).inc()
            case event_types.ENGINE_FAILED:
                self._failures.inc()

    def _judged(self, verdict: Mapping[str, object]) -> None:
        pool = self._bounded("verdict", "pool", pool_told(verdict))
        self._verdicts.labels(pool, self._bounded("verdict", "reason", verdict.get("reason"))).inc()
        flag = _table(verdict, "flag")
        if flag:
            forced = "true" if flag.get("forced") is True else "false"
            self._flags.labels(self._bounded("flag", "cause", flag.get("cause")), forced).inc()

    def _bounded(self, metric: str, label: str, value: object) -> str:
        known = self._seen.setdefault((metric, label), set())
        text = str(value or "unknown")[:60]
        if text not in known and len(known) >= MOST_VALUES:
            return "other"
        known.add(text)
        return text

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, namespace="kirichess", registry=self._registry)

    def _histogram(self, name: str, text: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(name, text, namespace="kirichess", registry=self._registry, buckets=buckets)


class _Observed:
    """Measures into histograms."""

    def __init__(self, think: Histogram, answer: Histogram) -> None:
        self._think = think
        self._answer = answer

    def thought(self, seconds: float) -> None:
        self._think.observe(seconds)

    def answered(self, seconds: float) -> None:
        self._answer.observe(seconds)


class _NowCollector(Collector):
    """Gauges, and counters that others keep as plain numbers, read when they are asked for."""

    def __init__(self, now: Callable[[], Now]) -> None:
        self._now = now

    def describe(self) -> Iterable[Metric]:
        """Nothing: at registration the daemon cannot be asked yet."""
        return ()

    def collect(self) -> Iterable[Metric]:
        now = self._now()
        yield InfoMetricFamily("kirichess_build", "This program.", {"version": now.version})
        yield _gauge("ready", "1 once every account is known and every engine has started.", now.ready)
        yield _gauge("draining", "1 while no new games are taken.", now.draining)
        yield _gauge("journal_sequence", "The number of the newest entry.", now.journal_seq)
        yield _gauge("journal_working", "0 while the journal cannot be written.", now.journal_works)
        yield _gauge("journal_waiting_appends", "Appends that wait for the next transaction.", now.waiting_appends)
        yield from _of_accounts(now.accounts)
        yield from _of_sinks(now.sinks)


def _of_accounts(accounts: Sequence[AccountNow]) -> Iterable[Metric]:
    each = ["account"]
    online = GaugeMetricFamily("kirichess_account_online", "1 while the account's stream is open.", labels=each)
    games = GaugeMetricFamily("kirichess_games_running", "Games of the account that run.", labels=each)
    by_stream, by_lane = ["account", "stream"], ["account", "lane"]
    age = GaugeMetricFamily(
        "kirichess_stream_age_seconds", "Since the last sign of life of the most silent stream.", labels=by_stream
    )
    followed = GaugeMetricFamily("kirichess_streams", "Streams that are followed.", labels=by_stream)
    again = CounterMetricFamily("kirichess_stream_reconnects", "Streams that were opened again.", labels=by_stream)
    limited = CounterMetricFamily("kirichess_rate_limited", "Answers of 429 by lane.", labels=by_lane)
    waiting = GaugeMetricFamily("kirichess_requests_waiting", "Requests that wait for their turn.", labels=by_lane)
    for account in accounts:
        online.add_metric([account.name], account.online)
        games.add_metric([account.name], account.games)
        figures: list[tuple[GaugeMetricFamily | CounterMetricFamily, Mapping[str, float]]] = [
            (age, account.traffic.ages_s()),
            (followed, account.traffic.followed()),
            (again, account.traffic.reconnects),
            (limited, account.traffic.limited),
            (waiting, account.traffic.waiting()),
        ]
        for family, values in figures:
            for label, value in values.items():
                family.add_metric([account.name, label], value)
    return online, games, age, followed, again, limited, waiting


def _of_sinks(sinks: Sequence[SinkNow]) -> Iterable[Metric]:
    lag = GaugeMetricFamily("kirichess_sink_lag_events", "Entries the sink has yet to take.", labels=["sink"])
    works = GaugeMetricFamily("kirichess_sink_working", "0 while the sink's delivery fails.", labels=["sink"])
    dead = CounterMetricFamily("kirichess_dead_letters", "Entries that were given up for good.", labels=["sink"])
    for sink in sinks:
        lag.add_metric([sink.name], sink.lag)
        works.add_metric([sink.name], sink.works)
        dead.add_metric([sink.name], sink.dead_letters)
    return lag, works, dead


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"kirichess_{name}", text, value=value)


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}
