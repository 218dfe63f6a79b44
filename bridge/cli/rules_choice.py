"""Which rules a finished game is judged by: `--rules` and `--pool`, else what it carries (interfaces, "Commands")."""

from collections.abc import Mapping
from pathlib import Path

from bridge.cli.console import complain
from bridge.errors import DialError, RecordError, UsageError
from bridge.records.game import Game
from bridge.rules.pools import NAMED, Ruleset, parse_dials


class RulesChoice:
    """The rules of the command line, which outrank what a game carries.

    Raises:
        UsageError: the rules file cannot be used, or names another pool than `--pool`.
    """

    def __init__(self, rules_file: Path | None, pool: str | None) -> None:
        self._warned: set[str] = set()
        self._given = self._read(rules_file, pool)

    def _read(self, rules_file: Path | None, pool: str | None) -> Ruleset | None:
        if rules_file is None and pool is None:
            return None
        dials = read_dials(rules_file) if rules_file is not None else {}
        named = dials.get("pool")
        if pool is not None and named is not None and str(named).lower() != pool.lower():
            raise UsageError(f"--pool {pool} and the pool {named!r} in {rules_file} contradict each other: give one")
        try:
            return self._parse({**dials, "pool": pool} if pool is not None else dials)
        except DialError as error:
            raise DialError(
                [f"{rules_file}: {problem}" if rules_file else problem for problem in error.problems]
            ) from error

    def _parse(self, dials: Mapping[str, object]) -> Ruleset:
        rules = parse_dials(dials)
        for warning in rules.dials.warnings():
            if warning not in self._warned:
                self._warned.add(warning)
                complain(f"warning: {warning}")
        return rules

    @property
    def given(self) -> Ruleset | None:
        """What the command line says, None where it says nothing."""
        return self._given

    def of(self, game: Game) -> Ruleset:
        """The rules a game is judged by.

        Raises:
            UsageError: neither the command line nor the game names any.
            RecordError: the game's own dials cannot be used.
        """
        if self._given is not None:
            return self._given
        if game.rules is None:
            names = ", ".join(NAMED)
            raise UsageError(f"{game.place}: carries no rules: name a pool with --pool ({names}) or give --rules FILE")
        try:
            return self._parse(game.rules)
        except DialError as error:
            raise RecordError(str(error), place=game.place) from error


def read_dials(path: Path) -> Mapping[str, object]:
    """Dials from a JSON or YAML file (JSON is read as YAML's subset).

    Raises:
        UsageError: no such file, not YAML, or no mapping of dials.
    """
    import yaml

    try:
        given = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: neither JSON nor YAML: {' '.join(str(error).split())}") from error
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UsageError(f"{path}: must hold dials, such as `pool: anchor`, not {type(given).__name__}")
    return {str(name): value for name, value in given.items()}
