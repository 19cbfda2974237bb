"""What a company filing is: issuer, form, fiscal period and unit, kept as fields and tags of its document.

A filing is known by its cover. The record travels in fields that every store, dump and export keeps: the form is the
document's `kind`, the issuer its `publisher`, codes are `codes`, and the rest are tags such as `fiscal_year=2023`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kg.model import Document
    from kg.store.port import DocumentHead

ANNUAL = frozenset({"10-K", "20-F", "40-F", "年报"})
QUARTERLY = frozenset({"10-Q", "季报", "半年报"})
RELEASE = "earnings release"
CURRENT = frozenset({"8-K", "6-K", "公告"})
FORMS = ANNUAL | QUARTERLY | CURRENT | {RELEASE, "transcript", "proxy statement", "招股书"}
_LEGAL = re.compile(
    r"\b(?:incorporated|inc|corporation|corp|company|companies|co|plc|ltd|limited|llc|lp|nv|sa|se|ag|the|group"
    r"|holdings?|and subsidiaries|de|new)\b|股份有限公司|有限责任公司|有限公司|集团"
)
_INITIALS = re.compile(r"(?<=\b[a-z]) (?=[a-z]\b)")  # v f corporation


@dataclass(frozen=True, slots=True)
class Filing:
    """One filing as its cover describes it; 0, None and "" are unknown.

    `year` and `quarter` are fiscal. `year` is that of the day on which the fiscal year ends; `own_year` is the number
    that the issuer gives the year where it is another one (fiscal 2022 of a retailer ends in January 2023). `ends` is
    the last day of the period, or the day of the event. `number` is the commission's file number, the same for all
    filings of an issuer. Amounts are in `scale` units of `currency`.
    """

    company: str
    form: str
    year: int = 0
    quarter: int = 0
    own_year: int = 0
    ends: date | None = None
    codes: tuple[str, ...] = ()
    number: str = ""
    currency: str = ""
    scale: int = 0

    @classmethod
    def of(cls, document: Document | DocumentHead) -> Filing | None:
        """Return the filing that a document is, None for any other document."""
        if document.kind not in FORMS:
            return None
        tags = dict(tag.split("=", 1) for tag in document.tags if "=" in tag)
        return cls(
            company=document.publisher,
            form=document.kind,
            year=_number(tags.get("fiscal_year")),
            quarter=_number(tags.get("fiscal_quarter")),
            own_year=_number(tags.get("own_year")),
            ends=_day(tags.get("period_end")),
            codes=document.codes,
            number=tags.get("file_number", ""),
            currency=tags.get("currency", ""),
            scale=_number(tags.get("scale")),
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """What the cover should state and does not: company, period."""
        dated = self.ends is not None if self.form in CURRENT else bool(self.year)
        known = {"company": bool(self.company), "period": dated or self.form in _UNDATED}
        return tuple(name for name, found in known.items() if not found)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that `of` reads, without those that are unknown."""
        known = {
            "fiscal_year": self.year,
            "fiscal_quarter": self.quarter,
            "own_year": self.own_year,
            "period_end": self.ends.isoformat() if self.ends else "",
            "file_number": self.number,
            "currency": self.currency,
            "scale": self.scale,
        }
        return tuple(f"{name}={value}" for name, value in known.items() if value)

    @property
    def title(self) -> str:
        """The title to print: issuer, form and period, for an event its day.

        >>> Filing("3M Company", "10-K", 2018).title, Filing("Amcor plc", "10-Q", 2023, 2).title
        ('3M Company 10-K FY2018', 'Amcor plc 10-Q FY2023 Q2')
        >>> Filing("示例股份有限公司", "季报", 2024, 1).title
        '示例股份有限公司2024年第一季度报告'
        """
        if self.form in _CHINESE_TITLES:
            quarter = "一二三四"[self.quarter - 1] if self.quarter else ""
            name = _CHINESE_TITLES[self.form].format(quarter=quarter)
            return f"{self.company}{f'{self.year}年' if self.year else ''}{name}"
        event = self.form in CURRENT and self.ends is not None
        parts = [self.company, self.form]
        parts += [self.ends.isoformat()] if event and self.ends else [f"FY{self.year}"] if self.year else []
        parts += [f"Q{self.quarter}"] if self.quarter and not event else []
        return " ".join(part for part in parts if part)


_UNDATED = frozenset({"transcript", "proxy statement", "招股书"})
_CHINESE_TITLES = {"年报": "年度报告", "半年报": "半年度报告", "季报": "第{quarter}季度报告", "招股书": "招股说明书"}


def _number(text: str | None) -> int:
    """Read a number of a tag; tags of other origin may hold anything."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,12}", text) else 0


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        return None


def company_key(name: str) -> str:
    """Return a company's name without case, marks and legal form, the key under which filings are grouped.

    >>> company_key("Adobe Inc."), company_key("LOCKHEED MARTIN CORPORATION"), company_key("示例股份有限公司")
    ('adobe', 'lockheed martin', '示例')
    >>> company_key("AMAZON.COM, INC."), company_key("V. F. Corporation"), company_key("Mondelēz International")
    ('amazon com', 'vf', 'mondelez international')
    """
    folded = unicodedata.normalize("NFKC", name).casefold().replace("’", "'").replace("&", " and ")
    if not folded.isascii():  # Mondelēz
        folded = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", folded)))
    folded = re.sub(r"(?<=\w\w)\.(?=\w\w)", " ", folded)  # amazon.com
    folded = _INITIALS.sub("", re.sub(r"[.,']", "", folded)).replace("united states", "us")
    plain = _LEGAL.sub(" ", folded)
    kept = plain if len(plain.strip()) > 1 else folded
    return re.sub(r"^and | and$", "", " ".join(re.sub(r"[\W_]+", " ", kept).split()))
