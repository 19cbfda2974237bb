"""Named features that score whether a mention refers to an issuer.

The score is the sum of the feature values, clipped to [0, 1]. Weights were set by hand on dated research notes, not
learned. A mention is linked from a score of LINKED if no other issuer comes within MARGIN.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from kg.securities.phrases import phrases
from kg.securities.records import name_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from kg.securities.context import Bracket, ScannedText
    from kg.securities.records import Issuer, Name

LINKED = 0.6
CONSIDERED = 0.35
MARGIN = 0.1
MARKED = "mark"  # source of a name that the exchange cut after a mark: its edges are no word boundaries


class Case(Struct, frozen=True):
    """A mention paired with a candidate issuer."""

    document: ScannedText
    start: int
    end: int
    issuer: Issuer
    name: Name | None  # None when only a following code or a short form defined in the document suggests the issuer
    day: date
    word_kind: str | None
    bracket: Bracket | None
    taught: bool
    elsewhere: bool
    company_neighbours: int
    shared_with_mainland: bool  # another issuer of the same name is listed on the mainland

    @property
    def surface(self) -> str:
        """The text of the mention."""
        return self.document.text[self.start : self.end]

    @property
    def code_fits(self) -> bool:
        """Whether the following bracket holds a code of the issuer, including bare tickers and numbers."""
        if self.bracket is None:
            return False
        codes = {str(code) for code in self.bracket.codes}
        return any(
            listing.code in codes or listing.code.rpartition(".")[0] in self.bracket.bare
            for listing in self.issuer.listings
        )


_DROPPED = 0.62
_HISTORY_GAP = 0.6
_NOT_YET = 0.2
_LONG_NAME = 4
_NAME_WEIGHTS = {"short": 0.75, "full": 0.8, "english": 0.75, "former": _DROPPED, "colloquial": 0.7}
_WORD_WEIGHTS = {"word": -0.5, "place": -0.5, "phrase": -0.25, "short": -0.35, "english": -0.35, "mild": -0.1}
_PHRASES = phrases("features")
_TENOR = re.compile(r"\d{1,2}[DWMY]")
_TENOR_BEFORE = re.compile(r"\d{1,2}[DWMY][\s*|/、,，-]{1,8}$")
_TENOR_AFTER = re.compile(r"[\s*|/、,，-]{1,8}\d{1,2}[DWMY](?![A-Za-z0-9])")
_MAINLAND = frozenset({"SH", "SZ", "BJ"})


def name_by_day(case: Case) -> float:
    """Score the name by its period: full while in use, lower after it was dropped, near zero before it existed."""
    if case.name is None:
        return 0.0
    if case.name.is_future(case.day):
        # A former name cannot be from the future; a late start of its history is a gap in the master.
        return _HISTORY_GAP if case.name.kind == "former" else _NOT_YET
    if not case.name.is_live(case.day):
        return _DROPPED
    if case.name.kind == "former" and case.name.end is not None:  # dropped later, but in use on the day
        return _NAME_WEIGHTS["short"]
    return _NAME_WEIGHTS[case.name.kind]


def spelled_otherwise(case: Case) -> float:
    """Penalise a mention that lacks the share class or mark of the name: 白云山 is 600332 rather than 白云山A."""
    return -0.11 if case.name and name_key(case.name.text) != name_key(case.surface) else 0.0


def abroad_only(case: Case) -> float:
    """Prefer the mainland issuer of a shared Chinese name, unless Hong Kong is mentioned nearby."""
    if not case.shared_with_mainland or any(listing.exchange in _MAINLAND for listing in case.issuer.listings):
        return 0.0
    around = case.document.text[max(0, case.start - 8) : case.end + 8]
    return 0.11 if _PHRASES["hong_kong"].search(around) else -0.11


def code_behind(case: Case) -> float:
    """Decide by the code in the following bracket: the issuer's own or another's."""
    if case.code_fits:
        return 1.0
    return -1.0 if case.bracket and case.bracket.codes else 0.0


def taught_by_document(case: Case) -> float:
    """The document defines this short form for the issuer."""
    return 0.7 if case.taught else 0.0


def document_subject(case: Case) -> float:
    """The document is about this issuer."""
    return 0.3 if case.issuer.id in case.document.subjects else 0.0


def named_elsewhere(case: Case) -> float:
    """The issuer is clearly named elsewhere in the document; weak evidence when the name is also a common word."""
    if not case.elsewhere:
        return 0.0
    return 0.1 if case.word_kind in ("word", "place") else 0.3


def company_enumeration(case: Case) -> float:
    """The mention is in a list of companies (绿的谐波、机器人、汇川技术)."""
    return (0.0, 0.25, 0.4)[case.company_neighbours]


def company_cue(case: Case) -> float:
    """Adjacent words that are specific to companies: 公告, 董事会, 股价, 推荐."""
    text = case.document.text
    if _PHRASES["cues_after"].match(text, case.end) or _PHRASES["cues_before"].search(
        text[max(0, case.start - 6) : case.start]
    ):
        return 0.15
    return 0.0


def opens_document(case: Case) -> float:
    """The mention starts the text, and so is likely its subject."""
    return 0.15 if case.start == 0 and case.word_kind in ("mild", "phrase") else 0.0


def distinct_name(case: Case) -> float:
    """The name is in use on the day and no common word; if it is whole too, it needs no other support.

    Of the figures of such names 98 % are right (docs/evaluation-log.md).
    """
    return 0.15 if case.name is not None and case.word_kind is None and case.name.is_live(case.day) else 0.0


def discloses(case: Case) -> float:
    """The mention does what only listed companies do: publish a report, receive an inquiry letter."""
    return 0.35 if _PHRASES["discloses"].match(case.document.text, case.end) else 0.0


def common_word(case: Case) -> float:
    """The name is also a word, a place, or an abbreviation of several organisations."""
    return _WORD_WEIGHTS.get(case.word_kind or "", 0.0)


def market_word_behind(case: Case) -> float:
    """A following market word makes the name a common noun (机器人板块, 太阳能产业)."""
    if case.word_kind is None or case.code_fits:
        return 0.0
    return -0.3 if _PHRASES["market_word"].match(case.document.text, case.end) else 0.0


def cuts_longer_word(case: Case) -> float:
    """The mention starts or ends inside a longer word (国新能源 in 中国新能源)."""
    if case.code_fits or case.surface.isascii() or _PHRASES["own_form"].match(case.document.text, case.end):
        return 0.0
    if case.name is not None and case.name.source == MARKED:
        return 0.0
    if not case.document.cuts_word(case.start, case.end):
        return 0.0
    if case.end - case.start >= _LONG_NAME and not case.document.starts_inside_word(case.start):
        # A segmenter often merges the last character of a long name into the next word: 法拉电|子公|告.
        return -0.25
    return -0.5


def inside_longer_name(case: Case) -> float:
    """Part of another company's name: a subsidiary (X上海有限公司), the parent (X集团), another business (小米汽车)."""
    text = case.document.text
    if case.code_fits or _PHRASES["own_form"].match(text, case.end):
        return 0.0
    colloquial = case.name is None or case.name.kind == "colloquial" or case.word_kind == "phrase"
    if other := _PHRASES["other_form"].match(text, case.end):
        return -0.7 if colloquial or other[0].endswith("公司") else -0.2
    return (
        -0.7
        if colloquial and (_PHRASES["business"].match(text, case.end) or _PHRASES["branch"].match(text, case.end))
        else 0.0
    )


def row_of_tenors(case: Case) -> float:
    """The mention is in a list of tenors (1M/3M/6M), where 3M is three months."""
    if not _TENOR.fullmatch(case.surface):
        return 0.0
    before, after = case.document.text[max(0, case.start - 12) : case.start], case.document.text[case.end :]
    return -1.0 if _TENOR_BEFORE.search(before) or _TENOR_AFTER.match(after[:12]) else 0.0


FEATURES: tuple[Callable[[Case], float], ...] = (
    name_by_day,
    spelled_otherwise,
    abroad_only,
    code_behind,
    taught_by_document,
    document_subject,
    named_elsewhere,
    company_enumeration,
    company_cue,
    opens_document,
    distinct_name,
    discloses,
    common_word,
    market_word_behind,
    cuts_longer_word,
    inside_longer_name,
    row_of_tenors,
)


def weigh(case: Case) -> tuple[float, dict[str, float]]:
    """Return the score and the non-zero feature values."""
    values = {feature.__name__: value for feature in FEATURES if (value := feature(case))}
    if "cuts_longer_word" in values or "inside_longer_name" in values:  # it may be another, longer name
        values.pop("distinct_name", None)
    return round(min(1.0, max(0.0, sum(values.values()))), 3), values
