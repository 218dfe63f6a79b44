"""Lines of the log: JSON that programs read, with the game on each, and traces that show no variable."""

import asyncio
import json
import subprocess
import sys

import pytest
import structlog

from bridge.cli.logs import LogFormat, set_up_logs
from bridge.errors import JournalError
from bridge.tasks import Tasks

log = structlog.get_logger()


def fails() -> None:
    token = "s3cr3t" + "-in-a-variable"
    raise ValueError(f"{len(token)} characters")


@pytest.mark.parametrize("log_format", ["text", "json", "auto"])
def test_a_trace_shows_no_variable(log_format: LogFormat, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(log_format=log_format)
    try:
        fails()
    except ValueError:
        log.exception("it_crashed")
    said = capsys.readouterr().err
    assert "20 characters" in said
    assert "s3cr3t-in-a-variable" not in said


def test_elsewhere_than_on_a_terminal_a_line_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(log_format="auto")
    log.warning("something", cause="a\nb")
    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["event"], said["level"], said["cause"]) == ("something", "warning", "a\nb")


async def test_a_task_logs_in_the_name_of_who_made_its_set(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(log_format="json")
    accounts = Tasks()
    with structlog.contextvars.bound_contextvars(game="g1"):
        games = Tasks()

        async def work(event: str) -> None:
            log.warning(event)

        await accounts.spawn(work("of_the_account"))
    await games.spawn(work("of_the_game"))
    said = {line["event"]: line.get("game") for line in map(json.loads, capsys.readouterr().err.splitlines())}
    assert said == {"of_the_account": None, "of_the_game": "g1"}


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_what_libraries_warn_of_takes_the_same_form(log_format: str) -> None:
    code = "import logging; from bridge.cli.logs import set_up_logs; "
    code += f"set_up_logs(log_format={log_format!r}); "
    code += "logging.getLogger('asyncio').error('a task failed:\\nit', exc_info=ValueError('why'))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    if log_format == "text":
        assert said.count("a task failed") == 1
        return
    (line,) = said.splitlines()
    told = json.loads(line)
    assert (told["level"], told["logger"], told["event"]) == ("error", "asyncio", "a task failed:\nit")
    assert told["exception"] == "ValueError: why"


@pytest.mark.parametrize(("error", "traced"), [(JournalError("the disk is full"), False), (ValueError("x"), True)])
async def test_an_error_of_ours_that_ends_a_task_is_told_without_a_trace(error: Exception, traced: bool) -> None:
    async def fails() -> None:
        raise error

    with structlog.testing.capture_logs() as logs:
        await asyncio.wait({Tasks().spawn(fails())})
        await asyncio.sleep(0)
    [told] = logs
    assert (told["event"], told["cause"], bool(told["exc_info"])) == ("task_failed", str(error), traced)
