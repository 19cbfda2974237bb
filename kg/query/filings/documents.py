"""Choose the filings that a question is about: whose, of which form, of which fiscal period.

A company is one group across years, whatever it called itself: filings are joined by the commission's file number, a
listing code, their name without its legal form, or a name that the other one begins with (Adobe Systems, Adobe).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.filing import ANNUAL, CURRENT, QUARTERLY, RELEASE, Filing, company_key
from kg.query.filings.names import CompanyNames, in_use, is_same, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from kg.query.filings.task import FilingTask
    from kg.store.port import DocumentHead, View


@dataclass(frozen=True, slots=True)
class ListedFiling:
    """A stored filing: its document, what its cover says, and the group of its company."""

    document: str
    filing: Filing
    title: str
    published_on: date
    group: int


class FilingIndex:
    """The filings of one view by company."""

    def __init__(self, heads: Iterable[DocumentHead], view: View | None = None) -> None:
        """Build the index; with a view, a listed company is also found by the names of its entity (耐克)."""
        found = [(head, filing) for head in heads if (filing := Filing.of(head))]
        groups = _groups([filing for _, filing in found])
        self.filings = tuple(
            ListedFiling(head.id, filing, head.title, head.published_on, group)
            for (head, filing), group in zip(found, groups, strict=True)
        )
        self._names: dict[int, set[str]] = defaultdict(set)
        for each in self.filings:
            self._names[each.group].update(names_of(each.filing))
        issuers = {f"sec:{code}": each.group for each in self.filings for code in each.filing.codes}
        for entity in view.entities(ids=issuers.keys()) if view and issuers else ():
            spelled = (company_key(name) for name in (entity.name, *(alias.name for alias in entity.aliases)))
            self._names[issuers[entity.id]].update(name for name in spelled if len(name) > 1)
        self._spoken = CompanyNames(self._names)

    def __bool__(self) -> bool:
        return bool(self.filings)

    def companies(self, question: str) -> dict[int, float]:
        """Return the groups that a question names, with how surely; those much less sure than the best are left out."""
        return self._spoken.named(question)

    def words_of(self, groups: Iterable[int]) -> set[str]:
        """Return the words of the names of companies, which say nothing about a page of their filings."""
        return {word for group in groups for word in self._spoken.words_of(group)}

    def name_of(self, group: int) -> str:
        """Return what the newest filing calls a company."""
        return max((each.published_on, each.filing.company) for each in self.filings if each.group == group)[1]


@dataclass(frozen=True, slots=True)
class ScoredFiling:
    """A filing with how well it fits a question."""

    filing: ListedFiling
    score: float


def rank_filings(
    index: FilingIndex, task: FilingTask, *, companies: Mapping[int, float], content: Mapping[str, float]
) -> list[ScoredFiling]:
    """Return all filings of the index, those that fit best first.

    Args:
        index: the filings.
        task: the question.
        companies: the groups that it names.
        content: for documents whose passages match its words, how well, 0 … 1.
    """
    newest = max((each.filing.year for each in index.filings), default=0)
    weight = _CONTENT_ALONE if not companies else _CONTENT_UNDATED if not task.year else _CONTENT
    scored = [
        ScoredFiling(
            each,
            _COMPANY * companies.get(each.group, 0.0)
            + _period_score(each.filing, task, newest)
            + _form_score(each.filing, task)
            + weight * content.get(each.document, 0.0),
        )
        for each in index.filings
    ]
    return sorted(scored, key=lambda each: (-each.score, -each.filing.published_on.toordinal(), each.filing.document))


_COMPANY = 10.0
_CONTENT, _CONTENT_UNDATED, _CONTENT_ALONE = 1.2, 2.0, 3.0
_SAME_YEAR, _NEXT_YEAR, _OTHER_YEAR, _NEWER = 3.0, 1.2, 0.5, 0.4
_SAME_DAY, _NEAR_DAY, _NEAR_DAYS = 6.0, 3.0, 7  # a report on an event follows it by days
_OWN_YEAR = 2.2


def _period_score(filing: Filing, task: FilingTask, newest: int) -> float:
    score = 0.0
    if task.day and filing.ends:
        apart = abs((filing.ends - task.day).days)
        score = _SAME_DAY if not apart else _NEAR_DAY if filing.form in CURRENT and apart <= _NEAR_DAYS else 0.0
    if not filing.year:
        year = filing.ends.year if filing.ends else 0
        return score + (_SAME_YEAR if year and year == task.year else 0.0 if task.year else 0.1)
    if not task.year:  # no year asked: the newest
        return score - _NEWER * (newest - filing.year)
    off = filing.year - task.year
    if off == 0:
        return score + _SAME_YEAR
    if filing.own_year == task.year:
        return score + _OWN_YEAR
    return score + (_NEXT_YEAR if off == 1 else 0.0 if off == -1 else -_OTHER_YEAR * abs(off))


def _form_score(filing: Filing, task: FilingTask) -> float:
    form = filing.form
    if task.form:
        return 4.0 if form == task.form else -1.0
    if form in CURRENT and filing.year:  # a report that announces results
        form = RELEASE
    if task.quarters:
        kinds = {RELEASE: 1.8, **dict.fromkeys(QUARTERLY, 2.8), **dict.fromkeys(ANNUAL, 0.8)}
        fits = 0.0
        if filing.quarter or form in ANNUAL:
            fits = 1.5 if (filing.quarter or 4) in task.quarters else -1.5 if filing.quarter else 0.0
        return kinds.get(form, 0.0) + fits
    score = {RELEASE: 0.6 + 0.8 * (filing.quarter == 4), **dict.fromkeys(ANNUAL, 2.0)}.get(form, 0.0)  # noqa: PLR2004 - the year's last
    if "governance" in task.topics and form in CURRENT:
        score += 2.5
    return score + (1.2 if "adjusted" in task.topics and form == RELEASE else 0.0)


def _groups(filings: Sequence[Filing]) -> list[int]:
    """Return the group of each filing, numbered in the order of the first."""
    parent = list(range(len(filings)))

    def root(at: int) -> int:
        while parent[at] != at:
            at = parent[at]
        return at

    by_key: dict[str, int] = {}
    by_code: dict[str, int] = {}
    for number, filing in enumerate(filings):
        key = company_key(filing.company)
        marks = ((code, by_code) for code in (*filing.codes, filing.number))
        for name, known in ((key, by_key), *((name, by_key) for name in in_use(key)), *marks):
            if name:
                parent[root(number)] = root(known.setdefault(name, number))
    keys = sorted(by_key, key=lambda key: (len(key), key))
    for place, key in enumerate(keys):
        for other in keys[:place]:
            if is_same(other, key):
                parent[root(by_key[key])] = root(by_key[other])
                break
    return [root(number) for number in range(len(filings))]
