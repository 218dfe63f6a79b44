"""Pictures of the dashboard for the README, from games on order.

python -m tests.web.screenshots [FOLDER]
"""

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Browser

from bridge.web import Stream
from tests.web.browser import Place, Table, chromium, new_reader, place

FOLDER = Path(__file__).parents[2] / "deploy" / "screenshots"
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
STREAMS = (Stream("KiriBot", True), Stream("user:Anna", True), Stream("journal", True, vital=False))

OPERA = (
    "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 "
    "Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"
)
EVERGREEN = (
    "e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5 d4 exd4 O-O d3 Qb3 Qf6 e5 Qg6 Re1 Nge7 Ba3 b5 Qxb5 Rb8 Qa4 Bb6 Nbd2 Bb7 Ne4 "
    "Qf5 Bxd3 Qh5 Nf6+ gxf6 exf6 Rg8 Rad1 Qxf3 Rxe7+ Nxe7 Qxd7+ Kxd7 Bf5+ Ke8 Bd7+ Kf8 Bxe7#"
)
SPANISH = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 Nbd2 Bb7"
SICILIAN = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Bg5 e6 f4 Qb6 Qd2 Qxb2 Rb1 Qa3 e5 dxe5 fxe5 Nfd7"


async def _play(table: Table, game: str, plies: int | None = None) -> None:
    for ply, san in enumerate(game.split(" ")[:plies]):
        await table.play(san, think_ms=900 + 1700 * (ply * 7 % 5) + 2300 * (ply % 3 == 1))


async def _games(here: Place) -> None:
    for number, (white, black, pool, moves, status) in enumerate(
        (
            ("KiriBot", "Maarten", "fulcrum", SICILIAN, "resign"),
            ("Luísa", "KiriBot", "ratchet", SPANISH, "draw"),
            ("Anna", "Bert", "anchor", EVERGREEN, "mate"),
            ("Hélène", "KiriBot", "ratchet", OPERA, "mate"),
        )
    ):
        table = await here.table(f"over000{number}", white, black, pool=pool)
        await _play(table, moves)
        await table.end(status, None if status == "draw" else True)
    for number, (white, black, pool, moves, plies) in enumerate(
        (
            ("KiriBot", "Joost", "fulcrum", SICILIAN, 19),
            ("Anna", "Chloé", "anchor", EVERGREEN, 33),
            ("Rafael", "KiriBot", "ratchet", SPANISH, 22),
        )
    ):
        await _play(await here.table(f"live000{number}", white, black, pool=pool), moves, plies)


async def _picture(browser: Browser, address: str, file: Path, **context: object) -> None:
    reader = await new_reader(browser, **context)
    await reader.open(address)
    await reader.page.locator("piece").first.wait_for(state="attached")
    await reader.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 400)))")
    await reader.page.screenshot(path=file)
    await reader.page.close()


async def main(folder: Path) -> None:
    """Write the pictures."""
    async with place(STREAMS) as here, chromium() as browser:
        await _games(here)
        game, home = f"{here.url}games/over0002", here.url
        await _picture(browser, home, folder / "home.png", viewport={**WIDE, "height": 960}, color_scheme="light")
        await _picture(browser, game, folder / "game.png", viewport={**WIDE, "height": 1300}, color_scheme="light")
        await _picture(browser, game, folder / "game-dark.png", viewport={**WIDE, "height": 1300}, color_scheme="dark")
        await _picture(browser, home, folder / "home-phone.png", viewport=PHONE, color_scheme="dark")
        await _picture(
            browser, f"{here.url}games/live0001", folder / "game-phone.png", viewport=PHONE, color_scheme="light"
        )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
