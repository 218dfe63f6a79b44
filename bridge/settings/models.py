"""The configuration as a whole (interfaces, "Configuration"); every key says what it is for, and its default."""

from typing import Literal

from pydantic import Field, ModelWrapValidatorHandler, model_validator

from bridge.addresses import split_listen
from bridge.settings.base import (
    LICHESS_URL,
    ApiToken,
    Dials,
    HostName,
    HttpAddress,
    Listen,
    Many,
    Secret,
    Section,
    Text,
)
from bridge.settings.engine_limits import EngineLimits
from bridge.settings.engines import EngineSettings
from bridge.settings.notifications import NotificationSettings
from bridge.settings.play import Play
from bridge.settings.pool_names import OwnPoolName, also_known
from bridge.settings.watch import WatchEntry
from bridge.settings.webhooks import WebhookSettings

_TOKEN_FILE = "A file that holds the {what} and nothing else; a relative path counts from this file's folder."


class Account(Section):
    """One account on one platform."""

    platform: Literal["lichess"] = Field(description="The kind of platform.")
    name: Text | None = Field(default=None, description="What the account is called in this file and in messages.")
    url: HttpAddress = Field(default=LICHESS_URL, description="Any server that speaks the API.")
    token: ApiToken | None = Field(
        default=None, description="The account's API token, best as ${NAME} of an environment variable."
    )
    token_file: Text | None = Field(default=None, description=_TOKEN_FILE.format(what="token"))
    play: Play | None = Field(default=None, description="Left out for an account that only watches.")


class JournalSettings(Section):
    """The one store of everything that happened."""

    url: Text = Field(
        default="sqlite:///journal.db", description="sqlite:///FILE; a relative path counts from this file's folder."
    )
    raw_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="How many days the platform's own lines are kept, for `journal replay` and `verify`; 0: not.",
    )


class MonitorSettings(Section):
    """The page, the API and the event stream that this program serves. Left out: none."""

    listen: Listen = Field(default="127.0.0.1:8080", description="Address and port; off loopback a token is needed.")
    token: Secret | None = Field(default=None, description="What readers send as Authorization: Bearer.")
    token_file: Text | None = Field(default=None, description=_TOKEN_FILE.format(what="token"))
    hosts: Many[HostName] = Field(
        default=(),
        description="Names that readers, or a proxy on this machine, know it by (they need a token); left out: none.",
    )
    language: Literal["en", "nl", "fr", "pt"] | None = Field(
        default=None, description="The pages' language, unless a reader asks for another; left out: the browser's."
    )
    control: bool = Field(
        default=False, description="Whether readers may resign our bots' games, drain, reload and adjudicate again."
    )

    @property
    def host(self) -> str:
        """The address to listen on."""
        return split_listen(self.listen)[0]

    @property
    def port(self) -> int:
        """The port to listen on; 0: any free one."""
        return split_listen(self.listen)[1]


class PgnSettings(Section):
    """Every game as PGN, with both clocks in its comments. Left out: none."""

    folder: Text = Field(default="games", description="Where they go; a relative path counts from this file's folder.")
    group: Literal["game", "opponent", "pool", "all"] = Field(
        default="game", description="A file for each game, each opponent, each pool, or one for all games."
    )


class EngineLogSettings(Section):
    """What engine programs are told and say, a file for each game. Left out: it is not kept."""

    folder: Text = Field(
        default="engine-logs", description="Where they go; a relative path counts from this file's folder."
    )
    max_kb: int = Field(
        default=2000, ge=1, le=1_000_000, description="Kilobytes of one game, at most; a quarter of them is for stderr."
    )


class Settings(Section):
    """Configuration of the KiriChess bridge."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_pools(cls, value: object, read: ModelWrapValidatorHandler["Settings"]) -> "Settings":
        with also_known(value.get("pools") if isinstance(value, dict) else None):
            return read(value)

    accounts: Many[Account] = Field(default=(), description="Accounts that play or watch.")
    pools: dict[OwnPoolName, Dials] = Field(
        default_factory=dict, description="Pools of your own: dials by a name, which then stands wherever a pool does."
    )
    engines: dict[str, EngineSettings] = Field(
        default_factory=dict, description="Engines by a name of your own, for play.engine."
    )
    engine_limits: EngineLimits = Field(
        default_factory=EngineLimits, description="What all engines may use together; left out: no bound."
    )
    engine_logs: EngineLogSettings | None = Field(
        default=None, description="What passes between this program and its engines, by game."
    )
    watch: Many[WatchEntry] = Field(default=(), description="Games that are followed and judged.")
    journal: JournalSettings = Field(default_factory=JournalSettings, description="Where events are stored.")
    monitor: MonitorSettings | None = Field(default=None, description="Page, API and event stream.")
    webhooks: Many[WebhookSettings] = Field(default=(), description="Programs that events are posted to.")
    notifications: Many[NotificationSettings] = Field(default=(), description="People who are told of events.")
    pgn: PgnSettings | None = Field(default=None, description="PGN files of the games.")
    reload: bool = Field(
        default=False,
        description="Whether a change of this file is read while the program runs; SIGHUP has it read in any case.",
    )
    drain_s: int = Field(
        default=300,
        ge=0,
        le=86_400,
        description="Seconds that running games get after a termination signal; then they wait for the next start.",
    )
