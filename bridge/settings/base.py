"""What every part of the configuration is made of: strict, closed, frozen models and the shapes of single values."""

import re
from collections.abc import Callable
from typing import Annotated, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    model_validator,
)

from bridge.addresses import split_listen
from bridge.decisions.pool_choice import parse_time_control

T = TypeVar("T")
Many: TypeAlias = Annotated[tuple[T, ...], Field(strict=False)]
"""A YAML list, kept as a tuple."""

LICHESS_URL = "https://lichess.org"
"""The server of an account that names none."""


class Section(BaseModel):
    """One table of the file. Unknown keys and values of another type are errors; a key left blank is left out."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, data: object, info: ValidationInfo) -> object:
        # An error of pydantic names no model: whoever suggests the nearest key finds it here by the table itself.
        if not isinstance(data, dict):
            return data
        if isinstance(info.context, dict):
            info.context[id(data)] = cls
        return {key: value for key, value in data.items() if value is not None}


def _http_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address that starts with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must hold no user and password: a token has a key of its own")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("has a port that is no number from 0 to 65535") from None
    return value.rstrip("/")


def _secret(value: object) -> object:
    """What is left around it when it is pasted, or read from a file by a shell, does not count."""
    if not isinstance(value, str):
        return value
    if not (bare := value.strip()):
        raise ValueError("must not be empty; is the variable that it names?")
    if re.search(r"\s", bare):
        raise ValueError("must not hold spaces or line breaks: one secret, and nothing else")
    return bare


def api_token(value: SecretStr) -> SecretStr:
    """Raises ValueError: no server gives such a token (RFC 6750 has the characters). It is not shown."""
    text = value.get_secret_value()
    if "${" in text:
        return value  # a variable that is not set, which is told by itself
    if text[:1] == "$":
        raise ValueError("begins with $: a variable is written ${NAME}")
    if text[:1] in "\"'":
        raise ValueError("has quotes around it that are part of it: take them away")
    if not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", text):
        raise ValueError("holds a character that no token has: copy it once more")
    return value


def _listen(value: str) -> str:
    host, port = split_listen(value)
    if not host or not 0 <= port <= 65535:
        raise ValueError('must be "host:port", such as "127.0.0.1:8080" (port 0: any free one)')
    return value


def one_of_form(pattern: str, what: str) -> Callable[[str], str]:
    """A validator for text of a fixed form; `what` says how it is written."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"{what}, not {value!r}")
        return value

    return check


Text: TypeAlias = Annotated[str, Field(min_length=1)]
HttpAddress: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "uri"}), AfterValidator(_http_address)]
Secret: TypeAlias = Annotated[SecretStr, BeforeValidator(_secret)]
ApiToken: TypeAlias = Annotated[Secret, AfterValidator(api_token)]
HostName: TypeAlias = Annotated[
    str, AfterValidator(one_of_form(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", "a name such as kiri.example.org"))
]
Listen: TypeAlias = Annotated[str, AfterValidator(_listen)]
Dials: TypeAlias = dict[str, object]
"""Dials as a person writes them; `bridge.rules.pools.parse_dials` says what is wrong with them."""


def _time_control(value: str) -> str:
    parse_time_control(value)
    return value


TimeControlLabel: TypeAlias = Annotated[str, AfterValidator(_time_control)]
"""Minutes+seconds, as Lichess shows a clock."""
