"""`config init`: from a few answers to a configuration file whose token has been tried."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.cli.doctor import EXIT_WRONG, show
from bridge.cli.values import split_address, without_secrets
from bridge.errors import BridgeError, UsageError

if TYPE_CHECKING:
    from bridge.settings.models import Settings
    from bridge.settings.template import Answers

_VARIABLE = "LICHESS_TOKEN"


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("config.yml"), show_default=True)
@click.option("--url", help="The server.  [default: https://lichess.org]")
@click.option("--token-env", metavar="NAME", help="The environment variable that holds the token.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), metavar="FILE", help="Instead: the file that holds it (mode 0600)."
)
@click.option("--engine", metavar="kiri|random|PATH", help="The built-in engine, random moves, or a UCI program.")
@click.option("--pool", help="One pool for every game; left out: each pool at its own time control.")
@click.option("--no-check", is_flag=True, help="Do not try the token on the server.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.pass_context
def init(
    context: click.Context,
    output: Path,
    url: str | None,
    token_env: str | None,
    token_file: Path | None,
    engine: str | None,
    pool: str | None,
    no_check: bool,
    force: bool,
) -> None:
    """Write a commented configuration file; asks on a terminal for what no option says, and tries the token.

    The token itself is no option: it is typed, or comes from a variable or a file. A typed one goes into a file
    beside the configuration that nobody else can read.
    """
    from bridge.settings import load
    from bridge.settings.template import Answers, token_link, write_template

    if token_env and token_file:
        raise UsageError("--token-env and --token-file: give one of the two")
    _may_be_written(output, force)
    url = _server(url)
    click.echo(f"A token with the right scopes is made at {token_link(url)}")
    typed = "" if token_env or token_file else _typed_token(url, output, tried=not no_check)
    if typed:
        _may_be_written(token_file := output.with_suffix(".token"), force)
    engine = _engine(engine)
    pool = pool or _ask(_pools(), "auto", _is_pool)
    held = _seen_from(output, token_file) if token_file else ""
    answers = Answers(url, engine, pool, token_env=token_env or _VARIABLE, token_file=held)
    write_template(output, answers, check=lambda file: load(file, mode="check"))
    if typed and token_file:
        _keep_secret(token_file, typed)
    click.echo(f"{output} is written" + (f", and {token_file}, for you alone" if typed else ""))
    fine = True if typed else _try_token(answers, output, asked=not no_check)
    click.echo(f"Then: kirichess-bridge doctor -c {output}, and kirichess-bridge run -c {output}")
    if not fine:
        context.exit(EXIT_WRONG)


def _server(given: str | None) -> str:
    url = given or _ask("Server", "https://lichess.org", split_address)
    try:
        split_address(url)
    except ValueError as error:
        raise UsageError(f"--url {without_secrets(url)} {error}") from None
    return url


def _try_token(answers: "Answers", output: Path, *, asked: bool) -> bool:
    """Whether the token will do, as far as it is there and may be asked about."""
    from bridge.settings import load

    held = output.parent / answers.token_file
    if not (held.is_file() if answers.token_file else answers.token_env in os.environ):
        how = f"put it into {held} (mode 0600)" if answers.token_file else f"export {answers.token_env}=…"
        click.echo(f"The token is not there yet, so it has not been tried: {how}")
        return True
    unusable: list[str] = []
    settings = load(output, mode="check", warn=unusable.append)
    for line in unusable:
        click.echo(f"warning: {line}", err=True)
    if settings.accounts[0].token is None:
        return False
    return not asked or asyncio.run(_examine(settings, output))


def _typed_token(url: str, output: Path, *, tried: bool) -> str:
    """What is typed, unseen; "" where nothing is, or need be. A token that will not do can be typed again."""
    if _VARIABLE in os.environ or not _is_terminal():
        return ""
    from pydantic import SecretStr

    from bridge.settings.base import api_token
    from bridge.settings.models import Account, Settings
    from bridge.settings.play import Play

    question = f"Token (is not shown; Enter alone: it will be in the variable {_VARIABLE})"
    while token := str(click.prompt(question, default="", hide_input=True, show_default=False, err=True)).strip():
        try:
            known = api_token(SecretStr(token))
        except ValueError as error:
            click.echo(f"The token {error}", err=True)
            continue
        account = Account(platform="lichess", url=url, token=known, play=Play(engine="main"))
        fine = not tried or asyncio.run(_examine(Settings(accounts=(account,)), output))
        if fine or click.confirm("Keep it all the same?", default=False, err=True):
            break
    return token


async def _examine(settings: "Settings", output: Path) -> bool:
    """What `doctor` says of the account and of its token; whether all of it is well."""
    from bridge.doctor import examine_first_account

    fine = True
    async for finding in examine_first_account(settings, str(output)):
        fine = fine and finding.fine
        show(finding)
    return fine


def _may_be_written(file: Path, force: bool) -> None:
    """Before anything is asked."""
    if file.is_dir():
        raise UsageError(f"{file} is a folder; name a file in it: -o {file / 'config.yml'}")
    if not file.parent.is_dir():
        raise UsageError(f"{file} cannot be written: there is no folder {file.parent}; mkdir -p {file.parent}")
    if file.exists() and not force:
        raise UsageError(f"{file} is there already; choose another with -o, or overwrite it with --force")


def _keep_secret(file: Path, token: str) -> None:
    """It never lies there for others, not for a moment; what was there is taken away first."""
    try:
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as secret:
            secret.write(f"{token}\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _seen_from(output: Path, file: Path) -> str:
    """A file's path as the configuration says it: short where it lies beside it."""
    folder, there = output.absolute().parent, file.absolute()
    return str(there.relative_to(folder) if there.is_relative_to(folder) else there)


def _engine(given: str | None) -> str:
    from bridge.engines.locate import programs

    found = programs()
    own = f", over {found['stockfish']}" if "stockfish" in found else ""
    others = f" (found: {', '.join(found)})" if found else ""
    question = f"Engine: kiri (knows both clocks{own}), random, or the path of a UCI program{others}"
    engine = given or _ask(question, "kiri", _is_engine)
    try:
        _is_engine(engine)
    except BridgeError as error:
        click.echo(f"warning: {error}", err=True)
    return engine


def _is_engine(engine: str) -> None:
    from bridge.engines.locate import find_program

    if engine not in ("kiri", "random"):
        find_program(engine)


def _pools() -> str:
    from bridge.rules.pools import POOLS

    return f"Pool for every game ({', '.join(POOLS)}), or auto: by time control"


def _is_pool(pool: str) -> None:
    from bridge.rules.pools import named

    if pool != "auto":
        named(pool)


def _ask(question: str, default: str, check: Callable[[str], object]) -> str:
    """Whoever cannot be asked gets the default; an answer that cannot be is asked for again."""
    while _is_terminal():
        answer = str(click.prompt(question, default=default, err=True))
        try:
            check(answer)
        except (BridgeError, ValueError) as error:
            click.echo(_sentence(answer, str(error)), err=True)
            continue
        return answer
    return default


def _sentence(answer: str, error: str) -> str:
    return error if answer in error else f"{answer!r} {error}"


def _is_terminal() -> bool:
    return os.isatty(0) and os.isatty(2)
