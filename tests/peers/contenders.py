"""The three programs of the comparison, each set up for the same engine, the same slots and the arena."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.peers.launch import HERE, commit_of, install
from tests.peers.peers import TOKEN, peer_of

ROOT = Path(__file__).parents[2]
OURS = "kirichess-bridge"
CONCURRENCY = 4
ENGINE = "scripted_engine.py"
Adapt: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
_PLAIN_CHESS = {"base_s": 3600, "toll_multiplier": 0, "capture_multiplier": 0, "chip_multiplier": 0}


@dataclass(frozen=True, slots=True)
class Contender:
    """A program: its interpreter, its files, and how its configuration for one arena and engine is made."""

    name: str
    commit: str
    interpreter: str
    files: Path
    is_ours: bool = False

    def command(self) -> tuple[str, ...]:
        if self.is_ours:
            return ("-m", "bridge.cli.main", "run", "-c", "config.yml")
        return peer_of(self.files, "").command

    def settle_in(self, folder: Path, url: str, engine: Path, adapt: Adapt = lambda config: config) -> Path:
        """Its files and configuration, in `folder`, which is made; `adapt` has the last word on the configuration."""
        if self.is_ours:
            shutil.copytree(self.files / "bridge", folder / "bridge")
            config = _ours(url, engine)
        else:
            shutil.copytree(self.files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
            peer = peer_of(self.files, url)
            config = (_lichess_bot if peer.name == "lichess-bot" else _botli)(peer.config, engine)
        (folder / "config.yml").write_text(yaml.safe_dump(adapt(config)), encoding="utf-8")
        return folder


def make_engine(folder: Path, line: Sequence[str], orders: Mapping[str, object]) -> Path:
    """The scripted engine as a program in `folder`, which is made, with its orders beside it."""
    folder.mkdir(parents=True)
    engine = folder / ENGINE
    text = (HERE / ENGINE).read_text(encoding="utf-8")
    engine.write_text(f"#!{sys.executable} -Es\n{text}", encoding="utf-8")
    engine.chmod(0o755)
    given = {"line": line, "think": {}, "fail_from": 0, "crashes": 0, "hangs": 0, **orders}
    (folder / "orders.json").write_text(json.dumps(given), encoding="utf-8")
    return engine


def our_daemon(work: Path) -> Contender:
    """What is committed here, not what somebody may be editing meanwhile."""
    files = work / OURS
    files.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD", "bridge"], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(files)], input=archive.stdout, check=True)
    return Contender(OURS, commit_of(ROOT), sys.executable, files, is_ours=True)


def their_bot(given: str, work: Path) -> Contender:
    """`CHECKOUT` or `CHECKOUT=PYTHON`; without an interpreter, an environment is made for it."""
    folder, _, python = given.partition("=")
    checkout = Path(folder).resolve()
    peer = peer_of(checkout, "")
    home = work / peer.name
    home.mkdir()
    # Not resolved: an environment's interpreter is a link, and known by its place.
    interpreter = install(peer, os.path.abspath(python) if python else None, home)  # noqa: PTH100
    return Contender(peer.name, commit_of(checkout), interpreter, checkout)


def _ours(url: str, engine: Path) -> dict[str, Any]:
    """Dials under which no move costs anything: plain chess."""
    play = {"engine": "main", "pool": "anchor", "rules": _PLAIN_CHESS, "concurrency": CONCURRENCY}
    return {
        "accounts": [{"platform": "lichess", "url": url, "token": TOKEN, "play": play}],
        "engines": {"main": {"kind": "uci", "path": str(engine)}},
        "journal": {"url": "sqlite:///journal.db"},
    }


def _lichess_bot(config: dict[str, Any], engine: Path) -> dict[str, Any]:
    program = {"dir": str(engine.parent), "name": engine.name, "protocol": "uci", "ponder": False, "uci_options": {}}
    challenge = {**config["challenge"], "concurrency": CONCURRENCY}
    return {**config, "engine": program, "challenge": challenge, "max_takebacks_accepted": 3}


def _botli(config: dict[str, Any], engine: Path) -> dict[str, Any]:
    program = config["engines"]["standard"] | {
        "dir": str(engine.parent),
        "name": engine.name,
        "uci_options": {},
        "limits": {},
    }
    return {
        **config,
        "engines": {"standard": program},
        "challenge": {**config["challenge"], "concurrency": CONCURRENCY},
        "offer_draw": {**config["offer_draw"], "enabled": False},
    }
