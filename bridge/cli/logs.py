"""The log on stderr: readable on a terminal, JSON lines elsewhere, and never what a variable holds."""

import logging
import sys
from typing import Literal, TypeAlias

import click
import structlog

from bridge.cli.console import is_lively

LogFormat: TypeAlias = Literal["auto", "text", "json"]


def set_up_logs(level: int | None = None, log_format: LogFormat = "text") -> None:
    """Log to stderr; stdout is the result's. On a terminal, only what needs attention unless `level` says otherwise.

    `auto`: text on a terminal, JSON elsewhere. What libraries warn of takes the same form.
    """
    on_terminal = sys.stderr.isatty()
    if level is None:
        level = logging.WARNING if on_terminal else logging.INFO
    as_json = log_format == "json" or (log_format == "auto" and not on_terminal)
    facts: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    form = _json() if as_json else [_text()]
    _form_of_others(facts, form)
    structlog.configure(
        processors=[*facts, *form],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Looked up at each line: a live picture puts its own stderr in place, to print above itself.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def tell(event: str, sentence: str, **facts: str) -> None:
    """What people are told on stderr beside the log; where the log is JSON, a line of it."""
    if isinstance(structlog.get_config()["processors"][-1], structlog.processors.JSONRenderer):
        structlog.get_logger("kirichess").info(event, **facts)
    else:
        click.echo(sentence, err=True)


def _form_of_others(facts: list[structlog.types.Processor], form: list[structlog.types.Processor]) -> None:
    """What libraries say through `logging`, asyncio of a task that failed say, is warnings on stderr in any case."""
    assert logging.lastResort is not None
    without_record = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=[without_record, *form], foreign_pre_chain=[structlog.stdlib.add_logger_name, *facts]
    )
    logging.lastResort.setFormatter(formatter)


def _text() -> structlog.types.Processor:
    # The usual way to show a trace, where rich is installed, shows the variables too: tokens among them.
    plain = structlog.dev.plain_traceback
    return structlog.dev.ConsoleRenderer(colors=is_lively(sys.stderr), exception_formatter=plain)


def _json() -> list[structlog.types.Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
