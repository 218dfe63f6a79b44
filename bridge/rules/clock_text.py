"""A clock as people read it."""

from gettext import NullTranslations


def clock_text(ms: int) -> str:
    """Milliseconds → `5:07`, below a minute with tenths `0:09.4`, below zero with a minus; cut, not rounded."""
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    minutes, rest = divmod(ms, 60_000)
    if minutes:
        return f"{sign}{minutes}:{rest // 1000:02}"
    return f"{sign}0:{rest // 1000:02}.{rest % 1000 // 100}"


def decimal(text: str, words: NullTranslations) -> str:
    """A figure with the decimal mark of a catalog's language."""
    return text if words.info().get("language", "en") == "en" else text.replace(".", ",")
