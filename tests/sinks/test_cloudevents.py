"""A journal entry on its way to other programs."""

import json
import re

from bridge.cloudevents import to_cloudevent, to_json
from bridge.event_types import EVENT_TYPES
from bridge.interfaces import Entry

ENTRY = Entry(7, "abc-7", 1_796_003_077_569, "kirichess.game.ply", "Qy5iNRCi", "anna", {"ply": 3, "san": "e4"})


def test_an_entry_becomes_a_cloudevent() -> None:
    assert to_cloudevent(ENTRY) == {
        "specversion": "1.0",
        "id": "abc-7",
        "source": "/kirichess-bridge/abc",
        "type": "kirichess.game.ply",
        "subject": "Qy5iNRCi",
        "time": "2026-11-30T01:44:37.569Z",
        "datacontenttype": "application/json",
        "sequence": "7",
        "sequencetype": "Integer",
        "account": "anna",
        "data": {"ply": 3, "san": "e4"},
    }


def test_what_is_empty_is_left_out() -> None:
    event = to_cloudevent(Entry(1, "abc-1", 0, "kirichess.account.online", "", "", {}))
    assert "subject" not in event
    assert "account" not in event
    assert event["data"] == {}
    assert event["time"] == "1970-01-01T00:00:00.000Z"


def test_the_text_is_one_line_of_ascii_whatever_was_said() -> None:
    text = to_json(Entry(1, "abc-1", 0, "kirichess.chat.sent", "g", "", {"text": "Ĝ\n\u2028\ud83d"}))
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text)["data"] == {"text": "Ĝ\n\u2028\ud83d"}


def test_every_event_type_has_a_line_that_says_what_it_tells() -> None:
    for name, line in EVENT_TYPES.items():
        assert re.fullmatch(r"kirichess(\.[a-z]+)+", name)
        assert line
        assert "\n" not in line
