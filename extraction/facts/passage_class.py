"""Classify passages by their wording, the facts read from them, and the passages before them.

The first rule that matches decides. Duplicates across documents are recorded in `Reading.copies`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from extraction.certainty.modality import has_forecast, is_risk_heading
from extraction.documents.cleaning import line_reason
from extraction.text.lexicon import phrases
from extraction.text.similarity import letters_of
from kg.model import ChunkKind, Modality, ValueClass
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.model import Chunk, Fact

# Connectives that always join a cause to its effect; looser ones (推动, 影响) count only with a causal fact.
_PHRASES = phrases("facts/passage_class")
_CAUSE = _PHRASES["cause"]
_ENGLISH_CAUSE = re.compile(r"\b(?:because|due to|driven by|as a result|led to)\b", re.IGNORECASE)
_RISK_LEAD = re.compile(r"(?:[一二三四五六七八九十\d]{1,2}[、.]\s*)?(?:投资|主要)?风险(?:提示|因素|分析)\s*[:：]")
_NUMBER = Prefiltered(_PHRASES["number"].pattern)
_NUMBERS_ALONE = 0.6  # fraction of a text's characters that are numbers, units and table rules
_SHINGLE = 5  # characters
_SAME_PASSAGE = 0.8  # fraction of a passage's shingles that one earlier passage contains
_MIN_COPY = 40  # characters; similarity of shorter passages is chance
_FIGURE = re.compile(r"\d[\d.,]*")


def with_classes(chunks: Sequence[Chunk], facts: Iterable[Fact], *, find_repeated: bool = True) -> list[Chunk]:
    """Return the passages of one document in order, each with its class.

    Args:
        chunks: the passages.
        facts: those of the document.
        find_repeated: look for passages that repeat an earlier one, which takes quadratic time in a long document.
    """
    grouped = _facts_by_chunk(chunks, facts)
    repeated = _repeated(chunks) if find_repeated else [False] * len(chunks)
    return [
        replace(chunk, value_class=class_of(chunk, held, repeated=again))
        for chunk, held, again in zip(chunks, grouped, repeated, strict=True)
    ]


def class_of(chunk: Chunk, facts: Sequence[Fact], *, repeated: bool = False) -> ValueClass:
    """Return the class of a passage.

    Args:
        chunk: the passage.
        facts: those with evidence in it.
        repeated: an earlier passage of the document has nearly the same text.
    """
    measured = any(fact.value is not None for fact in facts)
    if not facts and is_boilerplate(chunk):
        return ValueClass.BOILERPLATE
    if repeated:
        return ValueClass.REPEATED
    if not measured and is_bare_numbers(chunk.text):
        return ValueClass.BARE_NUMBERS
    if chunk.kind is ChunkKind.TEXT:
        if any(fact.sign for fact in facts) or _names_cause(chunk.text):
            return ValueClass.CAUSAL
        if any(fact.modality is Modality.FORECAST for fact in facts) or has_forecast(chunk.text):
            return ValueClass.FORECAST
    return ValueClass.MEASURED if measured else ValueClass.PLAIN


def _names_cause(text: str) -> bool:
    return _CAUSE.search(text) is not None or _ENGLISH_CAUSE.search(text) is not None


def is_boilerplate(chunk: Chunk) -> bool:
    """Return whether the passage contains only notices, contacts or the usual list of risks."""
    lines = [line for line in chunk.text.split("\n") if line.strip()]
    if all(line_reason(line) for line in lines):
        return True
    risks = any(is_risk_heading(heading) for heading in chunk.heading) or _RISK_LEAD.match(chunk.text) is not None
    # A risk with a cause or a number is worth reading; a list of risk names is not.
    return risks and not (_names_cause(chunk.text) or re.search(r"\d", chunk.text))


def is_bare_numbers(text: str) -> bool:
    """Return whether most of the text is numbers, as in a table body or the scale of an axis."""
    held = sum(len(match[0]) for match in _NUMBER.finditer(text))
    return bool(re.search(r"\d", text)) and held >= _NUMBERS_ALONE * max(len(text), 1)


def _repeated(chunks: Sequence[Chunk]) -> list[bool]:
    """Return for each passage whether an earlier one contains nearly all of its shingles (containment, Broder 1997).

    All of its figures must be contained too: the same sentence with another week's prices is new.
    """
    seen: set[str] = set()
    held: list[tuple[set[str], set[str]]] = []
    repeated = []
    for chunk in chunks:
        plain = letters_of(chunk.text.lower())
        figures = set(_FIGURE.findall(chunk.text))
        shingles = {plain[at : at + _SHINGLE] for at in range(len(plain) - _SHINGLE + 1)}
        least = _SAME_PASSAGE * len(shingles)
        # cheap test first: if all earlier passages together lack the shingles, none alone contains them
        again = (
            len(plain) >= _MIN_COPY
            and len(shingles & seen) >= least
            and any(figures <= numbers and len(shingles & others) >= least for others, numbers in held)
        )
        repeated.append(again)
        if not again:
            held.append((shingles, figures))
            seen |= shingles
    return repeated


def _facts_by_chunk(chunks: Sequence[Chunk], facts: Iterable[Fact]) -> list[list[Fact]]:
    """Return each passage's facts, those whose evidence begins in it; passages are ordered and disjoint."""
    starts = [chunk.start for chunk in chunks]
    held: list[list[Fact]] = [[] for _ in chunks]
    for fact in facts:
        places = {bisect_right(starts, item.start) - 1 for item in fact.evidence}
        for place in sorted(places):
            if place >= 0 and any(item.start < chunks[place].end for item in fact.evidence):
                held[place].append(fact)
    return held
