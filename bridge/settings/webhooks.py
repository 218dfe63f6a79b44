"""`webhooks:`: programs that events are posted to, and which events they want."""

import base64
import binascii
from fnmatch import fnmatchcase
from typing import Annotated, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from bridge.addresses import is_loopback
from bridge.event_types import EVENT_TYPES
from bridge.settings.base import HttpAddress, Many, Secret, Section, Text
from bridge.settings.problems import unknown


def _event_pattern(value: str) -> str:
    if not any(fnmatchcase(kind, value) for kind in EVENT_TYPES):
        raise ValueError(unknown("event", value, EVENT_TYPES))
    return value


def _signing(value: SecretStr) -> SecretStr:
    secret = value.get_secret_value()
    try:
        good = not secret.startswith("whsec_") or bool(base64.b64decode(secret.removeprefix("whsec_"), validate=True))
    except binascii.Error:
        good = False
    if not good:
        raise ValueError("after whsec_ must come base64; make one: openssl rand -base64 24")
    return value


SigningSecret: TypeAlias = Annotated[Secret, AfterValidator(_signing)]
EventPattern: TypeAlias = Annotated[str, AfterValidator(_event_pattern)]
Accounts: TypeAlias = Annotated[
    Many[Text], Field(description="Only events of these accounts (names on the platform); left out: all.")
]
Pools: TypeAlias = Annotated[
    Many[Text], Field(description="Only events of games in these pools; `custom` is any other rules; left out: all.")
]


class WebhookSettings(Section):
    """A program that events are posted to, signed after Standard Webhooks."""

    url: HttpAddress = Field(description="Where events are posted; https, unless it is on this machine.")
    secret: SigningSecret | None = Field(
        default=None, description="What the posts are signed with; left out: unsigned."
    )
    events: Many[EventPattern] = Field(
        default=("kirichess.*",), min_length=1, description="Which events: names, with * for any part."
    )
    accounts: Accounts = ()
    pools: Pools = ()
    allow_http: bool = Field(
        default=False, description="Post to another machine without encryption: everybody on the way can read it."
    )

    @model_validator(mode="after")
    def _encrypted(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme == "http" and not self.allow_http and not is_loopback(parts.hostname or ""):
            raise ValueError(
                f"url: events would go to {parts.hostname} unencrypted; write https://, or set allow_http: true"
            )
        return self
