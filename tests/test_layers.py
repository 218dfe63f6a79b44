"""Imports go one way (the arrows below), adapters know nothing of each other, and the pure core stays pure."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]

_TELLING = {"errors", "event_types"}
_CONTRACT = {"interfaces", "rules", *_TELLING}
_GAME = {"decisions", "records", *_CONTRACT}
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "event_types": set(),
    "addresses": set(),
    "clocks": set(),
    "forgetting": set(),
    "traffic": set(),
    "stopwatch": set(),
    "machine": set(),
    "rules": {"errors"},
    "decisions": {"rules"},
    "records": {"rules", "errors"},
    "words": set(),
    "actions": set(),
    "interfaces": {"actions", "rules"},
    "cloudevents": {"interfaces"},
    "event_shapes": {"event_types"},
    "event_schema": {"event_shapes", "event_types"},
    "event_filter": {"forgetting", "interfaces", "event_types", "records"},
    "hooks": {"event_filter", "interfaces", "settings", "sinks"},
    # adapters
    "engines": _CONTRACT,
    "sources": {"decisions", *_CONTRACT},
    "journal": {"clocks", *_CONTRACT},
    "platforms": {"alarm", "clocks", "pairing", "records", "traffic", *_CONTRACT},
    "sinks": {"clocks", "records", "cloudevents", "event_filter", *_CONTRACT},
    # one game, one account, one sink
    "tasks": {"errors"},
    "alarm": set(),
    "voice": _GAME,
    "thinker": _GAME,
    "outbox": _CONTRACT,
    "afterwards": {"voice", *_GAME},
    "news": {"history", "outbox", "tasks", *_GAME},
    "history": _CONTRACT,
    "turn": {"tasks", *_GAME},
    "errands": {"tasks", *_GAME},
    "offers": {"errands", *_GAME},
    "idle": {"errands", *_GAME},
    "opinion": _GAME,
    "event_data": _GAME,
    "verdicts": _GAME,
    "recompute": {"event_data", *_GAME},
    "live_flag": {"alarm", *_CONTRACT},
    "tracker": {"event_data", "live_flag", "outbox", "verdicts", *_GAME},
    "watching": {"archive", "forgetting", "tracker", *_GAME},
    "watch_list": {"tasks", "watching", *_GAME},
    "account_log": _CONTRACT,
    "archive": {"errors"},
    "late_archive": {"tasks", *_GAME},
    "first_answer": {"errors", "interfaces"},
    "play_permit": {"errors"},
    "engine_budget": {"slots", *_GAME},
    "account_engines": {"clocks", "engines", "settings", *_GAME},
    "move_sources": {"settings", "sources"},
    "reload": {"settings", *_TELLING},
    "pairing": {"rules"},
    "matchmaking": {"account_log", "history", "lobby", "pairing", "session", "slots", *_GAME},
    "tournaments": {"lobby", "pairing", "slots", *_GAME},
    "seeking": {
        *{"clocks", "lobby", "matchmaking", "name_lists", "pairing", "session", "settings", "tasks"},
        "tournaments",
        *_GAME,
    },
    "source": {"account_log", *_CONTRACT},
    "slots": set(),
    "name_lists": set(),
    "doorkeeper": {"forgetting", "account_log", "history", "name_lists", "session", "slots", "tasks", *_GAME},
    "watch_entries": {"first_answer", "source", "watch_list", "watching", "settings", *_GAME},
    "conversation": {"afterwards", "tasks", "voice", "words", *_GAME},
    "bot_account": {"conversation", "stopwatch", *_GAME},
    "days": _GAME,
    "session": {
        "archive",
        "bot_account",
        "days",
        "conversation",
        "tasks",
        "history",
        "idle",
        "tracker",
        "afterwards",
        "news",
        "outbox",
        "thinker",
        "turn",
        "errands",
        "offers",
        "opinion",
        "voice",
        "stopwatch",
        *_GAME,
    },
    "check_ins": {"bot_account", "slots", *_GAME},
    "lobby": {"account_log", "check_ins", "doorkeeper", "history", "name_lists", "session", "slots", "tasks", *_GAME},
    "judged_again": {"recompute", "tracker", "verdicts", *_GAME},
    "controls": {"clocks", "judged_again", "lobby", "platforms", "tracker", "verdicts", "web", *_GAME},
    "feed": _CONTRACT,
    "metrics": {"records", "stopwatch", "traffic", *_CONTRACT},
    "now": {"feed", "journal", "lobby", "metrics", "platforms", "web"},
    "web": {
        "forgetting",
        *{"addresses", "clocks", "cloudevents", "event_filter", "event_schema", "records", "verdicts", "words"},
        *_CONTRACT,
    },
    # Of the records the arena only reads recorded games, so that they mean the same live and as a file.
    "arena": {"clocks", "records", "errors"},
    "settings": {"addresses", "decisions", "rules", *_TELLING},
    # whoever names concrete adapters
    "daemon": {
        *{"forgetting", "controls", "hooks", "late_archive"},
        *{"engines", "journal", "platforms", "sinks", "settings", "web"},
        *{"clocks", "feed", "lobby", "session", "tracker", "watching", "watch_list", "source", "watch_entries"},
        *{"account_engines", "metrics", "move_sources", "now", "seeking", "engine_budget", "conversation"},
        *{"play_permit", "first_answer", "machine", "name_lists"},
        *_GAME,
    },
    "proof": {"journal", "platforms", "recompute", "tracker", *_GAME},
    "lab": {"engines", "records", *_CONTRACT},
    "doctor": {"engines", "journal", "move_sources", "platforms", "settings", "sources", *_CONTRACT},
}
"""What each part of `bridge` may import of it; `cli` may import all of them."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("bridge", exclude_type_checking_imports=True, cache_dir=None)


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def arrows(graph: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            yield module, imported


def test_imports_follow_the_arrows(graph: grimp.ImportGraph) -> None:
    wrong = [
        f"{importer} imports {imported}"
        for importer, imported in arrows(graph)
        if part(importer) not in ("cli", part(imported)) and part(imported) not in ARROWS.get(part(importer), set())
    ]
    assert wrong == []


def test_the_arrows_are_no_circle() -> None:
    left = dict(ARROWS)
    while left:
        free = {name for name, needs in left.items() if not needs & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        left = {name: needs for name, needs in left.items() if name not in free}


def test_no_two_modules_import_each_other(graph: grimp.ImportGraph) -> None:
    pairs = {(importer, imported) for importer, imported in arrows(graph) if importer != imported}
    assert [pair for pair in pairs if pair[::-1] in pairs] == []


@pytest.mark.parametrize(
    "file", sorted((ROOT / "bridge").glob("rules/*.py")) + sorted(ROOT.glob("bridge/decisions/*.py"))
)
def test_the_pure_core_needs_the_standard_library_and_chess_alone(file: Path) -> None:
    impure = {"asyncio", "logging", "socket", "subprocess", "threading", "time"}
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in names:
            top = name.split(".")[0]
            assert top not in impure, f"{file.name} imports {name}"
            assert top in ("bridge", "chess") or top in sys.stdlib_module_names, f"{file.name} imports {name}"
