"""What every test leaves as it found it, and a disk of one's own."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A command that runs inside a test sets up the logs of the whole process."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a real disk of so many bytes ("4m"), to be filled to the last one; without root the test is skipped."""
    folder = tmp_path / "disk"

    def mount(size: str) -> Path:
        folder.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True
        )
        if mounted.returncode:
            pytest.skip("mounting needs root")
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(["umount", "-l", str(folder)], check=True)
