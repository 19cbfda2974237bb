"""Check that a sentence says only what the items it cites say: numbers, names, directions, denials and certainty."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import daachorse
import yaml

from kg.kinds import kind_of
from kg.model import Kind, Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg.query.grounding.context import ContextItem
    from kg.store.port import View

_NUMBER = re.compile(r"(?<![A-Za-z0-9.])\d+(?:\.\d+)?")
_NEAR = 10  # characters between a name and what it does
_CLAUSE = re.compile(r"[，,。；;！!？?：:→\n]|但|而")
_SENTENCE_END = re.compile(r"[。；;！!？?\n]")
_NAMING = frozenset({Kind.COMPANY, Kind.INSTITUTION, Kind.PERSON, Kind.PRODUCT, Kind.REGION, Kind.INDUSTRY})
_SHORTEST_NAME = 2


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The words of words.yaml, each group as one pattern."""

    rises: re.Pattern[str]
    falls: re.Pattern[str]
    raises: re.Pattern[str]
    lowers: re.Pattern[str]
    denies: re.Pattern[str]
    modalities: Mapping[str, re.Pattern[str]]


@cache
def claim_words() -> ClaimWords:
    """Read words.yaml."""
    found = yaml.safe_load(resources.files(__package__).joinpath("words.yaml").read_text("utf-8"))
    modalities = {name: _pattern(words) for name, words in found.pop("modalities").items()}
    return ClaimWords(**{name: _pattern(words) for name, words in found.items()}, modalities=modalities)


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    spelled = sorted(map(str, words), key=len, reverse=True)
    parts = (rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in spelled)
    return re.compile("|".join(parts), re.IGNORECASE)


class KnownNames:
    """Finds the names of a view in sentences: those of companies, people, products, industries and regions."""

    def __init__(self, view: View) -> None:
        names = {
            name.casefold(): None
            for name, entity in view.names()
            if len(name) >= _SHORTEST_NAME and kind_of(entity) in _NAMING and not name.isdecimal()
        }
        kind = daachorse.MATCH_KIND_LEFTMOST_LONGEST
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(list(names), kind) if names else None

    def within(self, text: str) -> list[tuple[int, int]]:
        """Return where names stand in a text, the longest at each place."""
        folded = text.casefold()
        if self._automaton is None or len(folded) != len(text):
            return []
        return [(start, end) for start, end, _ in self._automaton.find(folded)]


def faults(sentence: str, cited: Sequence[ContextItem], names: KnownNames, *, question: str = "") -> list[str]:
    """Return why the cited items do not support a sentence; none if they do.

    Args:
        sentence: without its citations.
        cited: the items it cites.
        names: the names of the base.
        question: its words may be repeated.
    """
    if not cited:
        return ["no citation"]
    support = "\n".join(_support(cited))
    return [
        *(f"number {number}" for number in _numbers(sentence) - _numbers(f"{support}\n{question}")),
        *(f"name {name}" for name in _unknown_names(sentence, f"{support}\n{question}", names)),
        *(f"direction of {name}" for name in _turned(sentence, support, names)),
        *_certainty(sentence, cited, support, names),
    ]


def _support(cited: Iterable[ContextItem]) -> Iterable[str]:
    for item in cited:
        yield item.text
        for citation in item.citations:
            yield from (
                citation.quote,
                citation.title,
                citation.publisher,
                citation.speaker,
                str(citation.published_on),
            )


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text without separators and idle zeros.

    >>> sorted(_numbers("营收1,391.040亿元，2024年3月"))
    ['1391.04', '2024', '3']
    """
    plain = re.sub(r"(?<=\d)[,，](?=\d{3})", "", text)
    return {_plain_number(number) for number in _NUMBER.findall(plain.replace("-", " "))}


def _plain_number(number: str) -> str:
    whole, _, part = number.partition(".")
    part = part.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{'.' + part if part else ''}"


def _unknown_names(sentence: str, support: str, names: KnownNames) -> list[str]:
    folded = support.casefold()
    found = dict.fromkeys(sentence[start:end] for start, end in names.within(sentence))
    return [name for name in found if name.casefold() not in folded]


def _turned(sentence: str, support: str, names: KnownNames) -> list[str]:
    """Return the names that move in a sentence otherwise than in its support, or that do not move there."""
    stated = _moves(support, names)
    return sorted({name for name, direction in _moves(sentence, names) if (name, direction) not in stated})


def _moves(text: str, names: KnownNames) -> set[tuple[str, int]]:
    """Return (name, +1 or −1) for each name that a clause says rises or falls."""
    words, found = claim_words(), set()
    for clause in _CLAUSE.split(text):
        spans = names.within(clause)
        for place, (start, end) in enumerate(spans):
            until = spans[place + 1][0] if place + 1 < len(spans) else len(clause)
            after, before = clause[end : min(until, end + _NEAR)], clause[max(start - _NEAR, 0) : start]
            for pattern, direction in ((words.rises, 1), (words.falls, -1)):
                if pattern.search(after):
                    found.add((clause[start:end].casefold(), direction))
            for pattern, direction in ((words.raises, 1), (words.lowers, -1)):
                if (match := pattern.search(before)) and match.end() == len(before):
                    found.add((clause[start:end].casefold(), direction))
    return found


def _denied_there(sentence: str, support: str, names: KnownNames) -> bool:
    """Whether every sentence of the support with all names of this one is a denial."""
    named = {sentence[start:end].casefold() for start, end in names.within(sentence)}
    said = [each for each in _SENTENCE_END.split(support) if named and all(name in each.casefold() for name in named)]
    return bool(said) and all(claim_words().denies.search(each) for each in said)


def _certainty(sentence: str, cited: Sequence[ContextItem], support: str, names: KnownNames) -> list[str]:
    words = claim_words()
    out = []
    modality = cited[0].modality if len({item.modality for item in cited}) == 1 else ""
    if modality not in ("", Modality.ASSERTED) and not words.modalities[modality].search(sentence):
        out.append(f"stated as certain, the source says {modality}")
    denied = all(item.polarity == Polarity.NEGATIVE for item in cited) or _denied_there(sentence, support, names)
    if denied and not words.denies.search(sentence):
        out.append("affirmed, the source denies it")
    if words.denies.search(sentence) and not denied and not words.denies.search(support):
        out.append("denied, the source affirms it")
    return out
