"""A theme's life and a reader's change report, from runs that the test publishes."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from kg.model import Community, LifecycleEvent, Run, Summary, SummaryLine, ThemeEvent
from kg.query.session import QuerySession
from kg.query.themes.biography import biography
from kg.query.themes.changes import changes, markdown
from kg.query.themes.listing import NoRun, theme
from tests.kg.query.world import CELL, MODULE, PRICE, SILICON, WAFER, filled, solar

if TYPE_CHECKING:
    from tests.contracts.reference import MemoryStore

FIRST, SECOND, THIRD = date(2024, 7, 5), date(2024, 7, 12), date(2024, 7, 19)


def _theme(name: str, title: str, *members: str, news: str = "") -> Community:
    changed = (SummaryLine("新增 1 条事实"), SummaryLine(news)) if news else ()
    return Community(f"theme:{name}", 0, "", members, Summary(f"s:{title}", title), changed)


@pytest.fixture
def store() -> MemoryStore:
    made = filled(solar())
    fact = next(iter(made.view().facts(relation="upstream_of"))).id
    born = ThemeEvent(LifecycleEvent.BORN, "theme:a", 0, "硅料", 2, facts=(fact,))
    grown = ThemeEvent(LifecycleEvent.GROWN, "theme:a", 0, "硅料*链", 4, joined=(CELL, MODULE))
    named = ThemeEvent(LifecycleEvent.RENAMED, "theme:a", 0, "硅料*链", 4)
    died = ThemeEvent(LifecycleEvent.DIED, "theme:b", 0, "组件", 1, others=("theme:a",))
    runs = (
        Run(
            "r1", FIRST, communities=(_theme("a", "硅料", SILICON, WAFER), _theme("b", "组件", MODULE)), events=(born,)
        ),
        Run("r2", SECOND, communities=(_theme("a", "硅料", SILICON, WAFER), _theme("b", "组件", MODULE))),
        Run(
            "r3",
            THIRD,
            communities=(
                _theme("a", "硅料*链", SILICON, WAFER, CELL, MODULE, news="<b>新</b>"),
                _theme("c", "稳", PRICE),
            ),
            events=(grown, named, died),
        ),
    )
    with made.writer() as writer:
        for run in runs:
            writer.publish(run)
    return made  # type: ignore[return-value]


def test_a_life_has_names_sizes_and_turns_with_their_facts(store: MemoryStore):
    life = biography(QuerySession(store.view()), "theme:a")
    assert life.names == ((FIRST, "硅料"), (THIRD, "硅料*链"))
    assert life.sizes == ((FIRST, 2), (SECOND, 2), (THIRD, 4))
    assert [(item.as_of, item.turn) for item in life.episodes] == [
        (FIRST, LifecycleEvent.BORN),
        (THIRD, LifecycleEvent.GROWN),
        (THIRD, LifecycleEvent.RENAMED),
    ]
    assert life.episodes[1].text == "扩大到 4 个成员：加入 电池片、组件"
    assert life.episodes[0].claims
    assert life.episodes[0].citations[0].published_on <= FIRST


def test_a_life_knows_nothing_of_later_weeks(store: MemoryStore):
    life = biography(QuerySession(store.view(as_of=SECOND)), "theme:a")
    assert [day for day, _ in life.sizes] == [FIRST, SECOND]
    assert len(life.episodes) == 1
    assert biography(QuerySession(store.view()), "theme:none").episodes == ()


def test_a_theme_is_shown_with_its_history(store: MemoryStore):
    answer = theme(store.view(), "a")
    assert answer.as_of == THIRD
    assert answer.biography == biography(QuerySession(store.view()), "theme:a")


def test_a_reader_sees_what_changed_since_the_last_visit(store: MemoryStore):
    answer = changes(QuerySession(store.view()), SECOND)
    assert (answer.since, answer.until, answer.weeks, answer.unchanged) == (SECOND, THIRD, (THIRD,), 1)
    grown, ended = answer.themes
    assert (grown.name, grown.name_before, grown.size_before, grown.size) == ("硅料*链", "硅料", 2, 4)
    assert [line.text for line in grown.news] == ["<b>新</b>"]
    assert (ended.name, ended.size) == ("组件", 0)
    assert ended.episodes[0].text == "结束：成员归入「硅料*链」"
    assert changes(QuerySession(store.view()), THIRD).themes == ()
    assert changes(QuerySession(store.view()), date(2020, 1, 1)).since is None


def test_markdown_escapes_what_documents_wrote(store: MemoryStore):
    text = markdown(changes(QuerySession(store.view()), SECOND))
    assert "## 硅料\\*链" in text
    assert "\\<b\\>新" in text
    assert "<b>" not in text


def test_without_a_run_there_is_nothing_to_tell():
    with pytest.raises(NoRun):
        changes(QuerySession(filled(solar()).view()), FIRST)
