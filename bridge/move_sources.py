"""From the settings of an account to its chain of sources, in their order."""

from collections.abc import Callable, Iterator
from functools import partial

from bridge.settings.play import Play
from bridge.settings.sources import (
    ChessdbBook,
    LichessBotTbs,
    LichessCloudAnalysis,
    LichessOpeningExplorer,
    OnlineMoves,
    OpeningSite,
)
from bridge.sources.book import Book, Opening
from bridge.sources.chain import BOOK, Chain, Gate, Gated
from bridge.sources.chessdb import Chessdb
from bridge.sources.cloud import Cloud
from bridge.sources.explorer import Explorer
from bridge.sources.online_tables import OnlineTables
from bridge.sources.site import Site
from bridge.sources.tablebase import Gaviota, Syzygy, open_gaviota, open_syzygy


def open_sources(play: Play, me: str = "") -> Chain:
    """Books, local tables, the online tablebase, then chessdb, cloud and explorer: lichess-bot's order, but for their
    priority. `me`: whose games count where it is a player's and nobody is named.

    Raises UsageError: a book or a folder of tables cannot be read.
    """
    return Chain([*_books(play), *_tables(play.lichess_bot_tbs), *online_sources(play.online_moves, me)])


def _books(play: Play) -> Iterator[Gated]:
    book = play.polyglot
    if book.enabled:
        weights = (book.selection, book.min_weight, book.max_depth, book.normalization)
        opening = Opening(*weights, allow_repetitions=book.allow_repetitions)
        yield Gated(BOOK, Book(book.book, opening), Gate(max_answers=book.max_moves))


def _tables(tables: LichessBotTbs) -> Iterator[Gated]:
    if (own := tables.syzygy).enabled:
        yield Gated("syzygy", Syzygy(open_syzygy(own.paths), own.max_pieces, own.move_quality))
    if (other := tables.gaviota).enabled:
        cursed_plies = other.min_dtm_to_consider_as_wdl_1
        gaviota = Gaviota(open_gaviota(other.paths), other.max_pieces, other.move_quality, cursed_plies)
        yield Gated("gaviota", gaviota)


def online_sources(sites: OnlineMoves, me: str = "") -> Iterator[Gated]:
    """The sites, in the order in which they are asked; `me` as in `open_sources`."""
    if (ends := sites.online_egtb).enabled:
        gate = Gate(ends.min_time * 1000, ends.max_time * 1000, ends.timeout_ms)
        yield Gated("online_egtb", OnlineTables(Site(ends.url), ends.max_pieces, ends.move_quality), gate)
    opening: list[tuple[OpeningSite, str, Callable[[Site], Chessdb | Cloud | Explorer]]] = [
        (sites.chessdb_book, "chessdb_book", partial(_chessdb, sites.chessdb_book)),
        (sites.lichess_cloud_analysis, "lichess_cloud_analysis", partial(_cloud, sites.lichess_cloud_analysis)),
        (
            sites.lichess_opening_explorer,
            "lichess_opening_explorer",
            partial(_explorer, sites.lichess_opening_explorer, me),
        ),
    ]
    for own, name, source in sorted(opening, key=lambda each: -each[0].priority):
        if own.enabled:
            yield Gated(name, source(Site(own.url)), _gate(own, sites))


def _gate(own: OpeningSite, sites: OnlineMoves) -> Gate:
    return Gate(
        min_ms=own.min_time * 1000,
        max_ms=own.max_time * 1000,
        timeout_ms=own.timeout_ms,
        out_of_book=sites.max_out_of_book_moves,
        max_moves=own.max_depth or sites.max_depth,
        max_answers=own.max_moves,
        only_without_book=own.only_without_book,
        may_repeat=own.allow_repetitions,
    )


def _chessdb(own: ChessdbBook, site: Site) -> Chessdb:
    return Chessdb(site, own.move_quality, min_depth=own.min_depth, trusted=own.trust_eval)


def _cloud(own: LichessCloudAnalysis, site: Site) -> Cloud:
    least = {"min_depth": own.min_depth, "min_knodes": own.min_knodes}
    return Cloud(site, own.move_quality, **least, within_cp=own.max_score_difference, trusted=own.trust_eval)


def _explorer(own: LichessOpeningExplorer, me: str, site: Site) -> Explorer:
    wins = own.only_with_wins
    return Explorer(
        site, own.source, player=own.player_name or me, sort=own.sort, min_games=own.min_games, only_with_wins=wins
    )
