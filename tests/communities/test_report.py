"""The week's report over small stores: what is new, from how many notes, and what is not."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from communities.report import markdown, page, weekly_report
from communities.weekly import past_weeks, run_week, run_weeks
from kg.query.session import QuerySession
from kg.query.themes.listing import NoRun
from tests.communities.test_weekly import LITHIUM, chain_of, many_chains
from tests.kg.query.world import CUT, TONGWEI, claim, filled, moves, paper, solar

if TYPE_CHECKING:
    from kg.model import Run
    from kg.store.port import Store


def two_weeks() -> Store:
    store = filled([*many_chains("2024-01-01"), chain_of(1, "2024-01-02", LITHIUM)])
    run_week(store, date(2024, 1, 7))
    said = [
        ("通威股份生产正极。", claim(TONGWEI, "produces", LITHIUM[2])),
        ("甲<b>。", claim(LITHIUM[0], "upstream_of", LITHIUM[2])),
        ("正极企业<b>减产，推动正极景气回升。", moves(CUT, LITHIUM[2], 0, 1)),
    ]
    filled([paper(number, "2024-01-10", *said) for number in (50, 51)], store)
    run_week(store, date(2024, 1, 14))
    return store


def test_news_is_counted_by_notes_and_a_theme_without_any_is_said_to_be_quiet():
    report = weekly_report(QuerySession(two_weeks().view()))
    (week,) = report.themes
    assert (report.since, report.as_of) == (date(2024, 1, 7), date(2024, 1, 14))
    assert (week.notes, week.notes_before, week.facts) == (2, 1, 3)
    assert week.first_mentions == ("限产", "通威股份（600438.SH）")
    assert len(report.quiet) == 12
    text = markdown(report)
    assert "12 个主题本周无新内容" in text
    assert "推动正极景气回升（2024-01-10，《报告5" in text
    assert "通威股份 生产" not in text  # what belongs is mentioned, not news
    assert "<b>" not in page(report).split("<body", 1)[-1].split("</style>", 1)[-1]


def test_each_line_of_a_report_names_a_fact_of_the_view():
    view = two_weeks().view()
    report = weekly_report(QuerySession(view))
    lines = [line for week in report.themes for line in week.lines]
    assert lines
    assert {fact.id for fact in view.facts(ids=[line.fact for line in lines])} == {line.fact for line in lines}


def test_a_theme_that_is_gone_is_named_with_what_became_of_it():
    store = two_weeks()
    with store.writer() as writer:
        for head in list(store.view().documents()):
            if head.published_on >= date(2024, 1, 2):
                writer.remove(head.id)
    run_week(store, date(2024, 1, 21))
    (gone,) = weekly_report(QuerySession(store.view())).gone
    assert gone.startswith("正极（结束")


def test_no_report_before_the_first_run():
    with pytest.raises(NoRun):
        weekly_report(QuerySession(filled(solar()).view()))


def runs(store: Store) -> list[Run]:
    return list(store.view().runs())


def test_past_weeks_asked_for_in_any_order_are_what_they_would_have_been():
    days = past_weeks(filled(solar()), date(2024, 4, 1))
    assert (days[0], days[-1], len(days)) == (date(2024, 1, 15), date(2024, 4, 1), 12)
    in_order, late = filled(solar()), filled(solar())
    for day in days[-3:]:
        run_week(in_order, day)
    run_weeks(late, [days[-1]], lambda day: run_week(late, day))
    run_weeks(late, [days[-2], days[-3]], lambda day: run_week(late, day))
    assert runs(late) == runs(in_order)
    assert past_weeks(filled([]), None) == []
