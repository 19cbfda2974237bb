"""Every door checks the parameters of a question in one place."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from inspect import signature

import pytest

from kg.errors import KgError, UnknownName
from kg.query.questions.parameters import WrongParameter
from kg.query.questions.registry import KEYS, question
from kg.service.base import KnowledgeBase

FIRST, LAST = datetime.min, datetime.max  # noqa: DTZ901 -- given a time zone below
FAR = timezone(timedelta(hours=14)), timezone(-timedelta(hours=14))


@pytest.mark.parametrize("name", KEYS)
def test_a_misspelt_option_is_refused(kb: KnowledgeBase, name: str):
    about = ["光伏" for field in question(name).model_fields.values() if field.is_required()]
    with pytest.raises(TypeError, match=r"as_off.*did you mean 'as_of'"):
        getattr(kb, name)(*about, as_off=date(2020, 1, 1))


@pytest.mark.parametrize("name", KEYS)
def test_options_are_given_by_name(name: str):
    """What a question is about may be positional; everything with a default is keyword-only."""
    form = signature(getattr(KnowledgeBase, name)).parameters.values()
    optional = [each for each in form if each.default is not each.empty and each.name != "wanted"]
    assert {each.kind for each in optional} <= {optional[0].KEYWORD_ONLY} if optional else True


@pytest.mark.parametrize(
    ("ask", "parameter"),
    [
        (lambda kb: kb.facts(limit=0), "limit"),
        (lambda kb: kb.facts(limit=1001), "limit"),
        (lambda kb: kb.passages("光伏", limit=-1), "limit"),
        (lambda kb: kb.chain("光伏", depth=9), "depth"),
        (lambda kb: kb.chain(""), "topic"),
        (lambda kb: kb.chain("光伏", min_confidence=1.5), "min_confidence"),
        (lambda kb: kb.impact("硅料价格", direction=2), "direction"),
        (lambda kb: kb.facts(as_of="2025-13-01"), "as_of"),
        (lambda kb: kb.facts(known_at=datetime(2025, 1, 1)), "known_at"),  # noqa: DTZ001
    ],
)
def test_a_value_outside_its_limits_is_one_line_in_the_language_of_the_base(kb: KnowledgeBase, ask, parameter: str):
    with pytest.raises(WrongParameter) as raised:
        ask(kb)
    assert str(raised.value).startswith(f"{parameter}：")
    assert raised.value.worded("en").startswith(f"{parameter}: ")
    assert not raised.value.worded("zh").isascii()


@pytest.mark.parametrize("spelling", ["down", -1])
def test_a_direction_is_a_word_or_a_sign(kb: KnowledgeBase, spelling):
    assert kb.impact("硅料价格", direction=spelling) == kb.impact("硅料价格", direction="down")


def test_a_day_is_a_date_text_or_an_instant(kb: KnowledgeBase):
    pandas = pytest.importorskip("pandas")
    day = date(2024, 6, 1)
    for spelling in ("2024-06-01", pandas.Timestamp("2024-06-01"), datetime(2024, 5, 31, 16, tzinfo=UTC)):
        assert kb.facts(as_of=spelling) == kb.facts(as_of=day)


@pytest.mark.parametrize("name", KEYS)
def test_known_at_has_no_edges(kb: KnowledgeBase, name: str):
    """Instants that leave the calendar in UTC are answered, or refused in one line, as any other."""
    about = {each: "光伏" for each, field in question(name).model_fields.items() if field.is_required()}
    about |= {"since": date(2024, 1, 1)} if "since" in about else {}
    raised: list[Exception] = []
    for moment in (FIRST, LAST):
        for zone in (UTC, *FAR):
            try:
                getattr(kb, name)(**about, known_at=moment.replace(tzinfo=zone))
            except KgError as error:
                raised.append(error)
    assert not any("\n" in str(error) for error in raised)


@pytest.mark.parametrize("ask", [
    lambda kb: kb.chain("光伏").graph.links,
    lambda kb: kb.impact("硅料价格").paths,
    lambda kb: kb.causes("毛利率").paths,
    lambda kb: kb.history("硅料价格", "隆基绿能").episodes,
    lambda kb: kb.relate("光伏", "硅料").paths,
    lambda kb: kb.profile("隆基绿能").links,
    lambda kb: kb.neighbours("隆基绿能").edges,
    lambda kb: kb.facts(name="隆基绿能").facts,
    lambda kb: kb.diff("1998-01-01", name="光伏").changes,
    lambda kb: kb.themes(),
    lambda kb: kb.theme_changes("1998-01-01").themes,
])  # fmt: skip
def test_a_day_before_the_first_document_has_an_empty_answer(kb: KnowledgeBase, ask):
    """A back-test starts there; a name that is never known stays an error on any other day."""
    assert len(ask(kb.asof("1999-01-01"))) == 0
    with pytest.raises(UnknownName):
        kb.chain("不存在的行业")
