"""The sinks of the configuration; a webhook also for whoever sends an event again."""

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


def sinks_of(settings: Settings, journal: Journal) -> list[Sink]:
    """Whoever is told of events: webhooks, people, the PGN folder."""
    folders = [PgnFolder(Path(settings.pgn.folder), settings.pgn.group)] if settings.pgn is not None else []
    told = [_notification(each, journal) for each in settings.notifications]
    return [*(webhook(hook, journal) for hook in settings.webhooks), *told, *folders]


def _notification(settings: NotificationSettings, journal: Journal) -> Notification:
    assert settings.url is not None, "read from its file by now"
    wanted = EventFilter(settings.events, settings.accounts, settings.pools)
    return Notification(settings.url.get_secret_value(), wanted, settings.template, journal=journal)
