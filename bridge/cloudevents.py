"""A journal entry as a CloudEvents 1.0 JSON event: what webhooks, the event stream and `--json` send.

The `source` is the journal, so that the `sequence` of one source starts at 1 and has no holes, as the Sequence
extension asks (https://github.com/cloudevents/spec, extensions/sequence.md, type Integer). `account` is our own.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from bridge.interfaces import Entry

CONTENT_TYPE = "application/cloudevents+json"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_cloudevent(entry: Entry) -> dict[str, object]:
    """The event as plain JSON values; `subject` and `account` are left out where there is none."""
    event: dict[str, object] = {
        "specversion": "1.0",
        "id": entry.id,
        "source": f"/kirichess-bridge/{entry.id.rpartition('-')[0]}",
        "type": entry.type,
        "subject": entry.subject,
        "time": rfc3339(entry.time_ms),
        "datacontenttype": "application/json",
        "sequence": str(entry.seq),
        "sequencetype": "Integer",
        "account": entry.account,
        "data": dict(entry.data),
    }
    return {name: value for name, value in event.items() if value != ""}


def to_json(entry: Entry) -> str:
    """The event as one line of JSON, in ASCII."""
    return json.dumps(to_cloudevent(entry), separators=(",", ":"))


def rfc3339(time_ms: int) -> str:
    """Milliseconds since 1970 as `2026-11-30T01:22:03.004Z`."""
    return (_EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_cloudevent(event: Mapping[str, object]) -> Entry:
    """The entry that `to_cloudevent` told. Raises ValueError: it is none of ours."""
    data, sequence = event.get("data"), str(event.get("sequence", ""))
    if not isinstance(data, dict) or not (sequence.isascii() and sequence.isdigit()):
        raise ValueError("is no event of this program")
    time = datetime.fromisoformat(str(event.get("time")))
    names = ("id", "type", "subject", "account")
    key, kind, subject, account = (str(event.get(name, "")) for name in names)
    return Entry(int(sequence), key, (time - _EPOCH) // timedelta(milliseconds=1), kind, subject, account, data)
