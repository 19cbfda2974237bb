"""Find companies by their place in a sentence: beside listed ones in an enumeration, in a slot, as an item's label.

Unlisted firms, and 其, are found where only a company can stand: 「客户包括宁德时代、清陶」, 「收购博奥镁铝35%股权」.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.names.company_forms import is_one_word, is_proper
from extraction.sentence import EntityMention
from extraction.text.clauses import clause_start
from extraction.text.lexicon import phrases, table
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.sentence import AnnotatedSentence

_FIRMS = frozenset({Kind.COMPANY, Kind.INSTITUTION})
_PHRASES = phrases("relations/firm_names")
_NO_FIRM, _FORMED = _PHRASES["no_firm"], re.compile(table("company_slots")["form"])
_NAME, _RIGHT, _LEFT = (_PHRASES[name] for name in ("name", "right", "left"))
_LATIN, _SCHOOL = re.compile("^[A-Z]+"), re.compile("大学|学院|研究")
_PRONOUN = re.compile(r"(?<=[向为给对从与由])其(?=[供提采订交配代生独合组加签])")
_FORMED_SCORE, _BARE_SCORE = 0.85, 0.7
_GUESSED = 0.8  # score of names that the recogniser guesses


@cache
def _slots() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(entry["words"]) for entry in table("company_slots")["slots"].values())


def firms_of(annotated: AnnotatedSentence) -> AnnotatedSentence:
    """Return a sentence with the companies that its form shows; they replace guesses of other kinds."""
    found = list(annotated.refs)
    for start, end in (*_in_slots(annotated.text),):
        _adopt(found, annotated.text, start, end)
    _beside(found, annotated.text)
    _pronouns(found, annotated.text)
    if found == list(annotated.refs):
        return annotated
    return structs.replace(annotated, refs=tuple(sorted(found, key=lambda ref: ref.start)))


def _in_slots(text: str) -> Iterator[tuple[int, int]]:
    for slot in _slots():
        for match in slot.finditer(text):
            yield match.span("name")


def _adopt(found: list[EntityMention], text: str, start: int, end: int, *, listed: bool = False) -> bool:
    """Add text[start:end] as a company, if it has the form of a name and is not known to be another thing.

    What is `listed` beside a company may contain another name: 富士电机.
    """
    name = text[start:end].strip()
    end = start + len(name)
    over = [ref for ref in found if ref.start < end and start < ref.end]
    if any(ref.kind in _FIRMS for ref in over) or not _NAME.fullmatch(name) or _NO_FIRM.search(name):
        return False
    formed = name[0].isascii() or _FORMED.search(name) is not None
    proper = name.isascii() or (is_proper(_LATIN.sub("", name)) and (listed or not is_one_word(name)))
    if (not formed and over and not listed) or not proper or _SCHOOL.match(text, end):
        return False
    guessed = listed and all(ref.score <= _GUESSED for ref in over)
    whole = any((ref.start, ref.end) == (start, end) for ref in over)
    if any(ref.start < start or end < ref.end for ref in over) or (whole and not guessed):
        return False
    found[:] = [ref for ref in found if ref not in over]
    score = _FORMED_SCORE if formed else _BARE_SCORE
    found.append(EntityMention(entity_id(Kind.COMPANY, name), Kind.COMPANY, name, start, end, score=score))
    return True


def _beside(found: list[EntityMention], text: str) -> None:
    """Adopt the other items of an enumeration that has a company: 「华友钴业、夏钨新能等」."""
    known = [ref for ref in found if ref.kind is Kind.COMPANY and ref.start >= 0]
    for ref in known:
        at = ref.end
        while (match := _RIGHT.match(text, at)) is not None:
            if not _adopt(found, text, *match.span("name"), listed=True):
                break
            at = match.end()
        at = ref.start
        while (match := _LEFT.search(text, max(0, at - 14), at)) is not None:
            if not _adopt(found, text, *match.span("name"), listed=True):
                break
            at = match.start("name")


def _pronouns(found: list[EntityMention], text: str) -> None:
    """Read 其 in 「台积电为英伟达代工，SK海力士为其供应HBM」 as the last company of the clauses before."""
    for match in _PRONOUN.finditer(text):
        start = clause_start(text, match.start())
        before = [ref for ref in found if ref.kind is Kind.COMPANY and 0 <= ref.start < start]
        if before:
            meant = max(before, key=lambda ref: ref.end)
            found.append(structs.replace(meant, start=match.start(), end=match.end(), score=0.9 * meant.score))
