"""`watch`: follow games live and judge them, without a configuration file."""

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path

import click

from bridge.cli.values import server_address, split_address, without_secrets
from bridge.errors import UsageError

_GAME = re.compile(r"[A-Za-z0-9]{8}([A-Za-z0-9]{4})?")
_FORMS = "game:ID, user:NAME, tv:CHANNEL, or a game's address"
DEFAULT_URL = "https://lichess.org"


@click.command("watch")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET…")
@click.option("--pool", help="The pool that the games are judged in; `pools` lists them.")
@click.option("--rules", "rules_file", type=click.Path(path_type=Path), help="A JSON or YAML file of dials.")
@click.option(
    "--url",
    callback=server_address,
    help=f"The server that TARGETs are on (default {DEFAULT_URL}, or an address's own).",
)
@click.option("--json", "as_json", is_flag=True, help="Print every event as CloudEvents JSON, one a line.")
def command(
    targets: tuple[str, ...], pool: str | None, rules_file: Path | None, url: str | None, as_json: bool
) -> None:
    """Follow games live and judge them.

    TARGET is game:ID, user:NAME, tv:CHANNEL or a game's address. With games alone it ends with their final verdicts.
    """
    from pydantic import ValidationError

    from bridge.cli.logs import set_up_logs
    from bridge.cli.rules_choice import RulesChoice
    from bridge.cli.running import run_daemon
    from bridge.settings.models import Settings

    set_up_logs(logging.WARNING)
    rules = RulesChoice(rules_file, pool).given
    if rules is None:
        from bridge.rules.pools import NAMED

        raise UsageError(f"say which rules to judge by: --pool NAME or --rules FILE (pools: {', '.join(NAMED)})")
    entries, hosts = zip(*(_entry(target) for target in targets), strict=True)
    server = _one_server(url, [host for host in hosts if host])
    dials: Mapping[str, object] = {**rules.dials.to_mapping(), **({"pool": rules.pool} if rules.pool else {})}
    try:
        settings = Settings.model_validate(
            {
                "accounts": [{"platform": "lichess", "url": server}],
                "watch": [{**entry, "rules": json.loads(json.dumps(dials))} for entry in entries],
                "journal": {"url": "sqlite://"},
            }
        )
    except ValidationError as error:
        raise UsageError("; ".join(f"{found['input']!r}: {found['msg']}" for found in error.errors())) from error
    asyncio.run(run_daemon(settings, json=as_json, announce=lambda daemon: None))


def _entry(target: str) -> tuple[dict[str, str], str]:
    """A `watch:` entry, and the server where the target names one."""
    kind, colon, name = target.partition(":")
    if kind in ("game", "user", "tv") and colon and name and not name.startswith("//"):
        if kind == "game" and not _GAME.fullmatch(name):
            raise UsageError(f"{target!r}: a game id is eight letters and digits")
        return {kind: name}, ""
    try:
        server, path = split_address(target)
    except ValueError as error:
        cause = f" (its address {error})" if "://" in target else ""
        raise UsageError(f"{without_secrets(target)!r} is none of {_FORMS}{cause}") from error
    game_id = path.strip("/").split("/")[0]
    if _GAME.fullmatch(game_id):
        return {"game": game_id}, server
    raise UsageError(f"{target!r} is none of {_FORMS}")


def _one_server(url: str | None, hosts: list[str]) -> str:
    servers = {host.rstrip("/") for host in ([url] if url else []) + hosts}
    if len(servers) > 1:
        raise UsageError(f"one server at a time: {', '.join(sorted(servers))}")
    return servers.pop() if servers else DEFAULT_URL
