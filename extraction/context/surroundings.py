"""Resolve the implicit subject of a sentence: by lead-ins, titles, headings, the report's subject and 「公司」."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from extraction.context.places import ORDINAL, heading_place, label_place, places_in
from extraction.dating.policy import block_period
from extraction.sentence import CONTEXT, EntityMention, anchor_of
from extraction.text.clauses import IDENTIFYING
from extraction.text.lexicon import phrases
from kg.model import BlockKind, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.names.gazetteer import Lexicon
    from kg.model import Block
    from kg.period import Period

_SUBJECT_KINDS = (Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS)
_HEADING_KINDS = (Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY)
_LEAD_IN = re.compile(r"(?>（[^（）：]{0,20}）|[^，。；！？：]){2,26}：")
_LEAD_SHARE = 0.4  # share of a lead-in that a name must cover to be its subject
_HEAD_SHARE = 0.25
_PARTIAL = 0.5  # score factor of a subject that covers only a part of the heading's or lead-in's name
_LONGEST_TITLE = 24
_HEADING_LABEL = re.compile("[^：:。；]{2,20}[：:]")
_TITLE_NOT = re.compile(r"[。；！？，：]|\d{2}|[:%]")
_LATIN_BREAK = re.compile(r"(?<=[A-Za-z]) $")
_YEAR = re.compile(r"(?:20)?\d\d ?(?:年|[QH][1-4])|[1-4][QH]\d\d")
_LABEL_NOT = re.compile(r"[。；！？，：%]")
_ONE_CODE = r"[A-Z]{0,4}[.: ]?\d{3,6}(?:[.: ]{0,2}[A-Z]{1,3})?"
CODE = re.compile(rf"[（(]{_ONE_CODE}(?: ?[/，、,;；] ?{_ONE_CODE}){{0,2}}[)）]")
_ASIDE = re.compile(r"[（(][^（）()]{0,40}[)）]")
_LATIN_THING = re.compile(r"[A-Z][A-Za-z0-9+\-]{2,11}(?P<in>（[^（）]{2,12}）)")
_NAME_CONTINUES = re.compile(r"[A-Za-z0-9]| [A-Z]\d{0,2}(?![A-Za-z0-9])")
_PHRASES = phrases("context/surroundings")
_GENERIC = _PHRASES["generic"]
_GENERIC_SUFFIX = _PHRASES["generic_suffix"]


@dataclass(frozen=True, slots=True)
class Title:
    """A bold line or a label above the lines that follow; `blocks_inheritance`: it names an unknown subject."""

    subject: EntityMention | None = None
    place: str | None = None
    period: Period | None = None
    blocks_inheritance: bool = False


@dataclass(frozen=True, slots=True)
class Introduction:
    """A line that ends in a colon, its list level, and the period that it states for the list below it."""

    level: int
    period: Period | None


class Surroundings(Struct, frozen=True):
    """What applies to a block: the subjects of its document, heading, title and lead-in, nearest last."""

    document: EntityMention | None = None
    heading: EntityMention | None = None
    title: Title | None = None
    lead_in: EntityMention | None = None
    closed: bool = False  # the lead-in names an unknown subject
    place: str | None = None  # named by the label of the paragraph
    introduction: Introduction | None = None  # of the list that contains the block

    def period(self, heading: Period | None) -> Period | None:
        """Return the period that the block inherits."""
        introduction = self.introduction.period if self.introduction else None
        return block_period(introduction, title=self.title.period if self.title else None, heading=heading)

    @property
    def subject(self) -> EntityMention | None:
        """The nearest subject; a lead-in or bold title that names an unknown subject hides those above it."""
        if self.lead_in or self.closed:
            return self.lead_in
        if self.title and (self.title.subject or self.title.blocks_inheritance):
            return self.title.subject
        return self.heading or self.document

    @property
    def company_scope(self) -> bool:
        """Whether the line or the bold title above it is about one company."""
        titled = self.title.subject if self.title else None
        return Kind.COMPANY in [each.kind for each in (self.subject, titled) if each is not None]

    @property
    def company(self) -> EntityMention | None:
        """The nearest subject, if it is a company."""
        subject = self.subject
        return subject if subject and subject.kind == Kind.COMPANY else None


def depth_of(block: Block) -> int:
    """Return the list level of a block, 0 for a paragraph."""
    return max(block.level, 1) if block.kind is BlockKind.ITEM else 0


def lead_in(text: str, refs: Sequence[EntityMention]) -> EntityMention | None:
    """Return the subject that a bullet's lead-in names (「三生制药：…」), or None."""
    match = _LEAD_IN.match(text)
    if match is None:
        return None
    inside = [ref for ref in refs if ref.end < match.end() and ref.kind in _SUBJECT_KINDS]
    size = len(IDENTIFYING.sub("", ORDINAL.sub("", match[0]))) - 1
    if len({ref.entity for ref in inside}) != 1 or (inside[0].end - inside[0].start) < _LEAD_SHARE * size:
        return None
    if _NAME_CONTINUES.match(text, inside[-1].end):
        return None  # 维生素C, 维生素 B2 are not 维生素
    cut = is_cut(match[0], inside[0], refs) or is_part(match[0], inside[0])
    subject = _as_context(inside[0])
    return structs.replace(subject, score=_PARTIAL * inside[0].score) if cut else subject


def names_another(text: str, refs: Sequence[EntityMention], lexicon: Lexicon) -> bool:
    """Whether a bullet's lead-in names an unknown subject: 「沪铝现货：库存…」 is not about the heading."""
    match = _LEAD_IN.match(text)
    if match is None or lead_in(text, refs) is not None:
        return False
    words = ORDINAL.sub("", match[0]).rstrip("：")
    return bool(_GENERIC.sub("", lexicon.without_heads(words)))


def is_title(text: str, *, whole: bool, names: Sequence[EntityMention] = ()) -> bool:
    """Whether a block is a short line without a final stop: a bold title or a label (「甲公司：」) above its items.

    With a company's name it may also contain a year: 「甲公司2025年中报」.
    """
    text = IDENTIFYING.sub("", text) if whole else text
    if not whole or len(text) > _LONGEST_TITLE:
        return False
    if any(ref.kind == Kind.COMPANY for ref in names):
        text = _YEAR.sub("", text)
    return not (_LABEL_NOT.search(text[:-1]) if is_label(text) else _TITLE_NOT.search(text))


def is_label(text: str) -> bool:
    """Whether a line ends in a colon."""
    return text.endswith(("：", ":"))


def read_title(
    text: str, refs: Sequence[EntityMention], around: Surroundings, *, period: Period | None, lexicon: Lexicon
) -> Title:
    """Return what a title implies for the lines below it.

    A generic label (「业绩：」 below 「甲公司：」) inherits from the title above it; other labels replace it.
    Under a company's heading, an unknown label is one of its businesses or products.
    """
    words = ORDINAL.sub("", text).rstrip("：: ")
    subject, place = heading_subject(text.rstrip("：: "), refs), heading_place(text.rstrip("：: "), refs)
    unknown = subject is None and bool(_GENERIC.sub("", lexicon.without_heads(words)))
    if is_label(text) and around.heading and around.heading.kind == Kind.COMPANY:
        unknown = False
    above = around.title
    if not is_label(text) or subject or unknown or above is None:
        return Title(subject, place, period, blocks_inheritance=unknown)
    return replace(above, place=above.place if place is None else place, period=period or above.period)


def introduced(around: Surroundings, last: Block, block: Block, *, label: bool, period: Period | None) -> Surroundings:
    """Return the surroundings of a block with the introduction of its list, if any.

    「2025年1-9月，发电量呈现以下特征：」 dates the items below it, up to the next one on its own level.

    Args:
        around: surroundings of the previous block.
        last: the previous block.
        block: this block.
        label: whether the previous block ends in a colon.
        period: the period inherited from the previous block.
    """
    intro = around.introduction
    if intro and depth_of(block) <= intro.level:
        intro = None
    if label and depth_of(block) > depth_of(last):
        intro = Introduction(depth_of(last), period if period and period.end else intro.period if intro else None)
    return around if intro is around.introduction else structs.replace(around, introduction=intro)


def place_of(text: str, refs: Sequence[EntityMention]) -> str | None:
    """Return the place that a line's label names, "" for several, None for none."""
    match = _LEAD_IN.match(text)
    return label_place(match[0], [ref for ref in refs if ref.end < match.end()]) if match else None


def region_of(text: str, refs: Sequence[EntityMention]) -> EntityMention | None:
    """Return the region that a lead-in names (「俄罗斯：…」), or None."""
    regions = [ref for ref in refs if ref.kind == Kind.REGION]
    match = _LEAD_IN.match(text) if regions else None
    return next((ref for ref in regions if match and ref.end < match.end()), None)


def heading_subject(text: str, refs: Sequence[EntityMention]) -> EntityMention | None:
    """Return the one company, product or industry that a heading is about, or None.

    Only the part before a colon counts: 「氧化铝：现货小幅上涨」.
    """
    label = _HEADING_LABEL.match(text)
    if label and any(ref.end <= label.end() and ref.kind in _HEADING_KINDS for ref in refs):
        text, refs = text[: label.end() - 1], [ref for ref in refs if ref.end < label.end()]
    if thing := _LATIN_THING.match(text):  # 「ABCD（某公司）」 is about ABCD
        refs = [ref for ref in refs if not thing.start("in") <= ref.start < thing.end("in")]
    refs = [seen for ref in refs if (seen := anchor_of(ref)) is not None]  # 氧化铝库存 is about 氧化铝
    for kind in _HEADING_KINDS:
        named = [ref for ref in refs if ref.kind == kind]
        if len({ref.entity for ref in named}) == 1:
            plain = _ASIDE.sub("", text)  # 「光伏行业跟踪（2024年8月）」
            size = len(ORDINAL.sub("", plain if text[named[0].start : named[0].end] in plain else text))
            if (named[0].end - named[0].start) < _HEAD_SHARE * size:
                return None
            cut = is_cut(text, named[0], refs)
            subject = _as_context(named[0])
            return structs.replace(subject, score=_PARTIAL * named[0].score) if cut else subject
        if named:
            return None
    return None


def is_cut(text: str, name: EntityMention, refs: Sequence[EntityMention]) -> bool:
    """Whether a known name is only the end of a heading's or label's longer name: 冻品 in 速冻品."""
    if name.kind == Kind.COMPANY:
        return False
    words = _LATIN_BREAK.sub("", ORDINAL.sub("", text[: name.start]))  # 「IP 玩具」 is written with a space
    before = re.split(r"[，：、；（(\s“]|与|和|及", words)[-1]
    for _, place in places_in(before, [ref for ref in refs if ref.end <= name.start]):
        before = before.replace(place, "")
    return bool(_GENERIC.sub("", before))


def is_part(label: str, name: EntityMention) -> bool:
    """Whether a known name is only the beginning of a label's longer name: 锂电 in 锂电化学品."""
    suffix = re.split(r"[，：:、；（(\s”]|与|和|及|&", label[name.end :])[0]
    return name.kind != Kind.COMPANY and bool(_GENERIC_SUFFIX.sub("", _GENERIC.sub("", suffix)))


def _as_context(ref: EntityMention) -> EntityMention:
    return structs.replace(ref, start=CONTEXT, end=CONTEXT, score=0.9 * ref.score)
