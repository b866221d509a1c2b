"""Which language a learner is addressed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tutor.i18n import LANGUAGES

_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def choose_language(option: str | None, environment: Mapping[str, str], saved: Callable[[], object]) -> str:
    """Return "zh" or "en": the option, TUTOR_LANG, the saved choice, a Chinese locale, else English.

    `saved` is asked only when it decides; a value that names neither language is passed over.
    """
    for named in (option, environment.get("TUTOR_LANG")):
        if (language := known(named)) is not None:
            return language
    if (language := known(saved())) is not None:
        return language
    locale = next((value for name in _LOCALE if (value := environment.get(name))), "")
    return "zh" if known(locale) == "zh" else "en"


def known(name: object) -> str | None:
    """Return the language that a name such as "zh", "zh_CN.UTF-8" or "EN" begins with, or None."""
    if not isinstance(name, str):
        return None
    beginning = name.strip().lower().replace("-", "_").partition(".")[0].partition("_")[0]
    return beginning if beginning in LANGUAGES else None


def named_language(words: Sequence[str]) -> str | None:
    """Return the value of `--lang` among the words of a command line that is not parsed yet."""
    for index, word in enumerate(words):
        if word == "--lang" and index + 1 < len(words):
            return words[index + 1]
        if word.startswith("--lang="):
            return word.partition("=")[2]
    return None
