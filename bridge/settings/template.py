"""The configuration file that `config init` writes."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from bridge.errors import SettingsError, UsageError
from bridge.rules.pools import named

SCOPES = ("bot:play", "challenge:read", "challenge:write")
"""What a token of an account that plays must be allowed to do."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the file is about. `engine`: kiri, random or the path of a UCI program; `pool`: a name, or auto;
    `token_env`: the variable that holds the token, unless `token_file` does."""

    url: str
    engine: str
    pool: str
    token_env: str = "LICHESS_TOKEN"
    token_file: str = ""


def token_link(url: str) -> str:
    """The page where a token with the right scopes ticked is made (Lichess API, OAuth)."""
    query = [("scopes[]", scope) for scope in SCOPES] + [("description", "KiriChess bridge")]
    return f"{url.rstrip('/')}/account/oauth/token/create?{urlencode(query, safe='[]:')}"


def write_template(file: Path, answers: Answers, check: Callable[[Path], object]) -> None:
    """Write the file whole or not at all; it is checked before it gets its name.

    Raises:
        UsageError: an answer cannot be, or the file cannot be written.
    """
    if not answers.token_file and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", answers.token_env):
        raise UsageError(f"{answers.token_env!r} is no name of an environment variable; such as LICHESS_TOKEN")
    if answers.pool != "auto":
        named(answers.pool)
    draft = file.with_name(f".{file.name}.draft")
    try:
        draft.write_text(_text(answers), "utf-8")
        check(draft)
        draft.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    except SettingsError as error:
        raise UsageError("\n".join(_without_place(line) for line in error.problems)) from error
    finally:
        draft.unlink(missing_ok=True)


def _without_place(line: str) -> str:
    return re.sub(r"^.*?:\d+:\d+: ", "", line)


def _text(answers: Answers) -> str:
    pool = "" if answers.pool == "auto" else f"      pool: {answers.pool.lower()}\n"
    return _TEMPLATE.format(
        first=f"#   export {answers.token_env}=…            the account's token\n" if not answers.token_file else "",
        url=_quoted(answers.url),
        token=_token(answers),
        engine=_engine(answers.engine),
        pool=pool,
    )


def _token(answers: Answers) -> str:
    if answers.token_file:
        return f"token_file: {_quoted(answers.token_file)}    # the token and nothing else; for you alone (mode 0600)"
    return f"token: ${{{answers.token_env}}}            # filled in from the environment; never write the token here"


def _engine(engine: str) -> str:
    if engine in ("kiri", "random"):
        return f"{{kind: {engine}}}"
    # Asked in one folder, read in another: what is there now is named in full.
    path = str(Path(engine).absolute()) if os.sep in engine else engine
    return f"{{kind: uci, path: {_quoted(path)}}}"


def _quoted(text: str) -> str:
    return json.dumps(text.replace("${", "$${"), ensure_ascii=False)


_TEMPLATE = """\
# Configuration of the KiriChess bridge. Next:
{first}#   kirichess-bridge doctor -c FILE    what stands between you and the first game
#   kirichess-bridge run -c FILE       play

accounts:
  - platform: lichess
    url: {url}
    {token}
    play:                           # leave out for an account that only watches; needs the title BOT
      engine: main
{pool}      concurrency: 1                # games at the same time

engines:
  main: {engine}

# Games to follow and judge without playing:
# watch:
#   - {{user: somebody, pool: anchor, time_control: "10+0", rated: false}}
#   - {{account: mine, pool: anchor}}      # of an account above with `name: mine` and without `play:`

journal: {{url: "sqlite:///journal.db"}}    # relative paths count from this file's folder
monitor: {{listen: "127.0.0.1:8080"}}       # page, API and event stream
"""
