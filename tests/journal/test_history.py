"""What is asked of the journal at a start costs no more for a long one."""

from typing import Any

from bridge import event_types, history
from bridge.interfaces import Draft, Entry
from bridge.journal import SqlJournal

BOTS = {"white": "Kiri", "black": "Robot", "white_title": "BOT", "black_title": "BOT"}


class Counting(SqlJournal):
    """Knows how many entries were read."""

    entries = 0

    async def read(self, **asked: Any) -> list[Entry]:
        found = await super().read(**asked)
        self.entries += len(found)
        return found


async def test_the_days_games_against_bots_are_found_without_reading_the_years() -> None:
    now_ms = [0]
    async with Counting("sqlite://", now_ms=lambda: now_ms[0]) as journal:
        for at in range(500):
            now_ms[0] = 1000 * at
            await journal.append([Draft(event_types.GAME_STARTED, f"game{at}", BOTS, "Kiri")])
        for after_ms in (0, 490_000, 497_500, 499_000, 10**9):
            expected = [1000 * at for at in range(500) if 1000 * at > after_ms]
            assert await history.bot_games_ms(journal, "Kiri", after_ms) == expected
        journal.entries = 0
        await history.bot_games_ms(journal, "Kiri", 495_000)
        assert journal.entries < 20


async def test_of_an_empty_journal() -> None:
    async with SqlJournal("sqlite://") as journal:
        assert await history.bot_games_ms(journal, "Kiri", 0) == []
