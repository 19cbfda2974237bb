"""Read who gains and who pays when a factor moves, and what rises and falls with it, as the text states it.

「猪价上行推高双汇发展、龙大美食的原料成本」 states 猪价 up → 双汇发展 down. A factor's direction holds from its clause
on, until another cause takes over, ； is followed by something unrelated, or the effect is taken back (转嫁,
影响有限). A burden (成本, 费用, 减值) turns the sign: its rise is bad for its owner. Without a factor of its own, a
sentence that says 受益, 受损 or 承压 outright is read under the factor of its heading or of the sentence before.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.certainty.direction import effect_sign, last_step, move_of
from extraction.certainty.effect_words import (
    BURDEN,
    FALL,
    LEAD,
    MOVED_MEASURE,
    PHRASES,
    RISE,
    STEPS,
    VERDICTS,
)
from extraction.claims.effects.factors import MovingFactor, factors_in, is_measure, is_part
from extraction.context.headings import elsewhere, only_topic
from extraction.sentence import Claim, EntityMention
from kg.model import BlockKind, Kind, Polarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from extraction.sentence import AnnotatedDocument, AnnotatedSentence

EFFECTS = "effects/1"
_PARTIES = frozenset({Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS})
_DIRECTIONS = {1: "up", -1: "down"}
_CONFIDENCE = {"stated": 0.9, "context": 0.72, "table": 0.88, "listed": 0.62}
_LIST = re.compile(r"(?:[\d一二三]+[.、）]\s*)?(?:(?:相关|受益)(?:公司|标的|企业|个股)|建议关注)")
_NEXT = 6  # characters between a factor and its verb
_FAR = 3  # clauses that a direction holds without its factor
_LABEL = 30  # characters of a line that may be the title of the table below it
_RISKS = 3  # 预期 in one sentence: a list of risks
_CLAUSE = re.compile(r"[^，；。！？：]*[，；。！？：]?")
_ITEM = re.compile(r"[^、]+、?")
_THANKS = re.compile("受益于|得益于|受损于")
# an item of a list of happenings that a remark of its own explains
_ASIDE = re.compile(rf"[^（]*（[^（）]*(?:预期|可能|若|{LEAD}|影响|冲击)[^（）]*）、")
_LISTED = re.compile("[^，；。：]{0,6}?(?:如|例如|包括|相关(?:公司|标的|企业)(?:有|为|包括)?|建议关注|受益标的)")
# 「压缩利润空间」 is said of everybody that the heading or title is about, 「推高航司成本」 is not
_OF_ALL = re.compile(rf"(?:{STEPS.pattern})(?:了|企业|行业|板块|整体|产品|制造)*(?:[毛净]利|利润|盈利|业绩)")
_HITS = frozenset({"影响", "冲击", "制约"})  # bad for a party, but no way in which a burden moves
_CELL = re.compile(r"[^|]+")
_MOVE = re.compile(f"{RISE}|{FALL}")
_CAUSE_TAIL = re.compile(f"(?:价格?|需求|成本)?(?:{RISE}|{FALL}).*")
_OWN_CAUSE = re.compile(f"受益于|得益于|受损于|{LEAD}|{PHRASES['own_move'].pattern}")  # a cause of its own


class EffectReader:
    """Claim reader of stated effects; keeps no state between documents."""

    def read(self, document: AnnotatedDocument) -> Iterator[tuple[Claim, AnnotatedSentence]]:
        """Yield `affects` claims of sentences and table rows, in the order of the text."""
        title = factors_in(document.title, document.title_names)
        topic = above = only_topic(document.title_names)
        heading: list[MovingFactor] = []
        before: list[MovingFactor] = []
        label: list[MovingFactor] = []
        gained: list[MovingFactor] = []
        header = 0
        for number, line in enumerate(document.lines):
            text, names = line.sentence.text, document.names[number]
            if line.block.kind == BlockKind.HEADING:
                heading, before, label, gained = factors_in(text, names), [], [], []
                topic = only_topic(names) or above
            elif line.block.kind == BlockKind.TABLE:
                header = number if line.first else header
                yield from _row(document, number, header, label or heading or title)
            else:
                annotated = document.by_line[number]
                own = factors_in(text, annotated.refs)
                near = [] if line.first else before
                whose = (document.company, topic)
                found = _sentence(annotated, own, near or heading, whose) or _closing_list(annotated, own, gained)
                yield from ((claim, annotated) for claim in found)
                before, label = own, own if len(text) <= _LABEL or text.endswith("：") else []
                gained = _gaining(own, found)


def _sentence(
    annotated: AnnotatedSentence,
    factors: Sequence[MovingFactor],
    around: Sequence[MovingFactor],
    whose: tuple[EntityMention | None, EntityMention | None],
) -> list[Claim]:
    """Return the effects of each factor of a sentence, else those under the factor of its surroundings."""
    text = annotated.text
    if text.count("预期") >= _RISKS or not (VERDICTS.search(text) or STEPS.search(text)):
        return []
    walks = [_Walk(annotated, factors, factor, "stated", whose) for factor in factors]
    if not factors and around and VERDICTS.search(text) and not _OWN_CAUSE.search(text):
        walks = [_Walk(annotated, (), around[-1], "context", whose)]
    found: dict[tuple[str, str], Claim] = {}
    for claim in (claim for walk in walks for claim in walk.claims()):
        found.setdefault((claim.subject.entity, claim.object.entity), claim)
    return list(found.values())


def _gaining(factors: Sequence[MovingFactor], claims: Sequence[Claim]) -> list[MovingFactor]:
    """Return the last factor of a sentence if all that it says of it is a gain."""
    last = {factor.ref.entity: factor for factor in factors}
    of_factor = [claim for claim in claims if claim.subject.entity in last]
    gains = of_factor and all(dict(claim.qualifiers)["effect_direction"] == "up" for claim in of_factor)
    return [last[of_factor[-1].subject.entity]] if gains else []


def _closing_list(
    annotated: AnnotatedSentence, factors: Sequence[MovingFactor], gained: Sequence[MovingFactor]
) -> list[Claim]:
    """Return the companies of a list behind a sentence that says who gains: 「相关公司：甲公司、乙公司」."""
    if factors or not gained or not _LIST.match(annotated.text):
        return []
    firms = [ref for ref in annotated.refs if ref.start >= 0 and ref.kind == Kind.COMPANY]
    return [_claim(gained[0], ref, 1, level="listed", span=(ref.start, ref.end)) for ref in firms]


class _Walk:
    """The way of one factor's direction through the clauses of a sentence."""

    def __init__(
        self,
        annotated: AnnotatedSentence,
        factors: Sequence[MovingFactor],
        factor: MovingFactor,
        level: str,
        whose: tuple[EntityMention | None, EntityMention | None],
    ) -> None:
        self._annotated, self._text, self._level = annotated, annotated.text, level
        self._factor, self._all = factor, factors
        self._company, self._topic = whose
        self._own = [each for each in factors if each.ref.entity == factor.ref.entity]
        self._parties = [ref for ref in annotated.refs if ref.start >= 0 and ref.kind in _PARTIES]
        self._current: MovingFactor | None = factor if level == "context" else None
        self._subject: list[EntityMention] = []
        self._before, self._seen, self._far, self._stopped = "", "", 0, False
        self._carried, self._told = 0, 0
        self._found: list[Claim] = []

    def claims(self) -> list[Claim]:
        """Return the effects of the factor in this sentence."""
        for start, end in _clauses(self._text):
            self._clause(start, end)
        return self._found

    def _clause(self, start: int, end: int) -> None:
        text, clause = self._text, self._text[start:end]
        here = [ref for ref in self._parties if start <= ref.start < end]
        inside = [each for each in self._own if start <= each.start < end]
        body = start
        if inside:
            self._current, body = inside[-1], min(end, inside[-1].end)
            if self._thanks(text[start : inside[0].start], here, inside[0]):
                self._seen += clause
                return
            if PHRASES["reason"].match(text, body, end) or PHRASES["backdrop"].match(text, body, end):
                self._current = None
                self._seen += clause
                return
        elif self._current:
            self._takes_over(start, clause)
        self._seen += clause
        self._stopped = clause.endswith(("；", "）、"))
        self._far = 0 if inside else self._far + 1
        parties = [ref for ref in here if ref.start >= body]
        if clause.endswith("：") or self._current is None or self._far > _FAR:
            self._label(text[body:end], parties or here)
            return
        rest = text[body:end]
        if _THANKS.search(rest):
            self._current = None  # thanks to something else
            return
        if PHRASES["soft"].search(rest) or PHRASES["but"].match(rest):
            self._current = None  # what follows is said of what softens it
            return
        self._effect(body, end, parties, (here, inside))

    def _takes_over(self, start: int, clause: str) -> None:
        """End the direction where another cause begins, or where ； is followed by something unrelated."""
        carried = PHRASES["carries_on"].match(clause)
        if self._stopped and not VERDICTS.search(clause) and not carried:
            self._current = None
            return
        reached = {claim.object.entity for claim in self._found}
        others = [each for each in self._all if start <= each.start < start + len(clause) and each not in self._own]
        if any(each.ref.entity not in reached and self._acts(each) for each in others):
            self._current = None
            return
        cause = PHRASES["other_cause"].match(clause, carried.end() if carried else 0)
        if cause and (_MOVE.search(cause["cause"]) or PHRASES["bill"].search(cause["cause"])):
            thing = _CAUSE_TAIL.sub("", cause["cause"])
            if not thing or thing[-2:] not in self._seen:
                self._current = None

    def _acts(self, factor: MovingFactor) -> bool:
        """Whether a factor is followed by what it does."""
        stop = factor.end + _NEXT
        return bool(STEPS.search(self._text, factor.end, stop) or VERDICTS.search(self._text, factor.end, stop))

    def _thanks(self, front: str, here: Sequence[EntityMention], factor: MovingFactor) -> bool:
        """Read 「甲公司受益于铜价上涨」, whose parties come first; return whether the clause is one."""
        sign = 1 if PHRASES["thanks"].search(front) else -1 if PHRASES["hurt_by"].search(front) else 0
        if sign:
            firms = [ref for ref in self._subject if ref.kind == Kind.COMPANY]
            said = PHRASES["thanks"].search(front) or PHRASES["hurt_by"].search(front)
            start = factor.start - len(front) + (said.start() if said else 0)
            before = [ref for ref in here if ref.end <= start]  # 「受益于新能源车及工业需求回暖」 names two causes
            self._give(before or firms or self._subject or self._owner(), sign)
        return bool(sign)

    def _label(self, rest: str, names: list[EntityMention]) -> None:
        """Remember the names of a clause without an effect, and the verdict of one that opens a list."""
        verdict = VERDICTS.search(rest)
        if rest.endswith("：") and self._current and verdict:
            self._carried = 1 if verdict["gains"] else -1
        elif names:
            self._subject, self._before = names, rest

    def _effect(
        self,
        start: int,
        end: int,
        parties: list[EntityMention],
        around: tuple[list[EntityMention], list[MovingFactor]],
    ) -> None:
        rest = self._text[start:end]
        here, inside = around
        measured = self._level != "context" and self._indicators(start, end)
        sign = effect_sign(rest)
        if self._carried and not sign:
            self._give(parties, self._carried)
            self._carried = 0
            return
        if not sign or (self._level == "context" and not VERDICTS.search(rest)):
            firms = [ref for ref in parties if ref.kind == Kind.COMPANY]
            if self._told and firms and _LISTED.match(rest):
                self._give(firms, self._told)
            self._subject = parties or self._subject
            return
        self._told = max(sign, 0)  # a list of firms behind it names who gains
        if not parties and inside and not re.search("因|受", self._text[here[0].start if here else start : end]):
            parties = [ref for ref in here if ref.end <= inside[0].start and ref.kind == Kind.COMPANY]
        firms = [ref for ref in self._subject if ref.kind == Kind.COMPANY]
        if (parties or measured) and not any(ref.kind == Kind.COMPANY for ref in parties) and self._makers_named():
            parties, self._before = [*parties, *firms], ""
        about_owner = not measured or "公司" in rest or self._labelled()
        labelled = self._titled() if inside and not firms and not BURDEN.search(rest) else firms
        named = parties or (self._owner() if about_owner else []) or ([] if measured else labelled)
        self._give(named, sign)
        if not named and not measured and self._topic and inside and _OF_ALL.search(rest):
            self._give([self._topic], sign, level="context")
        self._subject = parties or self._subject

    def _makers_named(self) -> bool:
        """Whether the clause before says what its companies make or buy: 「甲公司采购铜管，铜价上涨推高空调成本」."""
        return bool(PHRASES["maker_words"].search(self._before)) and not re.search("供应|提供", self._before)

    def _labelled(self) -> bool:
        """Whether the sentence opens with its company: 「福斯特：EVA粒子涨价推高胶膜成本」 is about 福斯特."""
        label = self._text.find("：")
        return any(ref.entity == owner.entity and ref.end <= label for owner in self._owner() for ref in self._parties)

    def _titled(self) -> list[EntityMention]:
        """Return the thing that the sentence opens with as its label: 「保险板块：利率回升支撑估值」."""
        label = self._text.find("：")
        things = [ref for ref in self._parties if ref.end <= label and ref.kind != Kind.COMPANY]
        return things if [ref.start for ref in things] == [0] and self._text.count("：") == 1 else []

    def _owner(self) -> list[EntityMention]:
        """Return the company that the paragraph is about, else, for 公司, the report's."""
        subject = self._annotated.subject
        if subject is not None and subject.kind == Kind.COMPANY:
            return [subject]
        return [self._company] if self._company is not None and "公司" in self._text else []

    def _indicators(self, start: int, end: int) -> bool:
        """Read what an effect raises or cuts by name: 「推高电池成本」; return whether it is of something."""
        before = len(self._found)
        for ref in self._annotated.refs:
            if not (start <= ref.start < end) or not is_measure(ref) or ref.entity == self._factor.ref.entity:
                continue
            verb = last_step(self._text, start, ref.start)
            burden = BURDEN.match(self._text, ref.end) or (BURDEN.search(ref.name) and verb and verb[0] in _HITS)
            if verb is None or burden:
                continue
            move = move_of(self._text, ref.start, ref.end, name=ref.name)
            move = None if move and move.level else move
            sign = move.sign if move else 0
            if not move and verb["lead"] is None:
                sign = 1 if verb["raise"] else -1
            if sign:
                self._claim(ref, sign, level=self._level)
        return any(claim.object.about for claim in self._found[before:])

    def _give(self, parties: Iterable[EntityMention], sign: int, *, level: str = "") -> None:
        for ref in parties:
            if PHRASES["lacks"].search(self._text, max(0, ref.start - 4), max(0, ref.start)):
                continue  # 「没有锂矿的电池企业受损」
            if not is_part(ref, self._own or [_elsewhere(self._factor)]):
                self._claim(ref, sign, level=level or self._level)

    def _claim(self, ref: EntityMention, sign: int, *, level: str) -> None:
        current = self._current
        assert current is not None  # effects are read while a direction holds
        places = [(ref.start, ref.end)] if ref.start >= 0 else []
        places += [(current.start, current.end)] if self._level != "context" else []
        span = (min((low for low, _ in places), default=0), max((high for _, high in places), default=0))
        self._found.append(_claim(current, ref, sign, level=level, span=span))


def _claim(factor: MovingFactor, party: EntityMention, sign: int, *, level: str, span: tuple[int, int]) -> Claim:
    cause = factor.ref if level == "stated" or party.start < 0 else _elsewhere(factor).ref
    return Claim(
        relation="affects",
        subject=cause,
        object=party,
        start=span[0],
        end=span[1],
        pattern=f"effects.{level}",
        sign=(factor.move or 1) * sign,
        qualifiers=(("cause_direction", factor.direction), ("effect_direction", _DIRECTIONS[sign])),
        confidence=_CONFIDENCE[level] * min(1.0, party.score + 0.1),
        polarity=Polarity.POSITIVE,
        signed=True,
        reader=EFFECTS,
    )


def _elsewhere(factor: MovingFactor) -> MovingFactor:
    """Return a factor of another line."""
    return structs.replace(factor, ref=elsewhere(factor.ref))


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield the clauses of a sentence; a list whose items move by themselves is taken apart at 、."""
    for match in _CLAUSE.finditer(text):
        start, end = match.span()
        if start == end:
            continue
        items = [item.span() for item in _ITEM.finditer(text, start, end)]
        moved = sum(bool(MOVED_MEASURE.search(text[low:high])) for low, high in items)
        asides = [match.span() for match in _ASIDE.finditer(text, start, end)]
        if moved > 1:
            yield from items
        else:
            yield from pairwise((start, *(stop for _, stop in asides if stop < end), end))


def _row(
    document: AnnotatedDocument, number: int, header: int, around: Sequence[MovingFactor]
) -> Iterator[tuple[Claim, AnnotatedSentence]]:
    """Read a row with 正面 or 负面 under the move of a factor: in that column's head, else around the table."""
    text, names = document.text_of(number), document.names[number]
    cells = list(_CELL.finditer(text))
    marks = {at: mark for at, cell in enumerate(cells) if at and (mark := PHRASES["mark"].match(cell[0]))}
    if number == header or not marks:
        return
    heads = list(_CELL.finditer(document.text_of(header)))
    above = factors_in(document.text_of(header), document.names[header])
    columns = {
        at: [each for each in above if at < len(heads) and heads[at].start() <= each.start < heads[at].end()]
        for at in marks
    }
    agreed = len({bool(mark["plus"]) for mark in marks.values()}) == 1
    annotated = document.sentence(number)
    taken = [cells[at].span() for at in marks]
    parties = [ref for ref in names if ref.kind in _PARTIES and not any(low <= ref.start < high for low, high in taken)]
    for at, mark in marks.items():
        factors = columns[at] or (around if agreed and not above else ())
        for factor in factors[-1:]:
            for ref in parties:
                if not is_part(ref, [_elsewhere(factor)]):
                    span = (min(ref.start, mark.start()), mark.end())
                    yield _claim(factor, ref, 1 if mark["plus"] else -1, level="table", span=span), annotated
