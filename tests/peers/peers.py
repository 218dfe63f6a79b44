"""The bots that are run as they are: how each is recognised, installed, configured and started."""

import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TOKEN = "lip_Peer"
STOCKFISH = Path(shutil.which("stockfish", path=f"{os.environ.get('PATH', '')}:/usr/games") or "stockfish")


@dataclass(frozen=True, slots=True)
class Peer:
    """How one bot is installed, configured and started."""

    name: str
    command: tuple[str, ...]
    requirements: tuple[str, ...]
    config: dict[str, object]


def peer_of(checkout: Path, url: str) -> Peer:
    """Known by its files; raises SystemExit for any other checkout."""
    if (checkout / "lichess-bot.py").exists():
        requirements = ("-r", str(checkout / "requirements.txt"))
        command = ("lichess-bot.py", "--config", "config.yml", "--disable_auto_logging")
        return Peer("lichess-bot", command, requirements, _lichess_bot_config(url))
    if (checkout / "botli_dataclasses.py").exists():
        project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
        return Peer("BotLi", ("user_interface.py",), tuple(project["dependencies"]), _botli_config(checkout, url))
    raise SystemExit(f"{checkout.name} is neither lichess-bot nor BotLi; give a checkout of one of them")


def _lichess_bot_config(url: str) -> dict[str, object]:
    return {
        "token": TOKEN,
        "url": f"{url}/",
        "engine": {
            "dir": str(STOCKFISH.parent),
            "name": STOCKFISH.name,
            "protocol": "uci",
            "ponder": False,
            "uci_options": {"Threads": 1, "Hash": 16, "go_commands": {"movetime": 50}},
        },
        "abort_time": 20,
        "challenge": {
            "accept_bot": True,
            "variants": ["standard", "chess960", "fromPosition"],
            "time_controls": ["bullet", "blitz", "rapid"],
            "modes": ["casual", "rated"],
        },
        "greeting": {"hello": "Hi {opponent}", "goodbye": "Good game", "hello_spectators": "Hi"},
    }


def _botli_config(checkout: Path, url: str) -> dict[str, object]:
    """The bot's own default file, every section of which it needs, pointed at the arena."""
    config: dict[str, Any] = yaml.safe_load((checkout / "config.yml.default").read_text())
    engine = {
        "dir": str(STOCKFISH.parent),
        "name": STOCKFISH.name,
        "ponder": False,
        "silence_stderr": False,
        "move_overhead_multiplier": 1.0,
        "uci_options": {"Threads": 1, "Hash": 16},
        "limits": {"time": 0.05},
    }
    allowed = {
        "variants": ["standard", "chess960", "fromPosition"],
        "time_controls": ["bullet", "blitz", "rapid"],
        "modes": ["casual", "rated"],
    }
    challenge = config["challenge"]
    challenge |= {kind: challenge[kind] | allowed for kind in ("human", "bot")}
    return {**config, "token": TOKEN, "url": url, "engines": {"standard": engine}, "challenge": challenge, "books": {}}
