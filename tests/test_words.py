"""Every message stands in every language, with its fields, and the compiled catalogs are those of the written ones."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg  # type: ignore[attr-defined]  # newer than the stubs
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from bridge.words import LANGUAGES, words

ROOT = Path(__file__).parents[1]
WORDS = ROOT / "bridge" / "words"


def catalog(lang: str) -> Catalog:
    with (WORDS / "locale" / lang / "LC_MESSAGES" / "kirichess.po").open("rb") as file:
        return read_po(file, locale=lang)


def extracted() -> set[str]:
    with (WORDS / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    found: Iterable[Any] = extract_from_dir(ROOT, methods, options)
    return {str(message) for _name, _line, message, _comments, _context in found}


def fields(text: str) -> set[str]:
    return {name for _text, name, _form, _conversion in Formatter().parse(text) if name}


@pytest.fixture(scope="module")
def messages() -> set[str]:
    return extracted()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_message_is_translated(lang: str, messages: set[str]) -> None:
    known = {str(message.id): message for message in catalog(lang) if message.id}
    assert len(messages) > 100
    assert messages - known.keys() == set(), "missing"
    assert known.keys() - messages == set(), "said nowhere"
    for text, message in known.items():
        assert message.string, f"{lang}: not translated: {text}"
        assert not message.fuzzy, f"{lang}: fuzzy: {text}"
        assert fields(str(message.string)) == fields(text), text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_compiled_catalogs_are_up_to_date(lang: str) -> None:
    compiled = BytesIO()
    write_mo(compiled, catalog(lang))
    stored = (WORDS / "locale" / lang / "LC_MESSAGES" / "kirichess.mo").read_bytes()
    assert stored == compiled.getvalue(), f"pybabel compile -D kirichess -d bridge/words/locale -l {lang}"


def test_the_terms_are_the_manual_s() -> None:
    terms = {
        "nl": "klokkloof",
        "fr": "écart de pendule",
        "pt": "brecha de relógio",
        "en": "clock gap",
        "xx": "clock gap",
    }
    for lang, term in terms.items():
        assert words(lang).gettext("clock gap") == term
