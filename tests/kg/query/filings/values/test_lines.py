from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kg.query.filings.values.answer import filing_value
from kg.query.filings.values.lines import filing_lines, value_text
from kg.service.base import KnowledgeBase
from tests.kg.query.filings.values.world import filings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.session import QuerySession


@pytest.fixture(scope="module", params=["zh", "en"])
def session(request: pytest.FixtureRequest) -> Iterator[QuerySession]:
    with KnowledgeBase(filings(), lang=request.param).session() as session:
        yield session


def test_the_text_names_value_formula_and_rows(session: QuerySession):
    answer = filing_value(session, "What is the FY2022 gross margin of Oakwell?")
    lines = list(value_text(session, replace(answer, trace=())))
    formula = {"zh": "公式：毛利 / 营业收入", "en": "Formula: gross profit / revenue"}[session.lang]
    assert lines[1] == formula
    assert [line.rpartition("Net sales")[1] for line in lines[2:3]] == ["Net sales"]
    assert len(lines) == 4


def test_the_trace_shows_plan_rounds_and_formula(session: QuerySession):
    answer = filing_value(session, "What were Oakwell's inventories in FY2022?")
    steps = list(value_text(session, answer))[-1].strip().split("\n")
    assert [step.split(":")[0] for step in steps] == ["task", "plan", "round 1", "formula"]


def test_what_the_statements_lack_is_not_found_and_pages_follow(session: QuerySession):
    status, lines, passages = filing_lines(session, "What was Oakwell's goodwill in FY2021?")
    assert (status, lines) == ("partial", [])
    assert passages[0].text.startswith({"zh": "未找到相关信息", "en": "No such information"}[session.lang])
    assert all(line.citations for line in passages[1:])
