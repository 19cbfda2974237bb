"""Data frames of answers: fixed typed columns, with values, units and both clocks; none of the future."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from kg.errors import UnknownName
from kg.model import Community, Run, Summary, Value
from kg.period import year
from kg.query.browse.frames import COLUMNS, STEPS, pandas_frame
from kg.query.questions.parameters import WrongParameter
from kg.relations import vocabulary
from kg.service.base import KnowledgeBase
from tests.kg.query.world import LONGI, TONGWEI, claim, filled, paper, solar

if TYPE_CHECKING:
    from collections.abc import Callable

REVENUE = "indicator:营业收入"
KINDS = {
    "text": "object",
    "number": "float64",
    "whole": "Int64",
    "flag": "boolean",
    "day": "datetime64[us]",
    "instant": "datetime64[us, UTC]",
}


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    measured = claim(TONGWEI, "reports", REVENUE, value=Value(1.39e11, "元", "亿", "", "归母"), valid=year(2023))
    return KnowledgeBase(filled([*solar(), paper(90, "2024-07-01", ("通威股份实现营业收入1390亿元。", measured))]))


def test_a_measured_fact_has_value_unit_period_and_both_clocks(kb: KnowledgeBase):
    frame = kb.facts(relation="reports").to_pandas()
    row = frame[frame["target"] == REVENUE].iloc[0]
    assert (row["value"], row["unit"], row["scale"], row["basis"]) == (1.39e11, "元", "亿", "归母")
    assert (row["valid_from"], row["valid_to"]) == (pd.Timestamp(2023, 1, 1), pd.Timestamp(2024, 1, 1))
    assert row["published_on"] == pd.Timestamp(2024, 7, 1)
    assert row["recorded_at"].tzinfo is not None
    assert (row["source_code"], row["document"]) == ("600438.SH", "doc:90")
    assert row["quote"] == "通威股份实现营业收入1390亿元。"


@pytest.mark.parametrize(
    "ask",
    [
        lambda kb, **when: kb.facts(**when),
        lambda kb, **when: kb.frame("suppliers", "隆基绿能", **when),
        lambda kb, **when: kb.frame("chain", "光伏", **when),
    ],
)
def test_columns_and_types_are_the_same_when_empty(kb: KnowledgeBase, ask: Callable[..., object]):
    full, empty = (_frame(ask(kb, **when)) for when in ({}, {"as_of": date(1990, 1, 1)}))
    assert len(full) > 0
    assert len(empty) == 0
    wanted = {name: KINDS[kind] for name, kind in COLUMNS["edges"].items()}
    assert {name: str(kind) for name, kind in full.dtypes.items()} == wanted
    assert {name: str(kind) for name, kind in empty.dtypes.items()} == wanted


def _frame(found: object) -> pd.DataFrame:
    return found if isinstance(found, pd.DataFrame) else found.to_pandas()  # type: ignore[attr-defined]


def test_arrow_has_the_same_columns_and_cells(kb: KnowledgeBase):
    answer = kb.facts(relation="reports")
    arrow, frame = answer.to_arrow(), answer.to_pandas()
    assert arrow.column_names == list(frame.columns)
    assert arrow.column("valid_to").to_pylist() == [None if pd.isna(day) else day.date() for day in frame["valid_to"]]
    assert kb.facts(as_of="1990-01-01").to_arrow().schema == arrow.schema


def test_a_step_goes_one_way(kb: KnowledgeBase):
    assert set(kb.frame("suppliers", "隆基绿能")["source"]) == {TONGWEI}
    assert set(kb.frame("customers", "通威股份")["target"]) == {LONGI}
    assert len(kb.frame("customers", "隆基绿能")) == 0
    assert {relation for relation, _ in STEPS.values()} <= set(vocabulary().relations)


def test_facts_are_filtered_by_publication_day(kb: KnowledgeBase):
    days = {row.fact.published_on for row in kb.facts(limit=1000).facts}
    first, last = sorted(days)[1], sorted(days)[-2]
    found = kb.facts(published_from=first, published_to=str(last), limit=1000).facts
    assert {row.fact.published_on for row in found} == {day for day in days if first <= day <= last}
    assert kb.facts(published_to=first, limit=1000).facts
    with pytest.raises(WrongParameter, match="published_from"):
        kb.facts(published_from="2025-01-02", published_to="2025-01-01")


def test_a_dated_base_never_looks_ahead(kb: KnowledgeBase):
    day = date(2024, 6, 1)
    dated = kb.asof(day)
    assert dated.chain("光伏") == kb.chain("光伏", as_of=day)
    assert dated.facts(as_of="2024-03-01") == kb.facts(as_of="2024-03-01")
    with pytest.raises(WrongParameter, match="as_of"):
        dated.facts(as_of=date(2024, 6, 2))
    assert all(row.fact.published_on <= day for row in dated.facts(limit=1000).facts)


def test_a_name_that_is_unknown_is_an_error_in_a_frame_too(kb: KnowledgeBase):
    with pytest.raises(UnknownName):
        kb.frame("suppliers", "不存在的公司")
    with pytest.raises(WrongParameter, match="suppliers"):
        kb.frame("nonsense", "隆基绿能")


def test_themes_are_rows_of_members():
    kb = KnowledgeBase(filled(solar()))
    assert list(kb.themes_frame().columns) == list(COLUMNS["themes"])
    with kb.store.writer() as writer:
        theme = Community("theme:1", 0, "", (TONGWEI, LONGI), Summary("s", "光伏链"))
        writer.publish(Run("run:1", date(2024, 6, 1), communities=(theme,)))
    frame = kb.themes_frame()
    assert list(frame["member_code"]) == ["600438.SH", "601012.SH"]
    assert set(frame["title"]) == {"光伏链"}
    assert len(kb.asof("1990-01-01").themes_frame()) == 0


def test_a_frame_has_no_other_columns():
    assert list(pandas_frame({"a": "text"}, [{"a": "x", "b": "y"}]).columns) == ["a"]
