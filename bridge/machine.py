"""What greetings can tell of the machine: {cpu} and {ram}."""

import os
from functools import cache
from pathlib import Path


@cache
def cpu() -> str:
    """The processor's name and its threads, as far as Linux tells them."""
    name = next((line.partition(":")[2].strip() for line in _lines() if line.startswith("model name")), "")
    threads = os.cpu_count() or 1
    return " ".join([*([name] if name else []), f"{threads}t"])


@cache
def ram() -> str:
    """Its memory in GiB."""
    total_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total_bytes / 2**30:.0f} GiB"


def _lines() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:  # another system, which has no such file
        return []
