"""An account that plays: what all its games share, and how it plays them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import chess

from bridge.conversation import Speech, Titles
from bridge.decisions.chat_habits import Habits
from bridge.decisions.check_in import DaysTerms
from bridge.decisions.draw import DrawTerms
from bridge.decisions.engine_choice import Occasion
from bridge.decisions.overhead import Overhead
from bridge.decisions.pool_choice import Terms
from bridge.decisions.resign import ResignTerms
from bridge.interfaces import Engine, GameInfo, Journal, MoveSource, Platform, Player
from bridge.records.pool_told import pool_told
from bridge.rules.pools import Ruleset
from bridge.stopwatch import Measures, Unmeasured


@dataclass(frozen=True, slots=True)
class PlayStyle:
    """How an account plays its games. `choose_rules`: the rules of a game, None: no pool fits.

    `think_cap_ms` bounds every search (for demonstrations); None: only the clocks do.
    """

    choose_rules: Callable[[Terms], Ruleset | None]
    overhead_ms: int = 100
    abort_ms: int = 30_000
    speech: Speech = field(default_factory=Speech)
    resign: ResignTerms = field(default_factory=ResignTerms)
    draw: DrawTerms = field(default_factory=DrawTerms)
    think_cap_ms: int | None = None
    rulesets: Mapping[str, Ruleset] = field(default_factory=dict)
    """The pools that opponents can choose in chat."""
    first_move_percent: int | None = None
    days: DaysTerms = field(default_factory=DaysTerms)
    takebacks: int = 0
    """So many are granted in one game."""

    variants: Sequence[str] = ()
    controls: Sequence[str] = ()
    """The clocks of KiriChess, as Lichess shows them."""

    @property
    def habits(self) -> Habits:
        """What is said of it in chat."""
        return Habits(self.draw, self.takebacks, self.variants, self.controls)

    def against(self, opponent: Player) -> "PlayStyle":
        """The same in a game with one opponent."""
        bot, rating = opponent.is_bot, opponent.rating
        return replace(
            self, resign=self.resign.against(bot=bot, rating=rating), draw=self.draw.against(bot=bot, rating=rating)
        )


@dataclass(frozen=True, slots=True)
class BotAccount:
    """An account that plays, with what its games share. `new_engine`: one for each game, by
    the name that `choose_engine` gives, the game's id and the opponent. `wall_ms`: the date."""

    name: str
    platform: Platform
    journal: Journal
    style: PlayStyle
    new_engine: Callable[[str, str, Player], Engine]
    new_fallback: Callable[[], Engine]
    wall_ms: Callable[[], int]
    measures: Measures = field(default_factory=Unmeasured)
    overhead: Overhead = field(default_factory=Overhead)
    titles: Titles | None = None
    source: MoveSource | None = None
    choose_engine: Callable[[Occasion], str] = lambda game: ""
    queued: Callable[[], int] = lambda: 0

    def engine_for(self, info: GameInfo, side: chess.Color, rules: Ruleset) -> str:
        """The name of the engine that plays a game of ours by these rules; `side` is ours."""
        other = info.player(not side)
        kind, mode = "bot" if other.is_bot else "human", "rated" if info.rated else "casual"
        terms = (other.rating, chess.COLOR_NAMES[side], info.time_control, mode, bool(info.tournament))
        pool = pool_told({"pool": rules.pool, "scored": rules.scored})
        return self.choose_engine(Occasion(pool, info.speed, info.variant, kind, *terms))
