"""The configuration file: models, YAML with line and column, and everything that can be wrong with it."""

from bridge.settings.load import load
from bridge.settings.models import Settings

__all__ = ["Settings", "load"]
