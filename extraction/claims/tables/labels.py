"""Parse the labels of a table: heads, row labels and captions.

A label names an indicator only if all of its words are accounted for: an owner, a place, a period, a unit, filler.
The remaining words restrict the owner (柔性直流送出 of 电缆) or belong to the indicator (权益产量).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from extraction.claims.measures.measurement import DOUBTFUL, Measurement
from extraction.claims.measures.reader import qualified_indicator
from extraction.claims.measures.words import COMPANY_HEADS, LONGEST_SCOPE, PLACES, VAGUE
from extraction.claims.tables.cells import without_notes
from extraction.dating.policy import reported_week, shift_to_reported_week, stated_dates
from extraction.quantities.label_units import AmountUnit, unit_of
from extraction.sentence import CONTEXT, AnnotatedSentence, Claim, EntityMention
from extraction.text.lexicon import phrases
from extraction.text.sentences import Sentence, normalise
from kg.dating.reader import Dated
from kg.dating.reference import stated_year_end
from kg.ids import entity_id
from kg.model import BlockKind, Kind
from kg.period import year

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from extraction.claims.measures.subject import SubjectFinder
    from extraction.names.linker import Linker
    from kg.model import Block, Document
    from kg.period import Period
    from kg.text.table_rows import PlacedRow

YEAR = re.compile(r"(?:19|20)\d\d ?年? ?[AEF]?")
_FORECAST = re.compile(r"\d{2,4}\s*年?\s*[EF](?![A-Za-z])|预测|预计")
_PHRASES = phrases("tables/labels")
_YEAR_OF = _PHRASES["year_of"]
_YEAR_BEHIND = re.compile(r"(?<=[\s（(])((?:19|20)\d\d)(?=[）)\s]*$)")
_ABBREVIATIONS = (  # only in heads; ambiguous in sentences
    (re.compile("年内|今年以来|年初以来"), "年初至今"),
    (re.compile("(?<![A-Za-z])EPS(?![A-Za-z])"), "每股收益"),
    (re.compile("(?:全面)?(?:摊薄|稀释|基本)的?(?=每股|EPS)"), ""),
    (re.compile("^(?i:total |operating |net )?(?i:revenues?|sales)$"), "营业收入"),
    (re.compile("^(?i:net (?:profit|income))$"), "净利润"),
    (re.compile("^(?i:gross (?:profit )?margin)$"), "毛利率"),
    (re.compile("归属于?母公司(?:股东|所有者)?的?净利润?"), "归母净利润"),
)
_NUMBERED = _PHRASES["numbered"]
_SPAN = re.compile(r"(?:近|过去)?[一二三四六半\d]*个?(?P<span>[日周月年]|季度?)(?:度)?(?=涨|跌|环比|变|换手|成交)")
_NOISE, _GENERIC = _PHRASES["noise"], _PHRASES["generic"]
_OF_WHEN = re.compile(r"[（(](?:TTM|MRQ|LF|ttm|mrq|lf)[)）]$")
_CHANGED = _PHRASES["changed"]
_JOINED = re.compile(r"[和与及、/+＋&\d%]|以及")
_PLACE = re.compile("|".join(sorted(map(re.escape, PLACES - {"市场", "行业", "全行业"}), key=len, reverse=True)))
_FISCAL = re.compile("财政?年|财务年|FY")
_BARE = frozenset({*VAGUE, "增速", "增长率", "规模", "数量", "金额", "总量", "均价", "需求", "变动", "增幅", "指数"})
_OPENING_TEXT = 1200  # where a weekly report states its dates
_LONGEST_CAPTION = 60
_UNSTATED_CONFIDENCE = 0.5
_DEEPEST = 10  # deeper than any heading
_COMPARED = re.compile("公司|对比|比较|可比|同行|竞争对手|客户|供应商")


@dataclass(frozen=True, slots=True)
class RowClaim:
    """A claim from a table with the row as its quote; `cell` is the offset of its cell."""

    claim: Claim
    row: AnnotatedSentence
    cell: int = CONTEXT


class TableLabel(Struct, frozen=True):
    """The parsed content of a head, row label or caption."""

    text: str
    unit: AmountUnit | None = None
    unclear: str = ""  # what looks like a unit and is not understood
    period: Period | None = None
    measured: Measurement | None = None
    forecast: bool = False
    place: str = ""
    topic: str = ""  # the only product or industry it names
    span: str = ""  # 周 of 周涨幅
    bare: bool = False  # only a period
    change: str = ""  # 同比 or 环比, of its own or the previous indicator
    periods: tuple[Period, ...] = ()  # all periods it names
    fiscal: bool = False  # dated by a fiscal year whose end is not stated: FY2025


class LabelReader:
    """Parses labels; the linker finds their names."""

    def __init__(self, linker: Linker, subjects: SubjectFinder) -> None:
        self._linker, self._subjects = linker, subjects

    def read(
        self, labels: Sequence[str], document: Document, company: EntityMention | None
    ) -> Callable[[str], TableLabel]:
        """Link all labels in one pass and return a function that parses one of them on demand."""
        lines, refs = link_texts(self._linker, [_strip_label(label) for label in labels], document)
        found = dict(zip(labels, zip(lines, refs, strict=True), strict=True))
        opening = [document.text[:_OPENING_TEXT]]
        week = cache(partial(reported_week, opening, document.published_on))
        year_end = stated_year_end(document.text)

        @cache
        def read_label(label: str) -> TableLabel:
            line, names = found[label]
            dates = stated_dates(line.text, document.published_on, fiscal_year_end=year_end or 12)
            dated = shift_to_reported_week(dates, document.published_on, week)
            read = self._label(label, line, names, dated, company)
            fiscal = year_end is None and any(_FISCAL.search(each.text) for each in dates)
            return structs.replace(read, fiscal=fiscal) if fiscal else read

        return read_label

    def company_above(
        self, document: Document, block: Block, captions: Sequence[str], *, company: EntityMention | None
    ) -> EntityMention | None:
        """Return the company of a table: the only one of its caption, else of the nearest heading with one.

        A caption that compares the report's company with another one (公司与乙公司毛利率对比) leaves none.
        """
        headings = []
        level = _DEEPEST
        for above in reversed(document.blocks[: document.blocks.index(block)]):
            if above.kind == BlockKind.HEADING and above.level < level:
                headings.append(document.text[above.start : above.end])
                level = above.level
        texts = [*captions, *headings]
        lines, refs = link_texts(self._linker, texts, document)
        for line, names in zip(lines, refs, strict=True):
            found = {ref.entity: ref for ref in names if ref.kind == Kind.COMPANY}
            if company is not None and set(found) == {company.entity}:
                return company
            if found:
                only = next(iter(found.values())) if len(found) == 1 and not _COMPARED.search(line.text) else None
                return structs.replace(only, start=CONTEXT, end=CONTEXT) if only else None
        return company

    def names(self, texts: Sequence[str], document: Document, kinds: Sequence[Kind]) -> list[EntityMention | None]:
        """Return for each text the entity of these kinds that it names as a whole, or None."""
        lines, refs = link_texts(self._linker, texts, document)
        return [
            whole_name(line, [ref for ref in names if ref.kind in kinds])
            for line, names in zip(lines, refs, strict=True)
        ]

    def _label(
        self, label: str, line: Sentence, names: list[EntityMention], dated: list[Dated], company: EntityMention | None
    ) -> TableLabel:
        unit = unit_of(without_notes(label))
        alone = YEAR.fullmatch(line.text)  # in a head a bare 2024 is a year
        attached_year = _YEAR_OF.search(line.text)  # 2024PE, 2025E EPS: the year of a multiple
        if attached_year and not dated:
            dated = [Dated(*attached_year.span(), attached_year[0], year(int(attached_year["year"])))]
        period = dated[-1].period if dated else year(int(line.text[:4])) if alone else None
        changed = _CHANGED.search(line.text)
        annotated = AnnotatedSentence(line, tuple(names), (), (), subject=company)
        cut = _without(annotated, dated, changed.start() if changed else len(line.text))
        measured = self._measured(cut) if not alone else None
        span = None if period else _SPAN.search(cut.text)
        places = {each[0] for each in _PLACE.finditer(line.text)} | {r.name for r in names if r.kind == Kind.REGION}
        topics = {ref.name for ref in names if ref.kind in (Kind.PRODUCT, Kind.INDUSTRY)} | {
            ref.owner for ref in names if ref.kind == Kind.INDICATOR and ref.owner
        }
        return TableLabel(
            line.text,
            unit.unit,
            unit.unclear,
            period,
            _account_for_words(cut, measured, span) if measured else None,
            _FORECAST.search(label) is not None,
            places.pop() if len(places) == 1 else "",
            topics.pop() if len(topics) == 1 else "",
            span["span"] if span else "",
            alone is not None or (period is not None and not _remaining_words(cut, None, None)),
            ("环比" if changed["how"] == "环比" else "同比") if changed else "",
            tuple(each.period for each in dated),
        )

    def _measured(self, label: AnnotatedSentence) -> Measurement | None:
        """Return the indicator at a label's end with its subject, by default the row's name or the company."""
        ends = len(label.text.rstrip("：: -—、，（）()"))
        last = [ref for ref in self._subjects.indicators(label) if ref.end == ends]
        if not last:
            return None
        placeholder = EntityMention("", Kind.INDUSTRY, "", CONTEXT, CONTEXT)
        under = label if label.subject is not None else structs.replace(label, subject=placeholder)
        found = self._subjects.find(label, last[-1]) or self._subjects.find(under, last[-1])
        if found is not None or last[-1].about:
            return found
        return Measurement(last[-1], label.subject or placeholder, _UNSTATED_CONFIDENCE)


def _without(label: AnnotatedSentence, dated: Sequence[Dated], end: int) -> AnnotatedSentence:
    """Return a label without its dates and the text after `end`, with name offsets adjusted."""
    kept = [at for at in range(end) if not any(each.start <= at < each.end for each in dated)]
    place = {at: new for new, at in enumerate(kept)}
    text = "".join(label.text[at] for at in kept)
    moved = []
    for ref in label.refs:
        if (
            ref.start in place
            and ref.end - 1 in place
            and place[ref.end - 1] - place[ref.start] == ref.end - 1 - ref.start
        ):
            shift = place[ref.start] - ref.start
            owner_end = ref.owner_end + shift if ref.owner_end >= 0 else ref.owner_end
            moved.append(structs.replace(ref, start=ref.start + shift, end=ref.end + shift, owner_end=owner_end))
    sentence = Sentence(0, len(text), text, range(len(text) + 1))
    return structs.replace(label, sentence=sentence, refs=tuple(moved))


def captions_of(document: Document, block: Block, title: str) -> list[str]:
    """Return a table's title and the short lines above it, nearest first, up to one that is no unit (单位：亿元)."""
    found = [title] if title else []
    at = document.blocks.index(block)
    for above in reversed(document.blocks[max(0, at - 2) : at]):
        text = document.text[above.start : above.end]
        if len(text) > _LONGEST_CAPTION or "|" in text:
            break
        alone = not unit_of(without_notes(text)).rest.strip("：: ")
        if alone or not title:
            found.append(text)
        if not alone:
            break
    return found


def caption_label(captions: Sequence[TableLabel]) -> TableLabel:
    """Return the caption with the nearest unit above a table; one that is not understood hides those above it."""
    if not captions:
        return TableLabel("")
    named = next((label for label in captions if label.text), captions[0])
    stated = next((label for label in captions if label.unit or label.unclear), named)
    return structs.replace(named, unit=stated.unit, unclear=stated.unclear)


def spread_indicators(heads: Sequence[TableLabel]) -> list[TableLabel]:
    """Assign the years of a two-row header to their indicators: EPS（元） 2024A | 2025E | PE（倍） 2024A | 2025E.

    Each run of ascending years belongs to one indicator, in order, even if a cell is shifted (EPS 2024A | PE 2025E |
    2024A | 2025E). If the numbers of runs and indicators differ, no indicator is assigned.
    """
    out = list(heads)
    at = 0
    while at < len(out):
        stop = at
        while stop < len(out) and out[stop].period is not None:
            stop += 1
        if any(label.bare for label in out[at:stop]) and any(label.measured for label in out[at:stop]):
            out[at:stop] = _spread_over_runs(out[at:stop])
        at = max(stop, at + 1)
    return out


def _spread_over_runs(labels: list[TableLabel]) -> list[TableLabel]:
    named = [label for label in labels if not label.bare]
    runs: list[list[TableLabel]] = []
    for label in labels:
        before = runs[-1][-1].period if runs else None
        rises = before and before.start and label.period and label.period.start and before.start < label.period.start
        if not rises:
            runs.append([])
        runs[-1].append(label)
    if len(runs) != len(named):
        return [structs.replace(label, measured=None) for label in labels]
    return [
        structs.replace(label, measured=name.measured, unit=name.unit)
        for name, run in zip(named, runs, strict=True)
        for label in run
    ]


def _account_for_words(
    annotated: AnnotatedSentence, measured: Measurement, span: re.Match[str] | None
) -> Measurement | None:
    """Account for every word of a label: the rest restricts its owner or belongs to the indicator."""
    indicator, subject = qualified_indicator(annotated, measured.indicator), measured.subject
    rest = _remaining_words(annotated, measured, span)
    if _JOINED.search(rest + measured.scope) or len(rest) > LONGEST_SCOPE:
        return None  # 「收入及增速」 is two indicators; 「塔筒+导管架」 is not 导管架
    owned = bool(indicator.about) or subject.start != CONTEXT
    if rest and not owned:
        name = rest + indicator.name
        named = EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, indicator.start, indicator.end)
        return structs.replace(measured, indicator=named, confidence=max(measured.confidence, _UNSTATED_CONFIDENCE))
    if len(rest) == 1:
        return None  # 高镍 is not 镍
    # 商品煤产量 in the report of a company is its own, or that of all
    company = annotated.subject
    of_company = company is not None and company.kind == Kind.COMPANY and subject.kind == Kind.PRODUCT
    of_company = of_company and indicator.name.endswith((*COMPANY_HEADS, "价格")) and not (rest or measured.scope)
    vague = indicator.name.endswith(VAGUE) if owned else indicator.name in _BARE
    return structs.replace(
        measured,
        indicator=indicator,
        scope=(rest + measured.scope)[:LONGEST_SCOPE],
        confidence=DOUBTFUL if vague or of_company else max(measured.confidence, _UNSTATED_CONFIDENCE),
    )


def _remaining_words(annotated: AnnotatedSentence, measured: Measurement | None, span: re.Match[str] | None) -> str:
    """Return the words of a label outside its name, place, period and indicator."""
    letters = list(annotated.text)
    spans = [span.span()] if span else []
    if measured:
        spans += [(ref.start, ref.end) for ref in (measured.indicator, measured.subject) if ref.start >= 0]
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    rest = "".join(letters)
    if measured and measured.scope:
        rest = rest.replace(measured.scope, " ")
    return _NOISE.sub("", rest)


def _strip_label(label: str) -> str:
    """Return a label without its number, notes and unit, with abbreviations expanded."""
    text = _GENERIC.sub("", _OF_WHEN.sub("", _NUMBERED.sub("", unit_of(without_notes(label)).rest)))
    text = _YEAR_BEHIND.sub(r"\1年", text)
    for short, spelled in _ABBREVIATIONS:
        text = short.sub(spelled, text)
    return text


def link_texts(
    linker: Linker, texts: Sequence[str], document: Document
) -> tuple[list[Sentence], list[list[EntityMention]]]:
    """Link names in short texts in one pass over their concatenation."""
    joined, lines = "", []
    for text in texts:
        plain, start = normalise(text), len(joined)
        joined += plain + "\n"
        lines.append(Sentence(start, start + len(plain), plain, range(start, start + len(plain) + 1)))
    return lines, linker.link(replace(document, text=joined, blocks=()), lines)


def whole_name(line: Sentence, names: Sequence[EntityMention]) -> EntityMention | None:
    """Return the entity that a text names as a whole."""
    return next((ref for ref in names if (ref.start, ref.end) == (0, len(line.text))), None)


def as_sentence(document: Document, row: PlacedRow) -> AnnotatedSentence:
    """Return a row as a sentence without names, for its quote."""
    text = document.text[row.start : row.end]
    return AnnotatedSentence(Sentence(row.start, row.end, text, range(row.start, row.end + 1)), (), (), ())
