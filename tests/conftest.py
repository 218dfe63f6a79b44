"""What every test leaves as it found it."""

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A command that runs inside a test sets up the logs of the whole process."""
    yield
    structlog.reset_defaults()
