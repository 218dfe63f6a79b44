"""Where moves are looked up before an engine is asked; keys, units and defaults are lichess-bot's where it has them."""

from typing import Literal

from pydantic import Field

from bridge.settings.base import HttpAddress, Many, Section, Text

_MIN_TIME = "Seconds that our clock must have."
_MAX_TIME = "Seconds that a game may begin with."
_TIMEOUT = "Milliseconds it is waited for, and never more than a tenth of the time left."
_MAX_MOVES = "Moves that are taken from it in one game, at most; left out: no bound."
_REPETITIONS = "Whether a move that repeats a position is taken."
_TRUST = "Whether draws and resignations by scores go by its scores too."


class Polyglot(Section):
    """Opening books in Polyglot's format."""

    enabled: bool = Field(default=False, description="Whether books are used.")
    book: dict[str, Many[Text]] = Field(
        default_factory=dict,
        description="Files by variant (standard, chess960) or pool, tried in order, a pool's own first.",
    )
    min_weight: int = Field(default=1, ge=0, le=65_535, description="Entries with less weight are passed over.")
    selection: Literal["weighted_random", "uniform_random", "best_move"] = Field(
        default="weighted_random", description="Which of several entries is played."
    )
    normalization: Literal["none", "sum", "max"] = Field(
        default="none",
        description="What min_weight is a percentage of: a position's weights together, or the greatest of them.",
    )
    max_depth: int = Field(default=20, ge=1, description="Moves of ours within which books are used.")
    max_moves: int | None = Field(default=None, ge=1, description=_MAX_MOVES)
    allow_repetitions: bool = Field(default=False, description=_REPETITIONS)


class _Online(Section):
    enabled: bool = Field(default=False, description="Whether it is asked.")
    min_time: int = Field(default=20, ge=0, description=_MIN_TIME)
    max_time: int = Field(default=10_800, ge=0, description=_MAX_TIME)
    timeout_ms: int = Field(default=2_000, ge=1, le=60_000, description=_TIMEOUT)


class OpeningSite(_Online):
    """A site that knows openings."""

    url: HttpAddress = Field(description="The server.")
    priority: int = Field(default=0, description="The greater is asked first; equals in the order of this page.")
    only_without_book: bool = Field(default=False, description="Only in games in which no book has known a move.")
    allow_repetitions: bool = Field(default=False, description=_REPETITIONS)
    max_depth: int | None = Field(
        default=None, ge=1, description="Moves of ours within which it is asked; left out: as beside the sites."
    )
    max_moves: int | None = Field(default=None, ge=1, description=_MAX_MOVES)


class ChessdbBook(OpeningSite):
    """The cloud database chessdb.cn."""

    url: HttpAddress = Field(default="https://www.chessdb.cn", description="The server.")
    move_quality: Literal["best", "good", "all"] = Field(
        default="good", description="The main line, one of the best moves, or any known one."
    )
    min_depth: int = Field(default=20, ge=0, description="Depth that a main line must have.")
    trust_eval: bool = Field(default=False, description=_TRUST)


class LichessCloudAnalysis(OpeningSite):
    """Evaluations that Lichess has stored."""

    url: HttpAddress = Field(default="https://lichess.org", description="The server.")
    move_quality: Literal["best", "good"] = Field(
        default="best", description="good: any within max_score_difference of the best."
    )
    max_score_difference: int = Field(default=50, ge=0, description="Centipawns.")
    min_depth: int = Field(default=20, ge=0, description="Depth that an evaluation must have.")
    min_knodes: int = Field(default=0, ge=0, description="Thousands of nodes it must have.")
    trust_eval: bool = Field(default=False, description=_TRUST)


class LichessOpeningExplorer(OpeningSite):
    """What was played in a position."""

    url: HttpAddress = Field(default="https://explorer.lichess.ovh", description="The server.")
    source: Literal["masters", "lichess", "player"] = Field(default="masters", description="Whose games.")
    player_name: str = Field(default="", description="Whose, with source: player; left out: our own.")
    sort: Literal["winrate", "games_played", "performance"] = Field(
        default="winrate", description="What makes a move the best; performance is known of a player's games alone."
    )
    min_games: int = Field(default=10, ge=1, description="Games that a move must have.")
    only_with_wins: bool = Field(default=False, description="Only moves that have won for the side to move.")


class OnlineEgtb(_Online):
    """Lichess's tablebase server."""

    url: HttpAddress = Field(default="https://tablebase.lichess.ovh", description="The server.")
    max_pieces: int = Field(default=7, ge=2, le=8, description="Pieces on the board, at most.")
    move_quality: Literal["best", "suggest"] = Field(
        default="best",
        description="suggest: the engine chooses among what keeps the outcome, as always where KiriChess acts.",
    )


class OnlineMoves(Section):
    """Sites that know positions; none of them is told our token."""

    max_out_of_book_moves: int = Field(
        default=10, ge=1, description="A site that has known nothing so many times in a game is not asked again in it."
    )
    max_depth: int | None = Field(
        default=None, ge=1, description="Moves of ours that opening sites are asked for; left out: no bound."
    )
    chessdb_book: ChessdbBook = Field(default_factory=ChessdbBook, description="chessdb.cn.")
    lichess_cloud_analysis: LichessCloudAnalysis = Field(
        default_factory=LichessCloudAnalysis, description="Lichess's cloud evaluations."
    )
    lichess_opening_explorer: LichessOpeningExplorer = Field(
        default_factory=LichessOpeningExplorer, description="Lichess's opening explorer."
    )
    online_egtb: OnlineEgtb = Field(default_factory=OnlineEgtb, description="Lichess's tablebase.")


class _Tables(Section):
    enabled: bool = Field(default=False, description="Whether they are used.")
    paths: Many[Text] = Field(default=(), description="Folders of tables.")
    move_quality: Literal["best", "suggest"] = Field(
        default="best",
        description="suggest: the engine chooses among what keeps the outcome, as always where KiriChess acts.",
    )


class SyzygySettings(_Tables):
    """Syzygy tables on this machine."""

    max_pieces: int = Field(default=7, ge=2, le=7, description="Pieces on the board, at most.")


class GaviotaSettings(_Tables):
    """Gaviota tables on this machine."""

    max_pieces: int = Field(default=5, ge=2, le=5, description="Pieces on the board, at most.")
    min_dtm_to_consider_as_wdl_1: int = Field(
        default=120, ge=1, description="Plies to mate from which on the fifty moves may come first."
    )


class LichessBotTbs(Section):
    """Endgame tables on this machine."""

    syzygy: SyzygySettings = Field(default_factory=SyzygySettings, description="Syzygy.")
    gaviota: GaviotaSettings = Field(default_factory=GaviotaSettings, description="Gaviota.")
