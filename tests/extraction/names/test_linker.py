from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from extraction.models.units import lines_of
from extraction.names.gazetteer import shipped_lexicon
from extraction.names.linker import Linker
from extraction.names.ner import Span
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from tests.goldens.reports import extractor, report

if TYPE_CHECKING:
    from kg.model import Document

Row = tuple[str, str, str]


def linked(document: Document, linker: Linker | None = None) -> list[list[Row]]:
    """(written, entity, kind) of every sentence."""
    sentences = [line.sentence for line in lines_of(document)]
    rows = (linker or extractor()._linker).link(document, sentences)
    return [
        [(sentence.text[ref.start : ref.end], ref.entity, ref.kind.value) for ref in refs]
        for sentence, refs in zip(sentences, rows, strict=True)
    ]


def names(text: str, **about: object) -> list[Row]:
    (row,) = linked(report(text, **about))  # type: ignore[arg-type]
    return row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("宁德时代扩产。", [("宁德时代", "sec:300750.SZ", "company")]),
        ("宁德时代（300750.SZ）扩产。", [("宁德时代", "sec:300750.SZ", "company")]),
        ("碳酸锂均价走低。", [("碳酸锂均价", "indicator:碳酸锂价格", "indicator")]),
        ("铜价走低。", [("铜价", "indicator:铜价格", "indicator")]),
        ("碳酸锂涨价。", [("碳酸锂", "indicator:碳酸锂价格", "indicator")]),
        ("多晶硅扩容。", [("多晶硅", "product:硅料", "product")]),
        ("锂行业扩容。", [("锂", "industry:锂", "industry")]),
        ("美联储加息。", [("美联储加息", "policy:美联储加息", "policy")]),
    ],
)
def test_names_of_a_sentence(text, expected):
    row = names(text)
    assert [one for one in row if one in expected] == expected
    assert {entity for _, entity, _ in row} >= {entity for _, entity, _ in expected}


def test_a_price_is_found_whole():
    assert names("碳酸锂价格走低。") == [("碳酸锂价格", "indicator:碳酸锂价格", "indicator")]


def test_names_are_in_order_and_never_overlap():
    text = "宁德时代、比亚迪与特斯拉讨论碳酸锂均价、铜价、多晶硅扩产及光伏玻璃行业的以旧换新政策。"
    document = report(text)
    (sentence,) = [line.sentence for line in lines_of(document)]
    (refs,) = extractor()._linker.link(document, [sentence])
    assert len(refs) >= 8
    for first, second in pairwise(refs):
        assert first.end <= second.start
    assert all(0 <= ref.start < ref.end <= len(sentence.text) for ref in refs)
    assert all(0 < ref.score <= 1 for ref in refs)


def test_offsets_are_the_sentence_s_own_in_normalised_text():
    document = report("铺垫说明在此。宁德时代 ( 300750.SZ ) 与 比亚迪 合作。")
    rows = linked(document)
    assert [written for written, entity, _ in rows[1] if entity.startswith("sec:")] == ["宁德时代", "比亚迪"]


def test_a_company_goes_before_a_trade_of_the_same_letters():
    assert ("药明康德", "sec:603259.SH", "company") in names("药明康德订单增长。")


def test_the_name_of_the_day_is_what_counts():
    """A name that a company has given up is not its name any more, and codes lead to it at all times."""
    assert [entity for _, entity, kind in names("代码300750.SZ的公司扩产。") if kind == "company"] == ["sec:300750.SZ"]


@pytest.mark.parametrize("text", ["平安表示乐观。", "长江继续看好。"])
def test_an_ambiguous_short_name_is_never_guessed(text):
    assert [one for one in names(text) if one[2] == "company"] == []


class FakeNer:
    """A model that finds what it is stated to."""

    def __init__(self, *spans: tuple[str, str]) -> None:
        self._spans = spans

    def find(self, texts: list[str]) -> list[list[Span]]:
        return [
            [
                Span(text.index(name), text.index(name) + len(name), name, label)
                for name, label in self._spans
                if name in text
            ]
            for text in texts
        ]


@pytest.fixture(scope="session")
def resolver() -> Resolver:
    return Resolver(Master.load(None))


def guessed(resolver: Resolver, text: str, *spans: tuple[str, str]) -> list[Row]:
    linker = Linker(resolver, shipped_lexicon(), FakeNer(*spans))  # type: ignore[arg-type]
    (row,) = linked(report(text), linker)
    return row


def test_an_unlisted_firm_is_an_organisation(resolver):
    firm = "甲乙丙科技有限公司"
    assert (firm, f"org:{firm}", "company") in guessed(resolver, f"{firm}扩产。", (firm, "ORG"))
    # form speaks against these
    for no_firm in ("上市公司", "甲乙丙市场", "甲乙丙", "国内"):
        row = guessed(resolver, f"{no_firm}扩产。", (no_firm, "ORG"))
        assert [one for one in row if one[2] == "company"] == [], no_firm
    # a listed name goes before a guess
    assert guessed(resolver, "宁德时代扩产。", ("宁德时代", "ORG"))[0][1] == "sec:300750.SZ"


def test_an_unlisted_firm_hides_the_words_inside_it(resolver):
    firm = "甲乙丙碳酸锂科技股份"
    row = guessed(resolver, f"{firm}向宁德时代供货。", (firm, "ORG"))
    assert [(written, kind) for written, _, kind in row] == [(firm, "company"), ("宁德时代", "company")]


def test_without_a_model_a_legal_form_still_tells_a_company():
    found = [one for one in names("甲乙丙科技有限公司成立，瑞丁新材也成立。") if one[2] == "company"]
    assert found == [("甲乙丙科技有限公司", "org:甲乙丙科技有限公司", "company")]
