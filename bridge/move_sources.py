"""From the settings of an account to its chain of sources, in their order."""

from collections.abc import Iterator

from bridge.settings.play import Play
from bridge.settings.sources import LichessBotTbs, OnlineMoves
from bridge.sources.book import Book, Opening
from bridge.sources.chain import Chain, Gate, Gated
from bridge.sources.chessdb import Chessdb
from bridge.sources.cloud import Cloud
from bridge.sources.explorer import Explorer
from bridge.sources.online_tables import OnlineTables
from bridge.sources.site import Site
from bridge.sources.tablebase import Gaviota, Syzygy, open_gaviota, open_syzygy


def open_sources(play: Play) -> Chain:
    """Books, local tables, the online tablebase, then chessdb, cloud and explorer: lichess-bot's order.

    Raises UsageError: a book or a folder of tables cannot be read.
    """
    return Chain([*_books(play), *_tables(play.lichess_bot_tbs), *_online(play.online_moves)])


def _books(play: Play) -> Iterator[Gated]:
    book = play.polyglot
    if book.enabled:
        yield Gated("polyglot", Book(book.book, Opening(book.selection, book.min_weight, book.max_depth)))


def _tables(tables: LichessBotTbs) -> Iterator[Gated]:
    if (own := tables.syzygy).enabled:
        yield Gated("syzygy", Syzygy(open_syzygy(own.paths), own.max_pieces, own.move_quality))
    if (other := tables.gaviota).enabled:
        cursed_plies = other.min_dtm_to_consider_as_wdl_1
        gaviota = Gaviota(open_gaviota(other.paths), other.max_pieces, other.move_quality, cursed_plies)
        yield Gated("gaviota", gaviota)


def _online(sites: OnlineMoves) -> Iterator[Gated]:
    bounds = (sites.max_out_of_book_moves, sites.max_depth)
    if (ends := sites.online_egtb).enabled:
        gate = Gate(ends.min_time * 1000, ends.max_time * 1000, ends.timeout_ms)
        yield Gated("online_egtb", OnlineTables(Site(ends.url), ends.max_pieces, ends.move_quality), gate)
    if (chessdb := sites.chessdb_book).enabled:
        gate = Gate(chessdb.min_time * 1000, chessdb.max_time * 1000, chessdb.timeout_ms, *bounds)
        book = Chessdb(Site(chessdb.url), chessdb.move_quality, min_depth=chessdb.min_depth)
        yield Gated("chessdb_book", book, gate)
    if (cloud := sites.lichess_cloud_analysis).enabled:
        gate = Gate(cloud.min_time * 1000, cloud.max_time * 1000, cloud.timeout_ms, *bounds)
        least = {"min_depth": cloud.min_depth, "min_knodes": cloud.min_knodes}
        within_cp = cloud.max_score_difference
        yield Gated(
            "lichess_cloud_analysis", Cloud(Site(cloud.url), cloud.move_quality, **least, within_cp=within_cp), gate
        )
    if (games := sites.lichess_opening_explorer).enabled:
        gate = Gate(games.min_time * 1000, games.max_time * 1000, games.timeout_ms, *bounds)
        site = Site(games.url)
        explorer = Explorer(site, games.source, player=games.player_name, sort=games.sort, min_games=games.min_games)
        yield Gated("lichess_opening_explorer", explorer, gate)
