"""Questions about themes: those of the week, and the life of a named one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from kg.model import Community, LifecycleEvent, Run, Summary, ThemeEvent
from kg.query.ask.answer import ask
from kg.query.ask.themes import theme_lines
from kg.query.session import QuerySession
from tests.kg.query.world import CELL, MODULE, PLANT, SILICON, WAFER, claim, filled, paper

TODAY = date(2024, 7, 19)
HOT, OLD = "theme:hot", "theme:old"


def theme(name: str, title: str, *members: str) -> Community:
    return Community(name, 0, "", members, Summary(f"s:{title}", title))


@pytest.fixture
def session() -> QuerySession:
    """Two themes: one with news this week, one whose newest document is years old."""
    made = filled(
        [
            paper(1, "2024-07-17", ("硅片用于电池片。", claim(WAFER, "upstream_of", CELL))),
            paper(2, "2024-07-18", ("硅料用于硅片。", claim(SILICON, "upstream_of", WAFER))),
            paper(3, "2021-01-05", ("组件用于光伏电站。", claim(MODULE, "upstream_of", PLANT))),
        ]
    )
    grown = ThemeEvent(LifecycleEvent.GROWN, HOT, 0, "硅料：硅片", 3, joined=(CELL,))
    hot, old = theme(HOT, "硅料：硅片", SILICON, WAFER, CELL), theme(OLD, "组件：光伏电站", MODULE, PLANT)
    born = [ThemeEvent(LifecycleEvent.BORN, each.id, 0, each.summary.title, 2) for each in (hot, old)]
    with made.writer() as writer:
        writer.publish(Run("r1", TODAY - timedelta(days=7), communities=(hot, old), events=tuple(born)))
        writer.publish(Run("r2", TODAY, communities=(hot, old), events=(grown,)))
    return QuerySession(made.view(), min_confidence=0.0)


def test_themes_of_the_week_have_news_each_with_a_cited_sentence(session: QuerySession):
    head, *lines = theme_lines(session, [], TODAY)
    assert head.text == "2024-07-13 至 2024-07-19 新增内容最多的主题："
    (line,) = lines  # the old theme has no news
    assert line.text.startswith("硅料：新增 2 条事实（此前四周平均每周 0.0 条）；扩大到 3 个成员：加入 电池片：")
    assert line.citations[0].quote in ("硅片用于电池片。", "硅料用于硅片。")


def test_a_later_day_has_no_themes_of_the_week(session: QuerySession):
    assert theme_lines(session, [], TODAY + timedelta(days=30)) == []


@pytest.mark.parametrize(
    ("name", "says"), [(SILICON, "最近一周新增："), (MODULE, "最近一周没有新的内容，最近的在 2021-01-05：")]
)
def test_a_named_theme_has_a_life_and_every_claim_its_source(session: QuerySession, name: str, says: str):
    entity = session.known(name)
    assert entity is not None
    lines = theme_lines(session, [entity], TODAY)
    assert says in [line.text for line in lines]
    assert all(line.citations for line in lines if line.indent)
    assert any("诞生" in line.text or "扩大" in line.text for line in lines)


def test_a_name_without_a_theme_and_a_base_without_a_run_get_nothing(session: QuerySession):
    entity = session.known(SILICON)
    assert entity is not None
    assert theme_lines(session, [replace(entity, name="火星")], TODAY) == []
    bare = filled([paper(1, "2024-07-17", ("硅片用于电池片。", claim(WAFER, "upstream_of", CELL)))])
    assert theme_lines(QuerySession(bare.view()), [], TODAY) == []


def test_questions_about_themes_are_understood(session: QuerySession):
    assert "新增 2 条事实" in ask(session, "最近有什么热门主题").lines[1].text
    english = QuerySession(session.view, lang="en", min_confidence=0.0)
    assert (
        ask(english, "最近有什么热门主题").lines[0].text == "Themes with the most news from 2024-07-12 to 2024-07-18:"
    )
    assert ask(session, "硅料主题怎么来的").lines[0].text.startswith("主题「硅料」：3 个成员")
