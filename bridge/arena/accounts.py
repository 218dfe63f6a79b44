"""Accounts of the arena: who a token belongs to, what it may do, who is online. Pure, time passed in."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from bridge.arena.game import Seat
from bridge.arena.happenings import Rejected

ALL_SCOPES = frozenset({"challenge:read", "challenge:write", "bot:play", "board:play"})

_OPEN_TOKEN = re.compile(r"lip_(human_)?([A-Za-z0-9][A-Za-z0-9_]{1,28})")
_CREATED_AT_MS = 1_700_000_000_000


def open_token(name: str, *, bot: bool) -> str:
    """The token by which an open arena knows this name."""
    return f"lip_{'' if bot else 'human_'}{re.sub(r'[^A-Za-z0-9_]', '_', name)}"


@dataclass(frozen=True, slots=True)
class Account:
    """An account and its token; `title="BOT"` makes it a bot, None a human."""

    name: str
    token: str = field(repr=False)
    title: str | None = None
    scopes: frozenset[str] = ALL_SCOPES
    rating: int = 1500

    @property
    def id(self) -> str:
        return self.name.lower()

    @property
    def is_bot(self) -> bool:
        return self.title == "BOT"

    @property
    def seat(self) -> Seat:
        return Seat(self.name, self.title, self.rating)

    @property
    def created_at_ms(self) -> int:
        return _CREATED_AT_MS


class AccountBook:
    """All accounts by token and by id, and until when each counts as online."""

    def __init__(self, accounts: Iterable[Account], *, open_accounts: bool = False) -> None:
        self._by_id: dict[str, Account] = {}
        self._ids_by_token: dict[str, str] = {}
        self._open = open_accounts
        self._online_until_ms: dict[str, int] = {}
        for account in accounts:
            self.add(account)

    def __iter__(self) -> Iterator[Account]:
        return iter(tuple(self._by_id.values()))

    def add(self, account: Account) -> None:
        self._by_id[account.id] = account
        if account.token:
            self._ids_by_token[account.token] = account.id

    def of_token(self, token: str) -> Account | None:
        """None for a token that nobody has; an open book makes accounts for `lip_<name>` and `lip_human_<name>`."""
        known = self._ids_by_token.get(token)
        if known is not None:
            return self._by_id[known]
        invented = _OPEN_TOKEN.fullmatch(token) if self._open else None
        if invented is None:
            return None
        human, name = invented.groups()
        if name.lower() in self._by_id:
            return None
        self.add(Account(name, token, title=None if human else "BOT"))
        return self._by_id[name.lower()]

    def find(self, name: str) -> Account | None:
        return self._by_id.get(name.lower())

    def of_name(self, name: str) -> Account:
        found = self.find(name)
        if found is None:
            raise Rejected("Not found", status=404)
        return found

    def upgrade(self, account: Account) -> None:
        """To a bot account, irreversibly."""
        self._by_id[account.id] = replace(account, title="BOT")

    def seen(self, account_id: str, until_ms: int) -> None:
        self._online_until_ms[account_id] = max(until_ms, self._online_until_ms.get(account_id, 0))

    def online(self, account_id: str, now_ms: int) -> bool:
        return self._online_until_ms.get(account_id, 0) > now_ms
