"""`notifications:`: people who are told of events, by whatever Apprise can write to (Discord, Telegram, e-mail, …)."""

import difflib
import re
from typing import Annotated, Self, TypeAlias

from jinja2 import TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import AfterValidator, Field, SecretStr, model_validator

from bridge.settings.base import Many, Secret, Section, Text
from bridge.settings.webhooks import Accounts, EventPattern, Pools

DEFAULT_EVENTS = (
    "kirichess.verdict.final",
    "kirichess.verdict.changed",
    "kirichess.account.*",
    "kirichess.engine.failed",
)


def readable(value: SecretStr) -> SecretStr:
    """Raises ValueError: it is no address of Apprise's. It is a secret, so it is not shown."""
    import logging

    import apprise  # slow to load, and few need it

    # It would tell the address.
    logging.getLogger("apprise").disabled = True
    if "${" in value.get_secret_value():
        return value  # a variable that is not set, which is told by itself
    if not apprise.Apprise().add(address := value.get_secret_value()):
        raise ValueError(f"{_what_is_wrong(address)}; see https://github.com/caronc/apprise/wiki")
    return value


def _what_is_wrong(address: str) -> str:
    """The service may be named where it is one word before `://`; nothing else of the address."""
    from apprise.plugins import N_MGR

    service = re.match(r"([A-Za-z]{2,20})://", address)
    if service is None:
        return "is no address that Apprise can read: it begins with a service, such as discord://"
    if (name := service[1].lower()) not in (known := N_MGR.schemas()):  # type: ignore[no-untyped-call]  # of a library without types
        near = difflib.get_close_matches(name, known, n=1)
        return f"names no service of Apprise's: {name}://" + (f"; did you mean {near[0]}://?" if near else "")
    return f"is no address that Apprise can read: something is missing after {name}://"


def _template(value: str) -> str:
    try:
        ImmutableSandboxedEnvironment().from_string(value)
    except TemplateSyntaxError as error:
        raise ValueError(f"is no Jinja template: {error.message} (line {error.lineno})") from None
    return value


AppriseUrl: TypeAlias = Annotated[Secret, AfterValidator(readable)]


class NotificationSettings(Section):
    """Somebody who is told of events in words."""

    url: AppriseUrl | None = Field(default=None, description="Apprise's address, as ${NAME}: it holds a secret.")
    url_file: Text | None = Field(
        default=None, description="A file that holds the address alone; a relative path counts from this file's folder."
    )
    events: Many[EventPattern] = Field(
        default=DEFAULT_EVENTS, min_length=1, description="Which events: names, with * for any part."
    )
    accounts: Accounts = ()
    pools: Pools = ()
    template: Annotated[Text, AfterValidator(_template)] | None = Field(
        default=None,
        description="What is said, as a Jinja template of type, game, account and data; where it gives nothing, "
        "nothing is sent. Left out: a text for each event.",
    )

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if (self.url is None) == (self.url_file is None):
            raise ValueError("give one of url: ${NAME} and url_file: FILE")
        return self
