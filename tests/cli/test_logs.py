"""Lines of the log: JSON that programs read, with the game on each, and traces that show no variable."""

import json

import pytest
import structlog

from bridge.cli.logs import LogFormat, set_up_logs
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
