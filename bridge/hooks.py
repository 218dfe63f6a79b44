"""A webhook as the configuration describes it, for the daemon and for whoever sends an event again."""

from bridge.event_filter import EventFilter
from bridge.interfaces import Journal
from bridge.settings.webhooks import WebhookSettings
from bridge.sinks.webhook import Webhook


def webhook(settings: WebhookSettings, journal: Journal | None = None) -> Webhook:
    """The sink; `journal` is asked for the pool of games that began long ago."""
    secret = settings.secret.get_secret_value() if settings.secret is not None else None
    wanted = EventFilter(settings.events, settings.accounts, settings.pools)
    return Webhook(settings.url, secret, wanted, journal=journal)
