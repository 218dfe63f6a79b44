"""Settings as the program needs them: token files read, relative paths counted from the file's folder."""

import stat
from collections.abc import Container, Iterable, Iterator
from pathlib import Path as FilePath
from typing import TypeVar

from pydantic import SecretStr

from bridge.settings.base import api_token
from bridge.settings.engines import EngineSettings, KiriEngine, PythonEngine, UciEngine, XboardEngine
from bridge.settings.models import Account, MonitorSettings, Settings
from bridge.settings.notifications import NotificationSettings, readable
from bridge.settings.problems import Path, Problem

_SQLITE = "sqlite:///"
_Holder = TypeVar("_Holder", Account, MonitorSettings)


def resolve(settings: Settings, folder: FilePath, *, unset: Container[Path]) -> tuple[Settings, list[Problem]]:
    """Settings with every token in `token` and every path absolute, and what was wrong with the token files.

    `unset`: paths of values that hold a variable that is not set; nothing is read there.
    """
    problems: list[Problem] = []

    def with_token(holder: _Holder, path: Path) -> _Holder:
        at = (*path, "token_file")
        if holder.token_file is None or at in unset:
            return holder
        try:
            token = SecretStr(_read_token(folder / holder.token_file))
            if isinstance(holder, Account):
                api_token(token)
        except ValueError as error:
            problems.append(Problem(at, str(error)))
            return holder
        return holder.model_copy(update={"token": token})

    def with_url(holder: NotificationSettings, path: Path) -> NotificationSettings:
        at = (*path, "url_file")
        if holder.url_file is None or at in unset:
            return holder
        try:
            return holder.model_copy(update={"url": readable(SecretStr(_read_token(folder / holder.url_file)))})
        except ValueError as error:
            problems.append(Problem(at, str(error)))
            return holder

    accounts = tuple(
        _with_sources(with_token(account, ("accounts", index)), folder)
        for index, account in enumerate(settings.accounts)
    )
    monitor = settings.monitor and with_token(settings.monitor, ("monitor",))
    told = tuple(with_url(each, ("notifications", index)) for index, each in enumerate(settings.notifications))
    journal = settings.journal.model_copy(update={"url": _absolute_url(settings.journal.url, folder)})
    engines = {name: _with_paths(engine, folder) for name, engine in settings.engines.items()}
    pgn = settings.pgn and settings.pgn.model_copy(update={"folder": str(folder / settings.pgn.folder)})
    logs = settings.engine_logs
    logs = logs and logs.model_copy(update={"folder": str(folder / FilePath(logs.folder).expanduser())})
    update = {"accounts": accounts, "monitor": monitor, "journal": journal, "engines": engines, "pgn": pgn}
    return settings.model_copy(update={**update, "notifications": told, "engine_logs": logs}), problems


def _with_sources(account: Account, folder: FilePath) -> Account:
    """The files of books and the folders of tables."""
    if (play := account.play) is None:
        return account
    book = {kind: _absolute(files, folder) for kind, files in play.polyglot.book.items()}
    tables = play.lichess_bot_tbs
    syzygy = tables.syzygy.model_copy(update={"paths": _absolute(tables.syzygy.paths, folder)})
    gaviota = tables.gaviota.model_copy(update={"paths": _absolute(tables.gaviota.paths, folder)})
    update = {
        "polyglot": play.polyglot.model_copy(update={"book": book}),
        "lichess_bot_tbs": tables.model_copy(update={"syzygy": syzygy, "gaviota": gaviota}),
    }
    return account.model_copy(update={"play": play.model_copy(update=update)})


def _absolute(paths: Iterable[str], folder: FilePath) -> tuple[str, ...]:
    return tuple(str(folder / FilePath(path).expanduser()) for path in paths)


def secret_files(settings: Settings, folder: FilePath) -> Iterator[tuple[Path, FilePath]]:
    """The files that hold secrets, with the keys that name them."""
    for index, account in enumerate(settings.accounts):
        if account.token_file is not None:
            yield ("accounts", index, "token_file"), folder / account.token_file
    if settings.monitor is not None and settings.monitor.token_file is not None:
        yield ("monitor", "token_file"), folder / settings.monitor.token_file
    for index, told in enumerate(settings.notifications):
        if told.url_file is not None:
            yield ("notifications", index, "url_file"), folder / told.url_file


def open_to_all(file: FilePath) -> bool:
    """Whether every user of this machine can read it: by its own mode, and by those of the folders above.

    In a container, where /run/secrets is, there are no other users, and Docker leaves the host's mode.
    """
    if file.is_relative_to("/run/secrets"):
        return False
    try:
        readable_by_all = bool(file.stat().st_mode & stat.S_IROTH)
        return readable_by_all and all(folder.stat().st_mode & stat.S_IXOTH for folder in file.absolute().parents)
    except OSError:  # what cannot be looked at is told by whoever reads it
        return False


def _read_token(file: FilePath) -> str:
    """Raises ValueError: what is wrong with the file, never its content."""
    try:
        token = file.read_text("utf-8").strip()
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not text") from None
    if not token:
        raise ValueError(f"{file} is empty; put the token in it")
    if any(character.isspace() for character in token):
        raise ValueError(f"{file} must hold the token and nothing else")
    return token


def _absolute_url(url: str, folder: FilePath) -> str:
    file = url.removeprefix(_SQLITE)
    return f"{_SQLITE}{folder / file}"


def _with_paths(engine: EngineSettings, folder: FilePath) -> EngineSettings:
    match engine:
        case KiriEngine(path=path) if path:
            return engine.model_copy(update={"path": _program(path, folder)})
        case UciEngine() | XboardEngine():
            here = str(folder / FilePath(engine.working_dir).expanduser()) if engine.working_dir else ""
            return engine.model_copy(update={"path": _program(engine.path, folder), "working_dir": here})
        case PythonEngine(plugin=plugin) if ".py:" in plugin:
            return engine.model_copy(update={"plugin": str(folder / plugin)})
    return engine


def _program(path: str, folder: FilePath) -> str:
    """A bare name is left to PATH, as a shell does."""
    return path if "/" not in path else str(folder / FilePath(path).expanduser())
