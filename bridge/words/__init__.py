"""The program's words in four languages: gettext catalogs, with the manual's own terms. English is the source."""

import gettext
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "nl", "fr", "pt")
DOMAIN = "kirichess"


@cache
def words(lang: str) -> gettext.NullTranslations:
    """The messages of a language, by their English words; a language that is not known speaks English."""
    if lang not in LANGUAGES:
        lang = "en"
    catalog = files("bridge.words") / "locale" / lang / "LC_MESSAGES" / f"{DOMAIN}.mo"
    with catalog.open("rb") as file:
        return gettext.GNUTranslations(file)
