"""Read relations between companies: clause frames over sentences in which only companies are masked.

「福晶科技曾向阿斯麦少量供货」 becomes 「C曾向C少量供货」; a frame of lexicon/company_frames.yaml gives each its role.
Half of the sentences leave one company out: the subject of the clause, the label or heading, or the sentence before
takes its role, the less surely the farther it is. A frame decides who sells and who buys: no other reader reverses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from extraction.claims.relations.details import Details, details_of
from extraction.claims.relations.firm_names import firms_of
from extraction.context.surroundings import CODE
from extraction.names.company_forms import is_proper
from extraction.sentence import CONTEXT, LETTER, AnnotatedSentence, Claim, mask
from extraction.text.clauses import clause_start
from extraction.text.lexicon import phrases, table
from kg.model import BlockKind, Kind, Polarity
from kg.text.regex_prefilter import needed_letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.sentence import AnnotatedDocument, EntityMention, Masked
    from kg.model import Block

FRAME = "firms."  # the patterns of this reader's claims begin so
_KINDS = {"C": Kind.COMPANY, "O": Kind.INSTITUTION, "H": Kind.PERSON}
_MASKED = frozenset(_KINDS.values())
_LETTERS = "".join(LETTER[kind] for kind in _KINDS.values())
_SLOT = re.compile(r"\{(?P<role>[so])(?P<how>[?!])?(?::(?P<kinds>[COH]+))?\}")
_ASIDE = "(?:（[^（）]{0,24}）)?"
_GAPS = {
    "~": f"[^{_LETTERS}，。；：！？（）|]{{0,12}}?",
    "…": f"[^{_LETTERS}，。；：！？（）|]{{0,30}}?",
    "⋯": "[^，。；：！？|]{0,20}?",
}
_OPENER = re.compile(f"(?:^[^，。；：]{{0,6}}?|[，；：。|] ?(?:其)?(?:全资|控股)?(?:子公司)?)([{_LETTERS}])")
_PHRASES = phrases("relations/frames")
_GENERIC_SUBJECT, _GENERIC_LABEL, _TENDER = (_PHRASES[name] for name in ("generic_subject", "generic_label", "tender"))
_NO_SUBJECT, _UNKNOWN, _OBJECT_BEFORE = (_PHRASES[name] for name in ("no_subject", "unknown_name", "object_before"))
_BODY = re.compile("(?:大学|学院|研究[院所]|医院|政府|实验室)$")
_LABEL = re.compile(r"[^，。；：]{1,26}：")
_LABELLED = frozenset({BlockKind.HEADING, BlockKind.ITEM})
_ITEMS, _SHORT = 10, 24  # items are below headings; characters of an item that is a label without a colon
_IN_CLAUSE, _IN_CONTEXT, _IN_TEXT = 1.0, 0.9, 0.6  # factors by where an absent company is named
_DOUBT = 0.7  # the share of a frame's confidence that does not depend on how surely the names are linked
_REACH = 4  # sentences after which the last subject no longer applies


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One wording of a relation; `reads` is what it reads in `example`, as 「seller>buyer」."""

    name: str
    relation: str
    template: str
    example: str
    reads: tuple[str, ...]
    confidence: float = 0.85
    pairs: bool = False
    among: bool = False  # the companies of one enumeration stand in the relation to each other
    tender: bool = False  # the buyer is the one of the tender announced before
    qualifiers: tuple[tuple[str, str], ...] = ()
    maybe: str = field(init=False, default="")  # the role that may be absent
    regex: re.Pattern[str] = field(init=False, repr=False)
    words: tuple[frozenset[str], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", re.compile(_compile(self.template)))
        maybe = re.search(r"\{([so])\?", self.template)
        object.__setattr__(self, "maybe", maybe[1] if maybe else "")
        needed = needed_letters(self.regex.pattern)
        object.__setattr__(self, "words", tuple(each for each in needed if each.isdisjoint(_LETTERS)))


@cache
def company_frames() -> tuple[Frame, ...]:
    """Return the frames of the lexicon, in its order."""
    return tuple(_frame(name, entry) for name, entry in table("company_frames")["frames"].items())


def _frame(name: str, entry: dict[str, Any]) -> Frame:
    qualifiers = tuple(entry.get("qualifiers", {}).items())
    return Frame(name=name, **{**entry, "reads": tuple(entry["reads"]), "qualifiers": qualifiers})


def _compile(template: str) -> str:
    def slot(match: re.Match[str]) -> str:
        letters = "".join(LETTER[_KINDS[code]] for code in match["kinds"] or "C")
        one = f"(?P<{match['role']}>[{letters}])" + ("" if match["how"] == "!" else _ASIDE)
        return f"(?:{one}{_GAPS['…']})?" if match["how"] == "?" else one

    text = _SLOT.sub(slot, template)
    for mark, gap in _GAPS.items():
        text = text.replace(mark, gap)
    return text


class Topic(Struct, frozen=True):
    """A company that may take the role of an absent one, and how surely; `before`: a sentence before names it."""

    mention: EntityMention
    factor: float
    before: bool = False


class _Around(Struct, frozen=True):
    """The sentence of a match, with what may take an absent role: its topic, and the buyer of a tender."""

    annotated: AnnotatedSentence
    topic: Topic | None
    tender: EntityMention | None


class _Scope(Struct):
    """The companies that headings and labels name above a sentence, its last subject, and the buyer of a tender."""

    above: dict[int, EntityMention | None] = {}
    subject: EntityMention | None = None
    age: int = 0
    same_statement: bool = False
    tender: EntityMention | None = None

    def topic(self, annotated: AnnotatedSentence) -> Topic | None:
        """Return the company of the label or heading, else the subject of the sentences before."""
        implied = annotated.subject
        if implied is not None and implied.kind is Kind.COMPANY:
            return Topic(implied, _IN_CONTEXT)
        label = _LABEL.match(annotated.text)
        if label is not None and not _GENERIC_LABEL.search(label[0]):
            return None  # the label names something else
        above = next((each for _, each in sorted(self.above.items(), reverse=True) if each is not None), None)
        if above is not None:
            return Topic(above, _IN_CONTEXT)
        if implied is not None or self.subject is None or self.age > _REACH:
            return None
        return Topic(self.subject, _IN_CONTEXT if self.same_statement else _IN_TEXT, before=True)

    def enter(self, annotated: AnnotatedSentence, block: Block) -> None:
        """Remember the company that a heading, or the label of an item, is about."""
        depth = block.level if block.kind is BlockKind.HEADING else _ITEMS + block.level
        self.above = {level: each for level, each in self.above.items() if level < depth}
        text = annotated.text
        if block.kind is BlockKind.HEADING:
            firms = [ref for ref in annotated.refs if ref.kind is Kind.COMPANY and ref.start >= 0]
        else:
            label = _LABEL.match(text)
            short = label is None and len(text) <= _SHORT
            end = len(text) if short else label.end() if label else 0
            firms = [ref for ref in annotated.between(0, end) if ref.kind is Kind.COMPANY]
        if len({ref.entity for ref in firms}) == 1:
            self.above[depth] = _as_context(firms[0])


class FrameReader:
    """Read the relations between companies of a document; keeps no state between documents."""

    def read(self, document: AnnotatedDocument) -> Iterator[tuple[Claim, AnnotatedSentence]]:
        """Yield the relations of each sentence, heading and table row."""
        scope = _Scope()
        for number, line in enumerate(document.lines):
            kind = line.block.kind
            annotated = firms_of(document.sentence(number))
            if kind is BlockKind.HEADING or (line.first and kind is BlockKind.TABLE):
                scope = _Scope(above=scope.above)
            if line.first and kind in _LABELLED:
                scope.enter(annotated, line.block)
            around = _Scope() if kind in (BlockKind.TABLE, BlockKind.HEADING) else scope
            yield from ((claim, annotated) for claim in _once(list(read(annotated, around))))
            _advance(scope, annotated, heading=kind is BlockKind.HEADING)


def _advance(scope: _Scope, annotated: AnnotatedSentence, *, heading: bool) -> None:
    """Remember the subject that a sentence opens with and the buyer of a tender."""
    masked = mask(annotated, kinds=_MASKED)
    opener = next(iter(_openers(masked.text, 0, len(masked.text))), None)
    members = masked.groups[opener.start(1)] if opener else ()
    if len(members) == 1 and members[0].kind is Kind.COMPANY and not heading:
        scope.subject, scope.age = _as_context(members[0]), 0
    else:
        scope.age += 1
    scope.same_statement = annotated.text.endswith("；")
    if tender := _TENDER.search(masked.text):
        buyers = [at for at in masked.groups if at < tender.start()]
        group = masked.groups[buyers[-1]] if buyers else ()
        scope.tender = _as_context(group[0]) if len(group) == 1 else scope.tender


def read(annotated: AnnotatedSentence, scope: _Scope | None = None) -> Iterator[Claim]:
    """Yield the relations of one sentence, ordered by frame, then by position."""
    scope = scope or _Scope()
    around = _Around(annotated, scope.topic(annotated), scope.tender)
    firms = [ref for ref in annotated.refs if ref.kind in _MASKED and ref.start >= 0]
    if not firms:
        return
    views: dict[bool, Masked] = {}
    letters = frozenset(annotated.text)
    for frame in company_frames():
        if any(map(letters.isdisjoint, frame.words)):
            continue
        masked = views.setdefault(frame.pairs, mask(annotated, pairs=frame.pairs, kinds=_MASKED))
        for match in frame.regex.finditer(masked.text):
            yield from _claims(frame, masked, match, around)


def _claims(frame: Frame, masked: Masked, match: re.Match[str], around: _Around) -> Iterator[Claim]:
    """Yield the claims of a match: each subject with each object."""
    ends: dict[str, tuple[EntityMention, ...]] = {}
    factor = _IN_CLAUSE
    for role in ("s", "o"):
        at = match.start(role) if role in match.re.groupindex else CONTEXT
        if at >= 0 and role == frame.maybe and _OBJECT_BEFORE.search(masked.text, 0, at):
            at = CONTEXT  # 「通过收购乙切入丙供应链」 is not about 乙
        if at >= 0:
            ends[role] = masked.groups[at]
        elif frame.among:
            ends[role] = ends["s"]
        elif (other := _absent(frame, masked, match, around)) is not None:
            ends[role], factor = other
        else:
            return
    if {"s", "o"} <= match.re.groupindex.keys() and "（" in masked.text[max(0, match.start("s")) : match.start("o")]:
        ends["s"] = ends["s"][-1:]  # 「甲、乙（丙供应商）」 is about 乙
    ends["o"] = _of_pair(ends["o"], around.annotated.text, masked.text[: match.start("o")] if frame.pairs else "")
    single = len(ends["s"]) == len(ends["o"]) == 1
    details = details_of(frame.relation, around.annotated, masked, span=match.span(), single=single)
    if details is None:
        return
    for subject, object_ in product(ends["s"], ends["o"]):
        same = subject.entity == object_.entity or subject.name.casefold() == object_.name.casefold()
        if not same and not (frame.among and object_.start <= subject.start):
            yield _claim(frame, masked, (subject, object_), match, (factor, details))


def _of_pair(listed: tuple[EntityMention, ...], text: str, before: str) -> tuple[EntityMention, ...]:
    """Return the second company of a pair: in 「甲与乙、丙与丁合作」, 乙 alone."""
    joint = text[listed[-2].end : listed[-1].start].strip() if len(listed) > 1 else ""
    return listed[:1] if joint in {"与", "和"} and before.endswith(joint) else listed


def _claim(
    frame: Frame,
    masked: Masked,
    ends: tuple[EntityMention, EntityMention],
    match: re.Match[str],
    found: tuple[float, Details],
) -> Claim:
    factor, details = found
    start, end = masked.origin(match.start()), masked.origin(match.end())
    doubt = _DOUBT + (1 - _DOUBT) * min(1.0, *(each.score for each in ends))
    return Claim(
        relation=frame.relation,
        subject=ends[0],
        object=ends[1],
        start=start,
        end=end,
        pattern=FRAME + frame.name,
        value=details.value,
        qualifiers=tuple(sorted({**dict(frame.qualifiers), **dict(details.qualifiers)}.items())),
        confidence=round(frame.confidence * factor * doubt, 3),
        polarity=Polarity.NEGATIVE if details.ended or masked.denied(start, end) else None,
        own_clause=True,
    )


def _absent(
    frame: Frame, masked: Masked, match: re.Match[str], around: _Around
) -> tuple[tuple[EntityMention, ...], float] | None:
    """Return the companies that take an absent role and how surely, or None if something else does."""
    text, start = masked.text, match.start()
    if frame.tender:
        return ((around.tender,), _IN_CONTEXT) if around.tender is not None else None
    opened = text.rfind("（", 0, start)
    if opened > text.rfind("）", 0, start):  # 「甲（…）、乙（配套C）」 is about 乙 alone
        before = [members for at, members in masked.groups.items() if at < opened]
        named = [ref for ref in (before[-1] if before else ()) if ref.end <= masked.origin(opened)]
        return ((named[-1],), _IN_CLAUSE) if named else None
    if _has_own_subject(masked, start, around.annotated):
        return None
    statement = max(text.rfind(mark, 0, start) for mark in "。；") + 1
    openers = _openers(text, statement, start)
    coded = _introduced(masked, statement, start, around.annotated.text)
    if coded is not None and (not openers or coded.start > masked.origin(openers[-1].start(1))):
        found: tuple[tuple[EntityMention, ...], float] = ((coded,), 0.95)
    elif openers:
        between = text[openers[-1].end() : start]
        members = masked.groups[openers[-1].start(1)]
        found = (members, 0.95 if "，" in between else _IN_CLAUSE)
    elif around.topic is not None and not (
        around.topic.before and frame.maybe == "o"
    ):  # 供应商 of goods, not of a buyer
        found = ((around.topic.mention,), around.topic.factor)
    else:
        return None
    return None if any(_NO_SUBJECT.search(ref.name) for ref in found[0]) else found


def _openers(text: str, low: int, high: int) -> list[re.Match[str]]:
    """Return the companies that open clauses, without the objects of verbs: 「•收购乙」."""
    found = _OPENER.finditer(text, low, high)
    return [each for each in found if not _OBJECT_BEFORE.search(text, low, each.start(1))]


def _introduced(masked: Masked, low: int, high: int, text: str) -> EntityMention | None:
    """Return the last company before a clause that its code introduces, even inside a flattened line."""
    before = [ref for at, members in masked.groups.items() if low <= at < high for ref in members[-1:]]
    return next((ref for ref in reversed(before) if CODE.match(text, ref.end)), None)


def _has_own_subject(masked: Masked, start: int, annotated: AnnotatedSentence) -> bool:
    """Whether the clause of a match names a subject before it: makers in general, or a name that is unknown."""
    low = clause_start(masked.text, start)
    own = masked.text[low:start]
    if _GENERIC_SUBJECT.search(own):
        return True
    known = annotated.between(masked.origin(low), masked.origin(start))
    return not known and _UNKNOWN.fullmatch(own) is not None and (is_proper(own) or _BODY.search(own) is not None)


def _once(claims: Sequence[Claim]) -> list[Claim]:
    """Keep the surest claim of each pair and relation; of a pair read in both directions, neither."""
    best: dict[tuple[str, str, str], Claim] = {}
    for claim in claims:
        key = (claim.relation, claim.subject.entity, claim.object.entity)
        if key not in best or _rank(claim) > _rank(best[key]):
            best[key] = claim
    return [
        claim
        for (relation, subject, object_), claim in best.items()
        if (other := best.get((relation, object_, subject))) is None or _rank(claim) > _rank(other)
    ]


def _rank(claim: Claim) -> tuple[bool, float, int]:
    return claim.polarity is Polarity.NEGATIVE, claim.confidence, len(claim.qualifiers)


def _as_context(ref: EntityMention) -> EntityMention:
    return structs.replace(ref, start=CONTEXT, end=CONTEXT)
