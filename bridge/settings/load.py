"""The configuration file: everything wrong with it at once, or settings that are ready to be used."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from typing import Literal

from pydantic import ValidationError

from bridge.errors import SettingsError
from bridge.settings.base import Section
from bridge.settings.crosscheck import crosscheck, doubts
from bridge.settings.models import Settings
from bridge.settings.problems import Problem
from bridge.settings.resolve import open_to_all, resolve, secret_files
from bridge.settings.translate import is_secret, translate
from bridge.settings.yaml_source import LARGEST_BYTES, Document, read_yaml


def load(
    path: str | FilePath,
    *,
    mode: Literal["run", "check"] = "run",
    warn: Callable[[str], object] = lambda line: None,
    variables: Mapping[str, str] | None = None,
    forget: bool = False,
) -> Settings:
    """Read a configuration file, fill in `${NAME}`, read its token files, make its paths absolute.

    In mode `run` a variable that is not set and a token file that cannot be read are problems; in mode `check`
    they are told to `warn`, as `file:line:column: text`, like everything else that is doubtful but can be used.

    Raises:
        SettingsError: it cannot be used; has a `file:line:column: text` line for every finding.
    """
    file = FilePath(path)
    document = read_yaml(_text(file), os.environ if variables is None else variables)
    problems = list(document.problems)
    settings: Settings | None = None
    if document.value is None:
        if not problems:
            problems.append(Problem((), "the file is empty; `kirichess-bridge config init -o FILE` writes one"))
    elif not isinstance(document.value, dict):
        problems.append(Problem((), "must be a table of keys: accounts, engines, watch, …"))
    else:
        settings, found = _validate(document)
        told = {problem.path for problem in problems if problem.place is None}
        problems += [problem for problem in found if problem.path not in told]
    warnings = _unset(document) if mode == "check" else []
    problems += _unset(document) if mode == "run" else []
    if settings is not None and not problems:
        settings, found = resolve(settings, file.absolute().parent, unset=document.unset)
        (warnings if mode == "check" else problems).extend(found)
        if mode == "check":
            warnings += _open_secrets(settings, file.absolute().parent)
    if mode == "check" and isinstance(document.value, dict):
        warnings.extend(doubts(document))
    if settings is None and not problems:
        problems = _unset(document)  # so much depends on them that the rest cannot be read
    for line in _lines(file, document, warnings):
        warn(line)
    if problems or settings is None:
        raise SettingsError(_lines(file, document, problems))
    if forget:
        _forget(document)
    return settings


def _forget(document: Document) -> None:
    for path, names in document.variables.items():
        if is_secret(path):
            for name in names:
                os.environ.pop(name, None)


def _text(file: FilePath) -> str:
    try:
        if file.stat().st_size > LARGEST_BYTES:
            raise SettingsError([f"{file}: too large for a configuration file"])
        return file.read_text("utf-8-sig")
    except FileNotFoundError:
        raise SettingsError([f"{file}: no such file; `kirichess-bridge config init -o {file}` writes one"]) from None
    except OSError as error:
        raise SettingsError([f"{file}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise SettingsError([f"{file}: is not UTF-8 text (byte {error.start + 1}); save it as UTF-8"]) from error


def _validate(document: Document) -> tuple[Settings | None, list[Problem]]:
    sections: dict[int, type[Section]] = {}
    settings, problems = None, []
    try:
        settings = Settings.model_validate(document.value, context=sections)
    except ValidationError as error:
        problems = translate(error, document, sections)
    told = {problem.path for problem in problems}
    problems += [problem for problem in crosscheck(document.value) if problem.path not in told]
    return settings, [problem for problem in problems if problem.path not in document.unset]


def _unset(document: Document) -> list[Problem]:
    return [Problem(path, f"the environment variable {name} is not set") for path, name in document.unset.items()]


def _open_secrets(settings: Settings, folder: FilePath) -> list[Problem]:
    return [
        Problem(path, f"{file} can be read by every user of this machine: chmod 600 {shlex.quote(str(file))}")
        for path, file in secret_files(settings, folder)
        if open_to_all(file)
    ]


def _lines(file: FilePath, document: Document, problems: Iterable[Problem]) -> list[str]:
    placed = []
    for problem in problems:
        at_key = problem.at_key_of
        place = problem.place or (document.key_place(at_key) if at_key else document.place(problem.path))
        placed.append((place, problem))
    placed.sort(key=lambda each: each[0])
    return list(dict.fromkeys(problem.line(str(file), place) for place, problem in placed))
