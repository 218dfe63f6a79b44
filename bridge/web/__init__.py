"""The monitor: what the program does, as a page, as JSON and as an event stream."""

from bridge.web.app import create_monitor
from bridge.web.monitor import Monitor
from bridge.web.status import StatusReport, Stream

__all__ = ["Monitor", "StatusReport", "Stream", "create_monitor"]
