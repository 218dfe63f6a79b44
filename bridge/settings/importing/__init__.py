"""Other bots' configuration files, as ours: lichess-bot's and BotLi's."""

from bridge.settings.importing.convert import Imported, convert

__all__ = ["Imported", "convert"]
