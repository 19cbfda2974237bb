"""Resolve what a sentence refers to without naming it: 公司, a bare 价格, and the subject of a clause that has none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, structs

from extraction.context.surroundings import CODE
from extraction.names.gazetteer import indicator_of
from extraction.sentence import CONTEXT, EntityMention
from extraction.text.clauses import in_brackets
from extraction.text.lexicon import phrases
from kg.model import Kind
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.context.surroundings import Surroundings
    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedSentence

_COMPANY_WORD = Prefiltered(phrases("context/coreference")["company_word"].pattern)
_OWN_COMPANY = re.compile(r"该公司|本公司")
_TOPIC_KINDS = frozenset({Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY})
_HEADED_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY})


class Discourse:
    """The names of a document so far: those of the current block, and the last company."""

    def __init__(self, company: EntityMention | None, lexicon: Lexicon) -> None:
        self._company, self._lexicon = company, lexicon
        self._topics: set[str] = set()
        self._coded: EntityMention | None = None  # the last company of the block that its code introduces

    def begin_block(self) -> None:
        """Forget the topics of the previous paragraph or item."""
        self._topics, self._coded = set(), None

    def resolve(
        self, text: str, names: Sequence[EntityMention], around: Surroundings
    ) -> tuple[list[EntityMention], EntityMention | None]:
        """Return the names of the next sentence with what it refers to, and its default subject.

        The subject of the surroundings applies until the block names another topic.
        """
        about = around.subject
        subject = about if self._topics <= {about.entity if about else ""} else None
        coded = [ref for ref in names if ref.kind == Kind.COMPANY and CODE.match(text, ref.end)]
        self._coded = coded[-1] if coded else self._coded
        resolved = self._with_pronouns(text, names, around.company)
        if subject is not None and subject.kind in _HEADED_KINDS:
            resolved = self._with_bare_heads(text, resolved, subject)
        self._topics |= {ref.entity for ref in names if ref.kind in _TOPIC_KINDS}
        self._company = next((ref for ref in reversed(resolved) if ref.kind == Kind.COMPANY), self._company)
        return resolved, subject

    def _with_pronouns(
        self, text: str, names: Sequence[EntityMention], company: EntityMention | None
    ) -> list[EntityMention]:
        """Add 「公司」 and 「该公司」 as mentions of the company they refer to, if it is unambiguous."""
        out = list(names)
        for match in _COMPANY_WORD.finditer(text):
            named = next((ref for ref in names if ref.start <= match.start() < ref.end), None)
            if named is not None and (named.start, named.end) != match.span():
                continue
            firm = named or company  # the document may define 「公司」
            before = [ref for ref in names if ref.kind == Kind.COMPANY and ref.end <= match.start()]
            meant = firm or (before[-1] if len({ref.entity for ref in before}) == 1 else None)
            if firm is not None and self._coded is not None and self._coded.entity != firm.entity:
                continue  # 「甲公司（300001.SZ）…，公司…」 in a report on 乙公司 is about either
            if firm is not None and firm.entity in {ref.entity for ref in before[1:]} and before[0].start == 0:
                meant = before[0]  # under 乙公司, 「甲公司第一大客户为乙公司，公司…」 still means 甲公司
            if meant is None and not before and _OWN_COMPANY.match(match[0]):
                meant = self._company
            if meant is not None and meant is not named:
                out = [ref for ref in out if ref is not named]
                out.append(structs.replace(meant, start=match.start(), end=match.end(), score=0.9 * meant.score))
        return sorted(out, key=lambda ref: ref.start)

    def _with_bare_heads(self, text: str, names: list[EntityMention], subject: EntityMention) -> list[EntityMention]:
        """Read 「价格上涨」 under the heading 碳酸锂 as 碳酸锂价格."""
        out = list(names)
        for start, end, head in self._lexicon.bare_heads(text):
            if not any(ref.start < end and start < ref.end for ref in out):
                out.append(indicator_of(subject, head, start=start, end=end))
        return sorted(out, key=lambda ref: ref.start)


class Antecedent(Struct, frozen=True):
    """The subject of a clause that names none, and where it was found."""

    mention: EntityMention
    origin: Literal["clause", "context", "topic", "sentence"]


def antecedent(
    annotated: AnnotatedSentence,
    topics: Sequence[EntityMention],
    *,
    previous: EntityMention | None,
    before: EntityMention | None,
) -> Antecedent | None:
    """Return the subject of a clause that names none; None if several are possible.

    Args:
        annotated: the sentence.
        topics: what it names before the clause.
        previous: the subject of the clause before.
        before: the subject of the sentence before.
    """
    if previous is not None:
        return Antecedent(previous, "clause")
    implied = annotated.subject
    named = {ref.entity for ref in topics}
    if implied is not None and implied.kind == Kind.COMPANY and named <= {implied.entity}:
        return Antecedent(implied, "context")
    if topics:
        return Antecedent(topics[-1], "topic") if len(named) == 1 else None
    if before is not None:
        return Antecedent(structs.replace(before, start=CONTEXT, end=CONTEXT), "sentence")
    return Antecedent(implied, "context") if implied is not None else None


def company_before(annotated: AnnotatedSentence, before: int) -> EntityMention | None:
    """Return the last company named before an offset, outside brackets, else the company that the sentence is about."""
    companies = (ref for ref in annotated.between(0, before) if ref.kind == Kind.COMPANY)
    named = [ref for ref in companies if not in_brackets(annotated.text, ref.start)]
    subject = annotated.subject if annotated.subject and annotated.subject.kind == Kind.COMPANY else None
    return named[-1] if named else subject
