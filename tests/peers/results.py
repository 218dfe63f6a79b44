"""RESULTS.md: one part for each peer, replaced by its newest run."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bridge.arena import RequestLine
from bridge.arena.exports import pgn, result
from bridge.arena.game import Game

_HEAD = """# Real bots on the arena

Written by `python -m tests.peers.run_peers CHECKOUT`: unmodified checkouts, only their configuration points at the
arena; Stockfish plays for them, a random mover against them; everything beyond loopback is refused.
"""
_TEMPLATES = (
    (re.compile(r"^/api/(bot|board)/game/stream/\w+"), r"/api/\1/game/stream/{id}"),
    (re.compile(r"^/api/(bot|board)/game/\w+/move/\w+"), r"/api/\1/game/{id}/move/{uci}"),
    (re.compile(r"^/api/(bot|board)/game/\w+/"), r"/api/\1/game/{id}/"),
    (re.compile(r"^/api/challenge/\w+/"), "/api/challenge/{id}/"),
    (re.compile(r"^/api/user/\w+"), "/api/user/{name}"),
    (re.compile(r"^/game/export/\w+"), "/game/export/{id}"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What one peer's run was: `commit` is hash and date, `refused` counts `host port`."""

    peer: str
    commit: str
    games: list[Game]
    log: list[RequestLine]
    refused: Counter[str]


def write_results(path: Path, run: Run) -> None:
    put_part(path, run.peer, _part(run))


def put_part(path: Path, name: str, text: str) -> None:
    """Put a part, without its heading, in the place of the one that has this name."""
    parts = _parts(path.read_text(encoding="utf-8")) if path.exists() else {}
    parts[name] = f"## {name}\n\n{text}"
    text = "\n".join([_HEAD, *(parts[peer] for peer in sorted(parts, key=str.lower))])
    path.write_text(text, encoding="utf-8")


def _parts(text: str) -> dict[str, str]:
    found = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0].removeprefix("## "): part.rstrip("\n") + "\n" for part in found}


def _part(run: Run) -> str:
    rows = [
        f"| {number} | {game.white.name} | {game.black.name} | {game.variant} | {game.control.tag} "
        f"| {game.status.key} | {result(game)} | {game.plies} |"
        for number, game in enumerate(run.games, 1)
    ]
    requests = Counter((line.method, template(line.path), line.status) for line in run.log if line.account == "peer")
    counted = [
        f"| {method} | `{path}` | {status} | {count} |" for (method, path, status), count in sorted(requests.items())
    ]
    refused = ", ".join(f"`{place}` {count}×" for place, count in sorted(run.refused.items())) or "nothing"
    return "\n".join(
        [
            f"Commit {run.commit}. Refused beyond loopback: {refused}.",
            "",
            "| game | white | black | variant | clock | status | result | plies |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "| method | path | status | requests |",
            "|---|---|---|---|",
            *counted,
            "",
            "```pgn",
            "\n\n".join(pgn(game).strip() for game in run.games),
            "```",
            "",
        ]
    )


def template(path: str) -> str:
    """The path with ids, moves and names left out."""
    for pattern, put in _TEMPLATES:
        if pattern.match(path):
            return pattern.sub(put, path)
    return path
