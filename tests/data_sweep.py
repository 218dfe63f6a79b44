"""Run `adjudicate` over every file of a folder: each game gets a verdict or one line, and no game is lost.

usage: data_sweep.py FOLDER [--cmd "kirichess-bridge"]

For each file: no traceback, exit status 1 exactly when a line was written to stderr, each line names the file, and
verdicts plus lines are as many as the games that a count of its own finds (blocks of PGN tags, JSON objects). Exit 0
when all of that holds. Standard library only.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

TAG = re.compile(r'\s*\[\s*["A-Za-z0-9]')
HEADLESS = re.compile(r"\s*1\s*\.(?!\.)|\s*Event ")


def count_pgn(text: str) -> int:
    """Blocks of tag lines, and movetext that begins at move 1 after a blank line without any tags before it."""
    games, in_tags, tagged, after_blank = 0, False, False, True
    for line in re.sub(r"\r\n?", "\n", text).lstrip("\ufeff").split("\n"):
        if TAG.match(line):
            games += not in_tags
            in_tags = tagged = True
        elif line.strip():
            if HEADLESS.match(line):
                games += after_blank and not tagged
                tagged = False
            in_tags = False
        after_blank = not line.strip()
    return games


def count_json(text: str) -> int:
    """Objects that hold moves and are no line of a stream."""
    try:
        objects = [json.loads(text)]
    except ValueError:
        objects = [json.loads(line) for line in text.splitlines() if line.strip()]
    return sum("moves" in given and "type" not in given for given in objects)


def sweep(file: Path, command: list[str]) -> tuple[int, int, list[str]]:
    """Verdicts, lines on stderr, and what is wrong with one file."""
    run = subprocess.run(
        [*command, "adjudicate", "--pool", "anchor", "--format", "jsonl", str(file)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    verdicts = [json.loads(line) for line in run.stdout.splitlines()]
    lines = run.stderr.splitlines()
    text = file.read_text("utf-8", errors="replace")
    games = count_pgn(text) if file.suffix == ".pgn" else count_json(text)
    wrong = [f"a line that names no file: {line}" for line in lines if str(file) not in line]
    if run.returncode != (1 if lines else 0):
        wrong.append(f"exit status {run.returncode} with {len(lines)} lines on stderr")
    # A block of tags between moves begins no game here: it spoils the one it stands in.
    games -= sum("a tag inside the moves" in line for line in lines)
    if games and len(verdicts) + len(lines) != games:
        wrong.append(f"{games} games in, {len(verdicts)} verdicts and {len(lines)} lines out")
    if not games and (verdicts or len(lines) != 1 or "no game in it" not in lines[0]):
        wrong.append("no game in, and not one line that says so")
    return len(verdicts), len(lines), wrong


def main() -> int:
    """Sweep and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cmd", default=f"{sys.executable} -m bridge.cli.main")
    given = parser.parse_args()
    files = sorted(file for file in given.folder.rglob("*") if file.suffix in (".pgn", ".json", ".ndjson"))
    began, verdicts, lines, failed = time.monotonic(), 0, 0, 0
    for file in files:
        judged, told, wrong = sweep(file, shlex.split(given.cmd))
        verdicts, lines, failed = verdicts + judged, lines + told, failed + bool(wrong)
        for problem in wrong:
            sys.stdout.write(f"{file}: {problem}\n")
    took = time.monotonic() - began
    sys.stdout.write(f"{len(files)} files: {verdicts} verdicts, {lines} lines, {failed} files failed; {took:.0f} s\n")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
