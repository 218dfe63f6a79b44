"""How an account plays: engine, pools, and the few habits it has."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bridge.decisions.chat_lines import MAX_CHARACTERS, without_links
from bridge.decisions.pool_choice import (
    DEFAULT_BY_TIME_CONTROL,
    ChallengeRule,
    Kind,
    PoolRules,
    Terms,
    choose_pool,
    parse_time_control,
)
from bridge.errors import DialError
from bridge.rules.pools import Ruleset
from bridge.rules.snapshot import TimeControl
from bridge.settings.base import Dials, Many, Section, Text, TimeControlLabel
from bridge.settings.challenge import ChallengeSettings
from bridge.settings.correspondence import Correspondence
from bridge.settings.draw_or_resign import DrawOrResign
from bridge.settings.engine_choice import EngineChoice
from bridge.settings.matchmaking import MatchmakingSettings
from bridge.settings.pool_names import NamesPools, PoolName
from bridge.settings.sources import LichessBotTbs, OnlineMoves, Polyglot
from bridge.settings.tournaments import TournamentSettings


class PoolOfChallenge(Section):
    """A pool for a kind of challenge; what is left out may be anything."""

    variant: Text | None = Field(default=None, description="standard, chess960 or fromPosition.")
    speed: Literal["ultraBullet", "bullet", "blitz", "rapid", "classical"] | None = Field(
        default=None, description="As Lichess names it."
    )
    opponent: Kind | None = Field(default=None, description="human or bot.")
    pool: PoolName = Field(description="The pool of these games.")


class PoolTable(Section):
    """A pool for each opponent, else kind of challenge, else time control; other challenges are declined."""

    by_time_control: dict[TimeControlLabel, PoolName] = Field(
        default_factory=lambda: dict(DEFAULT_BY_TIME_CONTROL),
        min_length=1,
        description="Time control as Lichess shows it, minutes+seconds, to pool.",
    )
    by_opponent: dict[str, PoolName] = Field(
        default_factory=dict, description="Opponent's name to pool, whatever the time control."
    )
    by_challenge: Many[PoolOfChallenge] = Field(default=(), description="Kinds of challenges; the first that fits.")


def _pool_form(value: object) -> str:
    return "<table>" if isinstance(value, dict | PoolTable) else "<name>"


PoolSetting: TypeAlias = Annotated[
    Annotated[PoolName, Tag("<name>")] | Annotated[PoolTable, Tag("<table>")], Discriminator(_pool_form)
]


def _no_link(line: str) -> str:
    if without_links(line) != line:
        raise ValueError("no links are said in chat: leave the address out")
    return line


Line: TypeAlias = Annotated[str, Field(max_length=MAX_CHARACTERS), AfterValidator(_no_link)]


class Greeting(Section):
    """Lines of the account's own, with the fields {opponent}, {me}, {pool}, {engine}, {cpu} and {ram}."""

    pool: bool = Field(default=True, description="Whether pool and rules are told in chat at the start of a game.")
    hello: Line = Field(default="", description="Said to the opponent at the start.")
    goodbye: Line = Field(default="", description="Said to the opponent at the end.")
    hello_spectators: Line = Field(default="", description="Said to the spectators at the start.")
    goodbye_spectators: Line = Field(default="", description="Said to the spectators at the end.")


def _greeting_form(value: object) -> str:
    return "<lines>" if isinstance(value, dict | Greeting) else "<switch>"


GreetingSetting: TypeAlias = Annotated[
    Annotated[bool, Tag("<switch>")] | Annotated[Greeting, Tag("<lines>")], Discriminator(_greeting_form)
]


class Play(NamesPools):
    """Left out for an account that only watches. The account must have the title BOT."""

    engine: Text = Field(description="One of the engines below, by its name.")
    engines: Many[EngineChoice] = Field(default=(), description="Other engines for some games.")
    pool: PoolSetting = Field(
        default_factory=PoolTable,
        description="One pool for every game, or a table by_time_control; left out: each pool at its own control.",
    )
    polyglot: Polyglot = Field(default_factory=Polyglot, description="Opening books, asked before the engine.")
    lichess_bot_tbs: LichessBotTbs = Field(
        default_factory=LichessBotTbs, description="Endgame tables on this machine, asked after the books."
    )
    online_moves: OnlineMoves = Field(
        default_factory=OnlineMoves, description="Sites that know positions, asked last before the engine."
    )
    rules: Dials = Field(
        default_factory=dict, description="Dials that differ from the pool's; the games are custom games then."
    )
    concurrency: int = Field(default=1, ge=1, le=200, description="Games played at the same time, at most.")
    move_overhead: int = Field(
        default=200,
        ge=0,
        le=60_000,
        description="Milliseconds kept back from every move; more where the measured round trip is longer.",
    )
    first_move_percent: int | None = Field(
        default=None,
        ge=1,
        le=20,
        description="Percent of the platform's base time that the first move may take; left out: as any move.",
    )
    abort_time: int = Field(
        default=30, ge=1, le=3600, description="Seconds to wait for the opponent's first move before aborting."
    )
    greeting: GreetingSetting = Field(
        default=True,
        description="Whether pool and rules are told in chat at the start of a game, or lines of your own.",
    )
    max_takebacks_accepted: int = Field(
        default=0, ge=0, le=1000, description="Moves that the opponent may take back in one game, at most."
    )
    draw_or_resign: DrawOrResign = Field(
        default_factory=DrawOrResign, description="Games given up or drawn by the engine's scores."
    )
    language: Literal["en", "nl", "fr", "pt"] = Field(
        default="en", description="What is spoken in chat, until the opponent says `!lang`."
    )
    challenge: ChallengeSettings = Field(
        default_factory=ChallengeSettings, description="Which challenges are accepted."
    )

    matchmaking: MatchmakingSettings = Field(
        default_factory=MatchmakingSettings, description="Challenges of the account's own to other bots."
    )
    correspondence: Correspondence = Field(
        default_factory=Correspondence, description="Games with days for each move; plain chess."
    )
    tournaments: TournamentSettings = Field(
        default_factory=TournamentSettings, description="Arena tournaments that allow bots; plain chess."
    )

    @model_validator(mode="after")
    def _offers(self) -> "Play":
        try:
            offerless = self.matchmaking.offerless(self.pool_clocks, self.has_pool)
        except DialError:
            return self  # told beside this
        if offerless:
            named = " and ".join(name or "the one beside its lists" for name in offerless)
            raise ValueError(
                f"matchmaking would have nothing to offer ({named}): casual games need a clock that has a pool, "
                "and challenge_days needs challenge_mode: rated"
            )
        return self

    def has_pool(self, clock: TimeControl) -> bool:
        """Whether games at this time control are KiriChess."""
        return choose_pool(self.pools.otherwise, clock) is not None

    @property
    def pool_clocks(self) -> tuple[TimeControl, ...]:
        """The time controls that this account's pools are played at: the table's, or the named pool's own."""
        if not isinstance(self.pool, str):
            return tuple(parse_time_control(label) for label in self.pool.by_time_control)
        dials = self.rules_of({**self.rules, "pool": self.pool}).dials
        return (TimeControl(int(1000 * dials.base_s), int(1000 * dials.increment_s)),)

    @property
    def pools(self) -> PoolRules:
        """How the pool of a game is chosen."""
        if isinstance(self.pool, str):
            return PoolRules(self.pool)
        table = self.pool
        own = {name.lower(): pool for name, pool in table.by_opponent.items()}
        rules = [ChallengeRule(rule.pool, rule.variant, rule.speed, rule.opponent) for rule in table.by_challenge]
        return PoolRules(table.by_time_control, own, rules)

    def ruleset(self, terms: Terms) -> Ruleset | None:
        """The rules of a game; None: plain chess."""
        pool = self.pools.choose(terms)
        return None if pool is None else self.rules_of({**self.rules, "pool": pool})

    @property
    def rulesets(self) -> Mapping[str, Ruleset]:
        """Every pool there is, as this account plays it; those that its own dials contradict are left out."""
        found = {}
        for name in self._pools:
            with suppress(DialError):
                found[name] = self.rules_of({**self.rules, "pool": name})
        return found
