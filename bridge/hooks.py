"""The sinks of the configuration; those who are told of events also for whoever sends one again."""

from pathlib import Path

from bridge.event_filter import EventFilter
from bridge.interfaces import Journal, Sink
from bridge.settings.models import Settings
from bridge.settings.notifications import NotificationSettings
from bridge.settings.webhooks import WebhookSettings
from bridge.sinks.notification import Notification
from bridge.sinks.pgn import PgnFolder
from bridge.sinks.webhook import Webhook


def webhook(settings: WebhookSettings, journal: Journal | None = None) -> Webhook:
    """The sink; `journal` is asked for the pool of games that began long ago."""
    secret = settings.secret.get_secret_value() if settings.secret is not None else None
    wanted = EventFilter(settings.events, settings.accounts, settings.pools)
    return Webhook(settings.url, secret, wanted, journal=journal)


def notification(settings: NotificationSettings, journal: Journal | None = None) -> Notification:
    """The sink; `journal` as of a webhook."""
    assert settings.url is not None, "read from its file by now"
    wanted = EventFilter(settings.events, settings.accounts, settings.pools)
    return Notification(settings.url.get_secret_value(), wanted, settings.template, journal=journal)


def receivers(settings: Settings, journal: Journal | None = None) -> list[Webhook | Notification]:
    """Programs and people who are told of events, each one by one."""
    return [
        *(webhook(each, journal) for each in settings.webhooks),
        *(notification(each, journal) for each in settings.notifications),
    ]


def sinks_of(settings: Settings, journal: Journal) -> list[Sink]:
    """Whoever is told of events, and the PGN folder."""
    folders = [PgnFolder(Path(settings.pgn.folder), settings.pgn.group)] if settings.pgn is not None else []
    return [*receivers(settings, journal), *folders]
