"""A short run of `kills.py`: some kills with signal 9 over running games."""

from pathlib import Path

import pytest

from tests.restart import kills


@pytest.mark.timeout(300)
async def test_kills_lose_nothing_and_tell_nothing_twice(tmp_path: Path) -> None:
    work, findings = await kills.run(20, seed=7, games=4, folder=tmp_path)
    print(kills.table(work, findings, 7, 0))
    assert findings.wrong == []
    assert len(work.kills_ms) == 20
