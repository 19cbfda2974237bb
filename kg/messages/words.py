"""All texts that Liantu composes, in Chinese and English, read from words.yaml and phrases.zh.yaml.

`word` looks up a text by key. `translated` turns an English message, which is its own key, into Chinese: its template
is found in phrases.zh.yaml and its parameters are read off the message, so that messages may cross process boundaries
as plain text.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Lang = Literal["zh", "en"]
LANGUAGES: Final[tuple[Lang, ...]] = ("zh", "en")
BOTH: Final = " · "  # between the Chinese and the English of a text
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_SENTENCES: Final = frozenset({"cause", "advice", "reason", "why", "has"})  # parameters that are sentences, no names
_ENGLISH: Final = re.compile(r"[A-Za-z]{3}")


def word(key: str, lang: Lang = "zh", **parts: object) -> str:
    """Return the text of a key in a language, with its placeholders filled.

    >>> word("ask.covered", "en", first="2024-01-01", last="2024-02-01")
    'Documents in this base: 2024-01-01 to 2024-02-01'
    """
    text = _words()[key][lang]
    return text.format(**parts) if parts else text


def listed(items: Iterable[str], lang: Lang) -> str:
    """Return items as one list: 甲、乙."""
    return word("list", lang).join(items)


def noted(text: object, lang: Lang) -> str:
    """Return a note in brackets, as it stands behind a name: （计划）."""
    return word("brackets", lang, text=text)


class Untranslated(Exception):
    """A message part that phrases.zh.yaml does not have; the whole message then stays English."""


def rendered(template: str, parts: Mapping[str, object], lang: Lang) -> str:
    """Return a message that is given as its English template and parameters."""
    if lang == "en":
        return template.format(**parts) if parts else template
    if not parts:
        return translated(template, lang)
    try:
        return _phrases()[template].format(**{name: _part(name, value, lang) for name, value in parts.items()})
    except (KeyError, Untranslated):
        return template.format(**parts)


class Listed(tuple[str, ...]):
    """Names in a message, joined as its language joins them."""

    __slots__ = ()

    def __str__(self) -> str:
        return listed(self, "en")


def _part(name: str, value: object, lang: Lang) -> object:
    """Return a parameter in a language: names stay as they are, but a sentence has to be known."""
    if isinstance(value, Listed):
        return listed(value, lang)
    if not isinstance(value, str):
        return value
    found = translated(value, lang)
    if found == value and name in _SENTENCES and _ENGLISH.search(value):
        raise Untranslated
    return found


def in_language(value: Any, lang: Lang) -> Any:
    """Return plain objects with only one language of the texts that have two, `中文 · English`.

    >>> in_language({"summary": "产业链 · chain", "enum": ["a"]}, "en")
    {'summary': 'chain', 'enum': ['a']}
    """
    if isinstance(value, dict):
        return {key: in_language(each, lang) for key, each in value.items()}
    if isinstance(value, list):
        return [in_language(each, lang) for each in value]
    if isinstance(value, str) and BOTH in value:
        chinese, _, english = value.partition(BOTH)
        return chinese if lang == "zh" else english
    return value


def translated(message: str, lang: Lang) -> str:
    """Return an English message in a language; one that phrases.zh.yaml does not have stays English as a whole.

    >>> translated("12 pages, more than 3,000", "zh")
    '12 页，超过 3,000 页的上限'
    """
    if lang == "en":
        return message
    if message in _phrases():
        return _phrases()[message]
    for pattern, phrase in _patterns():
        if found := pattern.fullmatch(message):
            try:
                return phrase.format(**{name: _part(name, value, lang) for name, value in found.groupdict().items()})
            except Untranslated:
                continue
    return message


@cache
def _words() -> dict[str, dict[Lang, str]]:
    found: dict[str, dict[Lang, str]] = _read("words.yaml")
    return found


@cache
def _phrases() -> dict[str, str]:
    found: dict[str, str] = _read("phrases.zh.yaml")
    return found


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the phrases with parameters as patterns, the most specific first."""
    templates = sorted((each for each in _phrases() if PLACEHOLDER.search(each)), key=_specificity)
    return tuple((_pattern(template), _phrases()[template]) for template in templates)


def _specificity(template: str) -> tuple[int, str]:
    return -len(PLACEHOLDER.sub("", template)), template


def _pattern(template: str) -> re.Pattern[str]:
    pieces = PLACEHOLDER.split(template)  # text, name, text, name, … text
    seen: set[str] = set()
    out = []
    for place, piece in enumerate(pieces):
        if place % 2 == 0:
            out.append(re.escape(piece))
        else:
            out.append(f"(?P={piece})" if piece in seen else f"(?P<{piece}>.+?)")
            seen.add(piece)
    return re.compile("".join(out), re.DOTALL)


def _read(name: str) -> Any:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.CSafeLoader)
