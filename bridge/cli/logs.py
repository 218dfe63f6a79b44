"""The log on stderr: readable on a terminal, JSON lines elsewhere, and never what a variable holds."""

import logging
import sys
from typing import Literal, TypeAlias

import structlog

from bridge.cli.console import is_lively

LogFormat: TypeAlias = Literal["auto", "text", "json"]


def set_up_logs(level: int | None = None, log_format: LogFormat = "text") -> None:
    """Log to stderr; stdout is the result's. On a terminal, only what needs attention unless `level` says otherwise.

    `auto`: text on a terminal, JSON elsewhere.
    """
    on_terminal = sys.stderr.isatty()
    if level is None:
        level = logging.WARNING if on_terminal else logging.INFO
    as_json = log_format == "json" or (log_format == "auto" and not on_terminal)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            *(_json() if as_json else [_text()]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Looked up at each line: a live picture puts its own stderr in place, to print above itself.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _text() -> structlog.types.Processor:
    # The usual way to show a trace, where rich is installed, shows the variables too: tokens among them.
    plain = structlog.dev.plain_traceback
    return structlog.dev.ConsoleRenderer(colors=is_lively(sys.stderr), exception_formatter=plain)


def _json() -> list[structlog.types.Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
