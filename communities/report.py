"""The week in five minutes: what is new in each theme, from how many notes, what moved, and what is due.

Every line is one of the published summaries that a note of the week states, another sure fact of the week, or an event
of the run; heat counts the independent notes of the week, not repeats.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from communities import printable
from kg.model import Modality
from kg.query.themes.biography import episodes, name_of, title_of, titles_of
from kg.query.themes.changes import safe
from kg.query.themes.listing import NoRun, facts_inside
from kg.query.wording import claim_text, coded
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from kg.model import Community, Fact, Run
    from kg.query.session import QuerySession

_WEEK = timedelta(days=7)
_FIGURE, _EFFECT = vocabulary().of_role("figure"), vocabulary().of_role("effect")
_THEMES, _FACTS, _NAMES, _PRICES, _DUE, _PARTS, _TITLES = 12, 4, 6, 12, 12, 4, 2
_DUE_WITHIN = timedelta(days=92)
_LISTS = frozenset({"子主题", "公司", "上游", "下游", "产业链"})
_QUOTED = frozenset({"概要", "近期", "驱动", "数据"})  # their text says by itself what it is
_DATED = re.compile(r"（\d{4}-\d\d-\d\d[^（）]*）$")
_PRICE = re.compile("(?:价格|均价|报价|价)$")
_VALUATION = re.compile("(?:P[EBS]|EPS|BPS|EBITDA|市值|股价|估值|涨跌?幅|跌幅|指数|收益率)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One fact in words, with its day, the note it is from, and its id."""

    text: str
    day: date
    source: str
    fact: str


@dataclass(frozen=True, slots=True)
class ThemeWeek:
    """A theme's week: independent notes with new facts, now and the week before, and their main facts."""

    id: str
    title: str
    notes: int
    notes_before: int
    facts: int
    lines: tuple[ReportLine, ...]
    first_mentions: tuple[str, ...]
    events: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """The themes with news, the hottest first, price moves, what is due, and the themes without news."""

    as_of: date
    since: date
    notes: int
    themes: tuple[ThemeWeek, ...]
    prices: tuple[ReportLine, ...]
    due: tuple[ReportLine, ...]
    gone: tuple[str, ...]
    quiet: tuple[str, ...]


def weekly_report(session: QuerySession) -> WeeklyReport:
    """Return the report of the newest run of a view.

    Raises:
        NoRun: before the first weekly run.
    """
    *_, before, run = (None, None, *session.view.runs())
    if run is None:
        raise NoRun
    day, since = run.as_of, before.as_of if before else run.as_of - _WEEK
    top = [community for community in run.communities if community.level == 0]
    news = facts_inside(session, run.communities, since, until=day)
    earlier = {
        theme: _notes(facts) for theme, facts in facts_inside(session, top, since - (day - since), until=since).items()
    }
    stated = _stated_lines(session, run, since)
    weeks = [
        _theme_week(session, community, (run, before), news, stated, len(earlier.get(community.id, ())))
        for community in top
        if news.get(community.id)
    ]
    weeks.sort(key=lambda week: (not week.lines, -week.notes, -week.facts, week.id))
    moved = {fact.id: fact for community in top for fact in news.get(community.id, ()) if _PRICE.search(fact.object)}
    printed = [fact for fact in moved.values() if fact.relation in _FIGURE and printable.is_figure(session, fact)]
    printed.sort(key=lambda fact: (fact.value is None or not fact.value.change, _by_day(fact)))  # moves before levels
    prices = {(fact.object, fact.qualifier("scope")): fact for fact in reversed(printed)}.values()
    known = set(news)
    return WeeklyReport(
        as_of=day,
        since=since,
        notes=len({note for facts in news.values() for note in _notes(facts)}),
        themes=tuple(weeks),
        prices=tuple(_lines(session, sorted(prices, key=_by_day))[:_PRICES]),
        due=tuple(_due(session, run)),
        gone=tuple(_gone(session, run, before)),
        quiet=tuple(name_of(community) for community in top if community.id not in known),
    )


def _notes(facts: Iterable[Fact]) -> set[str]:
    """Return the independent notes that first stated some facts."""
    return {item.witness or item.document for fact in facts for item in fact.evidence}


def _theme_week(
    session: QuerySession,
    community: Community,
    runs: tuple[Run, Run | None],
    news: Mapping[str, Sequence[Fact]],
    stated: Mapping[str, Sequence[ReportLine]],
    notes_before: int,
) -> ThemeWeek:
    run, before = runs
    facts = news[community.id]
    old = {member for item in (before.communities if before else ()) for member in item.members}
    named = dict.fromkeys(end for fact in facts for end in (fact.subject, fact.object))
    first = [end for end in named if before and end in community.members and end not in old]
    parts = [item for item in run.communities if item.parent == community.id and news.get(item.id)]
    parts.sort(key=lambda item: (-len(_notes(news[item.id])), item.id))
    return ThemeWeek(
        id=community.id,
        title=title_of(community),
        notes=len(_notes(facts)),
        notes_before=notes_before,
        facts=len(facts),
        lines=_first_lines(session, [community, *parts], facts, stated),
        first_mentions=tuple(_called(session, end) for end in first if not end.startswith("indicator:"))[:_NAMES],
        events=tuple(_events(session, run, before, community.id)),
        parts=tuple(f"{name_of(item)}（{len(_notes(news[item.id]))} 篇）" for item in parts[:_PARTS]),
    )


def _stated_lines(session: QuerySession, run: Run, since: date) -> dict[str, list[ReportLine]]:
    """Return the lines of each summary whose facts notes stated after a day, but for those that list what belongs."""
    lines = [
        (community.id, line)
        for community in run.communities
        for line in (community.summary.lines if community.summary else ())
        if line.facts and line.text.partition("：")[0] not in _LISTS
    ]
    facts = {fact.id: fact for fact in session.view.facts(ids={fact for _, line in lines for fact in line.facts})}
    found: dict[str, list[ReportLine]] = defaultdict(list)
    for theme, line in lines:
        cited = [facts[each] for each in line.facts if each in facts]
        if cited and all(printable.shown(fact).published_on > since for fact in cited):
            label, _, said = _DATED.sub("", line.text).partition("：")
            text = said if label in _QUOTED else f"{label}：{said}"
            found[theme] += [replace(each, text=text) for each in _lines(session, cited[:1])]
    return found


def _first_lines(
    session: QuerySession,
    themes: Sequence[Community],
    facts: Sequence[Fact],
    stated: Mapping[str, Sequence[ReportLine]],
) -> tuple[ReportLine, ...]:
    """Return the first lines of a theme and its parts, and what other facts state that may be printed."""
    lines = {line.text: line for theme in themes for line in stated.get(theme.id, ())}
    sure = [fact for fact in facts if not _VALUATION.search(fact.object) and _is_sure(session, fact)]
    for fact in sorted(sure, key=lambda fact: (-fact.witnesses, fact.relation not in _EFFECT, *_by_day(fact))):
        for line in _lines(session, [fact]) if len(lines) < _FACTS else ():
            lines.setdefault(line.text, line)
    return tuple(lines.values())[:_FACTS]


def _is_sure(session: QuerySession, fact: Fact) -> bool:
    if fact.modality is not Modality.ASSERTED:
        return False
    test = printable.is_cause if fact.relation in _EFFECT else printable.is_figure
    return fact.relation in {*_EFFECT, *_FIGURE} and test(session, fact)


def _by_day(fact: Fact) -> tuple[int, str]:
    return -fact.last_published_on.toordinal(), fact.id


def _lines(session: QuerySession, facts: Iterable[Fact]) -> list[ReportLine]:
    return [
        ReportLine(claim_text(session, fact), cited.published_on, cited.title, fact.id)
        for fact in facts
        for cited in session.citations([fact], 1)
    ]


def _called(session: QuerySession, entity_id: str) -> str:
    known = session.known(entity_id)
    return coded(known, "zh") if known else session.name(entity_id)


def _events(session: QuerySession, run: Run, before: Run | None, theme: str) -> Iterator[str]:
    """Yield what became of a top theme; in the first run every theme is new."""
    events = [(run.as_of, event) for event in run.events if event.level == 0 and event.theme == theme]
    if before and events:
        yield from (each.text for each in episodes(session, events, titles_of(before) | titles_of(run)))


def _gone(session: QuerySession, run: Run, before: Run | None) -> Iterator[str]:
    """Yield the top themes that are no more, and what became of them."""
    if before is None:
        return
    present = {community.id for community in run.communities}
    for event in run.events:
        if event.level == 0 and event.theme not in present:
            (said,) = episodes(session, [(run.as_of, event)], titles_of(before) | titles_of(run))
            yield f"{event.name}（{said.text}）"


def _due(session: QuerySession, run: Run) -> list[ReportLine]:
    """Return what the summaries list as planned or expected within a quarter, the nearest first."""
    lines = [
        line
        for community in run.communities
        for line in (community.summary.lines if community.summary else ())
        if line.text.startswith("日程：")
    ]
    facts = {fact.id: fact for fact in session.view.facts(ids={fact for line in lines for fact in line.facts})}
    near = [
        (fact.valid.end, fact.id, fact)
        for fact in facts.values()
        if fact.valid and fact.valid.end and run.as_of < fact.valid.end <= run.as_of + _DUE_WITHIN
    ]
    return _lines(session, [fact for *_, fact in sorted(near, key=lambda each: each[:2])[:_DUE]])


# ── written ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def markdown(report: WeeklyReport) -> str:
    """Return the report as Markdown for mail; what comes from documents is escaped."""
    return "\n".join(_written(report)) + "\n"


def _written(report: WeeklyReport) -> Iterator[str]:
    yield f"# 主题周报 {report.as_of}"
    yield ""
    yield (
        f"{report.since} 之后：{report.notes} 篇独立研报带来新事实，{len(report.themes)} 个主题有新内容，"
        f"{len(report.quiet)} 个主题本周无新内容。"
    )
    for number, week in enumerate(report.themes[:_THEMES], start=1):
        yield from ("", f"## {number}. {safe(week.title)}", "")
        yield f"{week.notes} 篇独立研报（上周 {week.notes_before} 篇），{week.facts} 条新事实" + (
            f"；子主题：{safe('、'.join(week.parts))}" if week.parts else ""
        )
        yield ""
        yield from (f"- {safe(event)}" for event in week.events)
        yield from map(_item, week.lines)
        if week.first_mentions:
            yield f"- 首次提及：{safe('、'.join(week.first_mentions))}"
    for head, lines in (("价格", report.prices), ("日程", report.due)):
        if lines:
            yield from ("", f"## {head}", "", *map(_item, lines))
    rest = [f"{week.title.partition('：')[0]}（{week.notes} 篇）" for week in report.themes[_THEMES:]]
    for head, names in (("其他有新内容的主题", rest), ("消退的主题", report.gone), ("本周无新内容", report.quiet)):
        if names:
            yield from ("", f"## {head}", "", safe("、".join(names)))


def _item(line: ReportLine) -> str:
    return f"- {safe(line.text)}（{line.day}，《{safe(line.source)}》）"


def page(report: WeeklyReport) -> str:
    """Return the report as one self-contained page."""
    body = MarkdownIt("commonmark", {"html": False}).render(markdown(report))
    return _PAGE.replace("{title}", f"主题周报 {report.as_of}").replace("{body}", body)


_PAGE = """<!doctype html>
<html lang="zh">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.7 system-ui, sans-serif; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .3rem; border-bottom: 1px solid #ddd; }
ul { padding-left: 1.2rem; } p { margin: .3rem 0; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #ddd; } h2 { border-color: #444; } }
</style>
{body}</html>
"""
