"""A model answers questions about filings in rounds; what it says is checked against the pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kg.llm.port import Reply, Request
from kg.query.filings.research import ResearchAnswer, _unfounded, research
from kg.service.base import KnowledgeBase
from tests.kg.query.filings.values.world import amounts, filings

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTION = "How large were net sales of Oakwell Pumps in FY2022 against its total assets?"
SALES, ASSETS = (f"{amounts(4_000, 2022)[name]:,}" for name in ("revenue", "assets"))


class Scripted:
    """A model with given replies."""

    name = "scripted"

    def __init__(self, replies: Sequence[object]) -> None:
        self.replies, self.asked = [json.dumps(each) for each in replies], []  # type: list[str], list[Request]

    def complete(self, request: Request) -> Reply:
        """Return the next reply."""
        self.asked.append(request)
        return Reply(self.replies[len(self.asked) - 1])

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    """Return a base with made-up annual reports."""
    return KnowledgeBase(filings(), lang="en")


def _answer(**other: object) -> dict[str, object]:
    operands = {
        "a": {"filing": "F1", "page": 2, "number": f"$ {SALES}"},
        "b": {"filing": "F1", "page": 3, "number": ASSETS},
    }
    return {
        "answer": f"Net sales were {SALES} million.",
        "formula": "a / b",
        "unit": "times",
        "operands": operands,
    } | other


def _asked(kb: KnowledgeBase, *replies: object, **options: Any) -> tuple[ResearchAnswer, Scripted]:
    model = Scripted(replies)
    with kb.session() as session:
        return research(session, QUESTION, model, **options), model


def test_a_formula_over_numbers_of_pages_is_computed(kb: KnowledgeBase):
    answer, model = _asked(kb, _answer())
    assert answer.status == "answered"
    assert answer.value == pytest.approx(amounts(4_000, 2022)["revenue"] / amounts(4_000, 2022)["assets"])
    assert [(each.name, each.page) for each in answer.sources] == [("a", 2), ("b", 3)]
    assert 0 < answer.spent < answer.budget
    opening = model.asked[0].messages[1][1]
    assert "F1 Oakwell Pumps, Inc. 10-K FY2022" in opening
    assert "Elmford" not in opening


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"operands": {"a": {"filing": "F1", "page": 2, "number": "123456"}}}, "123456 is not on page 2 of F1"),
        ({"operands": {"a": {"filing": "F9", "page": 2, "number": SALES}}}, "page 2 of F9 was not shown"),
        ({"answer": "Net sales were 987,654."}, "987,654 is neither on a page that is named nor computed"),
        ({"formula": "a / c"}, "formula a / c cannot be computed"),
        ({"formula": "a / 4711"}, "formula a / 4711 cannot be computed"),
        ({"formula": "__import__('os')"}, "formula __import__('os') cannot be computed"),
        ({"quotes": [{"filing": "F1", "page": 2, "quote": "sales doubled"}]}, "no such words on page 2: sales doubled"),
        (
            {"quotes": [{"filing": "F1", "page": 2, "quote": "Net sales"}]},
            "too few words are quoted of page 2: Net sales",
        ),
        ({"operands": {"a": {"filing": "F1", "page": 2, "number": f"({SALES})"}}}, f"({SALES}) is not on page 2 of F1"),
        ({"answer": "Net sales fell 23%."}, "23 is neither on a page that is named nor computed"),
        ({"answer": "It has 2,050 staff."}, "2,050 is neither on a page that is named nor computed"),
        ({"answer": f"Net sales were -{SALES}."}, f"{SALES} is neither on a page that is named nor computed"),
        ({"answer": "9" * 400}, "invalid reply"),
        ({"answer": "Net sales \ud800 rose."}, "invalid reply"),
    ],
)
def test_what_no_page_has_is_refused_and_may_be_corrected(kb: KnowledgeBase, wrong: dict[str, object], fault: str):
    answer, model = _asked(kb, _answer(**wrong), _answer())
    assert fault in model.asked[1].messages[-1][1]
    assert answer.status == "answered"
    refused, _ = _asked(kb, *[_answer(**wrong)] * 3)
    assert refused.status == "refused"
    assert fault in refused.faults


def test_pages_are_asked_for_by_words_and_by_number(kb: KnowledgeBase):
    quote = {"filing": "F2", "page": 6, "quote": "A complaint about leaking pumps"}
    wanted = {"read": [{"filing": "F2", "page": 6}], "search": [{"filing": "F2", "words": "litigation"}]}
    answer, model = _asked(kb, wanted, {"answer": "A complaint is before a court.", "quotes": [quote]})
    assert "A complaint about leaking pumps" in model.asked[1].messages[-1][1]
    assert (answer.status, answer.sources[0].page) == ("answered", 6)


def test_a_page_that_was_cut_is_read_on_and_searches_are_few(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kg.query.filings.research._PAGE_TOKENS", 6)
    read, search = {"filing": "F2", "page": 6}, {"filing": "F2", "words": "litigation"}
    _, model = _asked(kb, {"read": [read]}, {"read": [read], "search": [search] * 500}, {"none": "nothing more"})
    first, second = (model.asked[number].messages[-1][1] for number in (1, 2))
    assert "[cut: read page 6 of F2 again for the rest]" in first
    assert "[F2 page 6, continued]" in second
    assert "leaking pumps" in second
    assert second.count("[F2") <= 3 * 3 + 1


def test_a_bracketed_number_is_negative():
    assert _unfounded("a loss of 1,234, or -1,234", {-1234.0}, None) == []
    assert _unfounded("-1,234", {1234.0}, None) == ["1,234"]
    assert _unfounded("On 31 March 2022 it had 3 plants; 20-25% are $5 or 12 million", set(), None) == [
        *("20", "25", "5", "12"),
    ]


def test_what_is_missing_is_not_found_and_a_budget_ends_the_loop(kb: KnowledgeBase):
    assert _asked(kb, {"none": "no such line"})[0].status == "not_found"
    answer, model = _asked(kb, _answer(), most_tokens=10)
    assert (answer.status, answer.spent, len(model.asked)) == ("refused", 0, 0)


@pytest.mark.parametrize("reply", ["no JSON", "{}", '{"answer": 1, "operands": [1, {"page": "x"}]}', "[" * 10_000])
def test_any_reply_is_read(kb: KnowledgeBase, reply: str):
    model = Scripted([])
    model.replies = [reply] * 3
    with kb.session() as session:
        assert research(session, QUESTION, model).status == "refused"
