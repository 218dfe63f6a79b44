"""The monitor's page, made on the server: text from the journal in, escaped HTML out."""

from collections.abc import Sequence
from html import escape

from bridge.cloudevents import rfc3339
from bridge.event_types import EVENT_TYPES
from bridge.rules.clock_text import clock_text
from bridge.web.games import GameSummary
from bridge.web.status import StatusReport

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>KiriChess</title>
<link rel="icon" href="static/icon.svg">
<link rel="stylesheet" href="static/style.css">
<noscript><meta http-equiv="refresh" content="5"></noscript>
<script src="static/monitor.js" defer></script>
</head>
<body data-events="{events}">
<main>
<header><h1>KiriChess</h1>{state}</header>
<section><h2>Running</h2>
{running}
</section>
<section><h2>Recent</h2>
{recent}
</section>
</main>
<footer>KiriChess by Michiel Gekiere, CC BY 4.0 · <a href="api/games">games</a> · <a href="status">status</a> ·
<a href="healthz">health</a></footer>
</body>
</html>
"""

_HEAD = '<tr><td></td><td class="platform">KiriChess</td><td class="platform">platform</td></tr>'


def page(games: Sequence[GameSummary], status: StatusReport) -> str:
    """The whole page."""
    running = [_running(game) for game in games if game.running]
    recent = [_recent(game) for game in games if not game.running]
    return _PAGE.format(
        events=escape(" ".join(EVENT_TYPES)),
        state=_state(status),
        running="\n".join(running) or '<p class="none">No game is running.</p>',
        recent=f"<ol>{''.join(recent)}</ol>" if recent else '<p class="none">No game has ended yet.</p>',
    )


def _state(status: StatusReport) -> str:
    lost = [stream for stream in status.streams if not stream.alive]
    if lost:
        told = "; ".join(f"{stream.name}: {stream.detail or 'lost'}" for stream in lost)
        return f'<p class="state bad">{escape(told)}</p>'
    word = "draining" if status.draining else "ready" if status.ready else "starting"
    return f'<p class="state">{word}</p>'


def _running(game: GameSummary) -> str:
    move = f"{(game.ply + 1) // 2}{'.' if game.ply % 2 else '…'} {game.last_san}" if game.last_san else "no move yet"
    flag = f'<p class="flag">{escape(game.flag)}’s flag has fallen, to be confirmed</p>' if game.flag else ""
    verdict = f'<p class="verdict">{escape(game.verdict)}</p>' if game.verdict else ""
    return (
        f'<article><h3>{_title(game)}</h3><p class="facts">{escape(game.pool or "own rules")} · {escape(move)}</p>'
        f"<table>{_HEAD}{_side('white', game.white, game.white_ms, game.platform_white_ms)}"
        f"{_side('black', game.black, game.black_ms, game.platform_black_ms)}</table>{flag}{verdict}</article>"
    )


def _side(side: str, name: str, clock_ms: int | None, platform_ms: int | None) -> str:
    low = " low" if clock_ms is not None and clock_ms <= 10_000 else ""
    return (
        f'<tr><th scope="row"><i class="{side}"></i>{escape(name or "Anonymous")}</th>'
        f'<td class="clock{low}">{_clock(clock_ms)}</td><td class="platform">{_clock(platform_ms)}</td></tr>'
    )


def _recent(game: GameSummary) -> str:
    text = game.verdict or "not judged yet"
    when = rfc3339(game.updated_ms)
    return (
        f"<li><b>{escape(game.result or '*')}</b> {_title(game)} <span>{escape(text)}</span>"
        f'<time datetime="{when}">{when[:16].replace("T", " ")} UTC</time></li>'
    )


def _title(game: GameSummary) -> str:
    names = escape(f"{game.white or 'Anonymous'} – {game.black or 'Anonymous'}")
    # An address from a server may be javascript:; only web pages are linked.
    if game.url.startswith(("https://", "http://")):
        return f'<a href="{escape(game.url)}" rel="noreferrer">{names}</a>'
    return names


def _clock(ms: int | None) -> str:
    return "–" if ms is None else clock_text(ms)
