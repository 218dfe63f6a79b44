"""Whether the bridge runs already with this configuration: then what it holds is no obstacle."""

import fcntl
import os
from pathlib import Path


def running_bridge(journal_url: str, config: str) -> int | None:
    """The process that holds the journal, if it was started with the same file; None if nobody does, or another."""
    file = Path(journal_url.removeprefix("sqlite:///"))
    process = _holder(file.with_name(file.name + "-lock"))
    return process if process is not None and _was_given(process, Path(config).resolve()) else None


def _holder(lock: Path) -> int | None:
    try:
        descriptor = os.open(lock, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 20).decode(errors="replace").strip()
        return int(text) if text.isdecimal() else None
    finally:
        os.close(descriptor)
    return None


def _was_given(process: int, config: Path) -> bool:
    """By /proc, so on Linux only; elsewhere, and for another user's process, nothing is known."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
        folder = Path(f"/proc/{process}/cwd").resolve(strict=True)
    except OSError:
        return False
    named = {word.removeprefix("--config=").removeprefix("-c") for word in words} | set(words)
    return any((folder / word).resolve() == config for word in named if word)
