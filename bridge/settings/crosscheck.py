"""What no value shows by itself: references, contradictions and dials.

It reads plain values, not models, so that its findings are told together with those about single values; what has
the wrong type is passed over here.
"""

from collections.abc import Iterator, Mapping

from bridge.addresses import is_loopback, split_listen
from bridge.errors import DialError
from bridge.rules.dials import Dials
from bridge.rules.pools import DEFAULT_POOL, NAMED, parse_dials
from bridge.settings.base import LICHESS_URL
from bridge.settings.engine_limits import cost_of_values
from bridge.settings.pool_names import every_pool
from bridge.settings.problems import Path, Problem, unknown
from bridge.settings.translate import is_secret
from bridge.settings.watch import SUBJECTS
from bridge.settings.yaml_source import Document

Table = Mapping[str, object]
Pools = Mapping[str, Dials]


def crosscheck(value: object) -> Iterator[Problem]:
    """Every contradiction in a file's values."""
    root = _table(value)
    accounts, pools = list(_tables(root, "accounts")), every_pool(root.get("pools"))
    for name, dials in _table(root.get("pools")).items():
        yield from _dials(("pools", name), _table(dials))
    for path, account in accounts:
        yield from _account(path, account, _table(root.get("engines")), pools)
    yield from _names(accounts)
    yield from _tokens(accounts)
    followed: dict[Path, Path] = {}
    for path, entry in _tables(root, "watch"):
        yield from _watched(path, entry, pools)
        yield from _watched_account(path, entry, accounts)
        at, _ = _meant(entry, accounts)
        if at is not None and followed.setdefault(at, path) != path:
            yield Problem((*path, "account"), "its games are followed already: an account has one stream")
    yield from _journal(_table(root.get("journal")))
    yield from _monitor(_table(root.get("monitor")))
    yield from _webhooks(root)


def doubts(document: Document) -> Iterator[Problem]:
    """What can be used but is most likely not meant."""
    root = _table(document.value)
    is_listed = all(isinstance(root.get(name) or [], list) for name in ("accounts", "watch"))
    if is_listed and not root.get("watch") and not any(account.get("play") for _, account in _tables(root, "accounts")):
        yield Problem((), "there is nothing to do: give an account `play:`, or name games under `watch:`")
    for path, written in document.written.items():
        if is_secret(path) and path[0] != "engines" and written and "${" not in written:
            yield Problem(path, f"the {path[-1]} itself stands in the file; better: ${{NAME}} of a variable, or a file")
    accounts = list(_tables(root, "accounts"))
    yield from _too_many_games(root, accounts)
    for path, entry in _tables(root, "watch"):
        if _meant(entry, accounts)[1].get("play"):
            yield Problem(
                (*path, "account"), "this account plays, so its games are judged anyway: the entry does nothing"
            )
    rules = [((*path, "rules"), entry) for path, entry in _tables(root, "watch")]
    rules += [((*path, "play", "rules"), _table(account.get("play"))) for path, account in _tables(root, "accounts")]
    rules += [(("pools", name), {"rules": dials}) for name, dials in _table(root.get("pools")).items()]
    for path, holder in rules:
        try:
            found = parse_dials(_table(holder.get("rules"))).dials.warnings()
        except DialError:
            continue  # told by crosscheck
        yield from (Problem(path, text) for text in found)


def _too_many_games(root: Table, accounts: list[tuple[Path, Table]]) -> Iterator[Problem]:
    """An account whose own games would not fit into what all engines may use."""
    limits, engines = _table(root.get("engine_limits")), _table(root.get("engines"))
    for path, account in accounts:
        play = _table(account.get("play"))
        names = [play.get("engine"), *(choice.get("engine") for _, choice in _tables(play, "engines"))]
        costs, games = [cost_of_values(_table(engines.get(str(name)))) for name in names], play.get("concurrency", 1)
        for name, each in (
            ("processes", max(cost.processes for cost in costs)),
            ("memory_mb", max(cost.memory_mb for cost in costs)),
        ):
            most = limits.get(name)
            if not isinstance(most, int) or not isinstance(games, int) or each * games <= most:
                continue
            if each > most:
                text = f"no game of it can begin: one needs {each}, and engine_limits: {name} is {most}"
            else:
                text = f"{games} games at {each} each are {each * games}, and engine_limits: {name} is {most}"
            yield Problem((*path, "play", "concurrency") if "concurrency" in play else path, text)


def _table(value: object) -> Table:
    return value if isinstance(value, dict) else {}


def _tables(root: Table, name: str) -> Iterator[tuple[Path, Table]]:
    found = root.get(name)
    for index, value in enumerate(found if isinstance(found, list) else []):
        if isinstance(value, dict):
            yield (name, index), value


def _given(table: Table, name: str) -> bool:
    return table.get(name) is not None


def _token(path: Path, table: Table) -> Iterator[Problem]:
    if _given(table, "token") and _given(table, "token_file"):
        yield Problem((*path, "token_file"), "contradicts token: give one of the two")


def _has_token(table: Table) -> bool:
    return _given(table, "token") or _given(table, "token_file")


def _account(path: Path, account: Table, engines: Table, pools: Pools) -> Iterator[Problem]:
    yield from _token(path, account)
    play, at = _table(account.get("play")), (*path, "play")
    if not play:
        return
    if not _has_token(account):
        yield Problem(path, "an account that plays needs token: ${NAME} (an environment variable) or token_file: FILE")
    engine = play.get("engine")
    if isinstance(engine, str) and engine not in engines:
        yield Problem(
            (*at, "engine"), unknown("engine", engine, engines) if engines else "there is no `engines:` table"
        )
    yield from _choices(at, play, engines, pools)
    for kind in _table(_table(play.get("polyglot")).get("book")):
        if kind not in (known := ("standard", "chess960", *pools)):
            yield Problem((*at, "polyglot", "book"), unknown("variant or pool", kind, known))
    if "pool" in _table(play.get("rules")):
        yield Problem((*at, "rules", "pool"), "the pool stands beside rules, not in it")
    else:
        yield from _overlaid((*at, "rules"), play, pools)


def _choices(at: Path, play: Table, engines: Table, pools: Pools) -> Iterator[Problem]:
    for path, choice in _tables(play, "engines"):
        engine, pool = choice.get("engine"), choice.get("pool")
        if isinstance(engine, str) and engine not in engines:
            yield Problem((*at, *path, "engine"), unknown("engine", engine, engines))
        if isinstance(pool, str) and pool not in (known := (*pools, "custom", "standard")):
            yield Problem((*at, *path, "pool"), unknown("pool", pool, known))


def _names(accounts: list[tuple[Path, Table]]) -> Iterator[Problem]:
    seen: set[object] = set()
    for path, account in accounts:
        name = account.get("name")
        if isinstance(name, str) and name in seen:
            yield Problem((*path, "name"), f"{name!r} is the name of another account")
        seen.add(name)


def _tokens(accounts: list[tuple[Path, Table]]) -> Iterator[Problem]:
    """Lichess ends an account's event stream when a second one is opened."""
    seen: set[object] = set()
    for path, account in accounts:
        for key in ("token", "token_file"):
            if _given(account, key):
                one = (key, str(account[key]), str(account.get("url") or LICHESS_URL).rstrip("/"))
                if one in seen:
                    yield Problem((*path, key), "is that of another account here: an account is given once")
                seen.add(one)


def _meant(entry: Table, accounts: list[tuple[Path, Table]]) -> tuple[Path | None, Table]:
    """The account that an entry means, where there is only one that it can be."""
    name = entry.get("account")
    found = [(path, account) for path, account in accounts if name is not None and account.get("name") == name]
    if not found and name == "me":
        found = accounts
    return found[0] if len(found) == 1 else (None, {})


def _watched(path: Path, entry: Table, pools: Pools) -> Iterator[Problem]:
    named = [subject for subject in SUBJECTS if subject in entry]
    if len(named) > 1:
        yield Problem(path, f"names {' and '.join(named)}: make it an entry for each")
    rules = _table(entry.get("rules"))
    if _given(entry, "pool") and "pool" in rules:
        yield Problem((*path, "rules", "pool"), "contradicts pool: give one of the two")
    elif named and not _given(entry, "pool") and not rules:
        yield Problem(path, f"needs a pool to be judged in (known: {', '.join(pools)})")
    else:
        yield from _overlaid((*path, "rules"), entry, pools)


def _watched_account(path: Path, entry: Table, accounts: list[tuple[Path, Table]]) -> Iterator[Problem]:
    name, at = entry.get("account"), (*path, "account")
    if not isinstance(name, str):
        return
    names = [str(account["name"]) for _, account in accounts if account.get("name")]
    if name == "me" and "me" not in names:
        found = [account for _, account in accounts]
        if len(found) > 1:
            yield Problem(at, "there are several accounts: give the one that is meant a `name:` and write that here")
    else:
        found = [account for _, account in accounts if account.get("name") == name]
        if not found:
            yield Problem(at, unknown("account", name, [*names, "me"]))
            return
    if not any(map(_has_token, found)):
        yield Problem(at, "needs an account with a token: a board stream is read in its player's name")


def _overlaid(path: Path, holder: Table, pools: Pools) -> Iterator[Problem]:
    """`rules` beside a pool; an unknown one is told of elsewhere."""
    pool = holder.get("pool")
    start = {"pool": pool if isinstance(pool, str) and pool.lower() in pools else DEFAULT_POOL}
    yield from _dials(path, {**start, **_table(holder.get("rules"))}, pools)


def _dials(path: Path, given: Table, pools: Pools = NAMED) -> Iterator[Problem]:
    try:
        parse_dials(given, pools)
    except DialError as error:
        for text in error.problems:
            starts = {name: (name, f"unknown {name} ") for name in given}
            dial = next((name for name in given if text.startswith(starts[name]) or f"{name!r}" in text), None)
            yield Problem(path if dial is None else (*path, dial), text)


def _journal(journal: Table) -> Iterator[Problem]:
    url = journal.get("url")
    if isinstance(url, str) and url and (not url.startswith("sqlite:///") or url[10:] in ("", ":memory:")):
        yield Problem(("journal", "url"), "must be sqlite:///FILE, such as sqlite:///journal.db")


def _monitor(monitor: Table) -> Iterator[Problem]:
    yield from _token(("monitor",), monitor)
    if monitor.get("hosts") and not _has_token(monitor):
        yield Problem(("monitor", "hosts"), "lets other machines in: give monitor a token or token_file")
    listen = monitor.get("listen")
    if isinstance(listen, str) and not _has_token(monitor):
        host, _ = split_listen(listen)
        if host and not is_loopback(host):
            yield Problem(
                ("monitor", "listen"), "can be reached from other machines: give monitor a token or token_file"
            )


def _webhooks(root: Table) -> Iterator[Problem]:
    """One address may stand in several entries, for different events; the same twice would be one in the journal."""
    seen: set[tuple[str, ...]] = set()
    for path, hook in _tables(root, "webhooks"):
        filters = [hook.get("events", ("kirichess.*",)), hook.get("accounts", ()), hook.get("pools", ())]
        key = (
            str(hook.get("url")),
            *(str(sorted(map(str, each))) for each in filters if isinstance(each, list | tuple)),
        )
        if key in seen:
            yield Problem(path, "says the same as an entry above: leave one of them out")
        seen.add(key)
