"""Find an engine's program, or say how to get one."""

import difflib
import os
import shutil
from pathlib import Path

from bridge.errors import EngineError

_GAMES = ("/usr/games", "/usr/local/games")
"""Where Debian keeps engines; services and cron jobs do not have it in their PATH."""
_KNOWN = ("stockfish", "fairy-stockfish", "gnuchess", "crafty", "phalanx", "toga2", "fruit", "ethereal", "lc0")
_XBOARD = ("gnuchess", "crafty", "phalanx")


def find_program(path: str) -> str:
    """The file to execute: `path` itself, or a name looked up in PATH and the games folders.

    Raises:
        EngineError: nothing there, a folder, or not executable; says how to mend it.
    """
    if not path:
        raise EngineError(f"an engine of this kind needs a path{_suggestion('stockfish')}")
    if os.sep in path or path.startswith("~"):
        return _check(Path(path).expanduser())
    found = shutil.which(path, path=_search_path())
    if found is not None:
        return found
    if (local := Path(path)).exists():
        return _check(local.absolute())
    raise EngineError(f"engine {path!r} is not in PATH{_suggestion(path)}")


def find_folder(path: str) -> str:
    """The folder that a program is to run in. Raises EngineError: there is none."""
    if not Path(path).is_dir():
        raise EngineError(f"working_dir {path} is no folder: make it, or leave the key out")
    return path


def installed(name: str) -> str:
    """Where a program is, as `find_program` looks for it; empty where it is not."""
    return shutil.which(name, path=_search_path()) or ""


def programs() -> dict[str, str]:
    """The UCI programs that are installed, of those we know by name: where each is."""
    return {name: found for name in _KNOWN if name not in _XBOARD and (found := installed(name))}


def _check(file: Path) -> str:
    if file.is_dir():
        raise EngineError(f"engine {file} is a folder: give the path of the program in it")
    if not file.exists():
        raise EngineError(f"engine {file} does not exist{_suggestion(file.name)}")
    if not os.access(file, os.X_OK):
        raise EngineError(f"engine {file} is not executable: chmod +x {file}")
    return str(file.absolute())


def _suggestion(name: str) -> str:
    installed = {known: found for known in _KNOWN if (found := shutil.which(known, path=_search_path()))}
    near = difflib.get_close_matches(name.lower(), installed, n=1, cutoff=0.8)
    if choice := installed.get(near[0] if near else "stockfish"):
        return f": did you mean {choice}?" if near else f": {choice} is installed, set path: {choice}"
    return ": install one (Debian: apt install stockfish), or use kind: kiri, which needs nothing"


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *_GAMES])
