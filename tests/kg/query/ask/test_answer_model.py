"""The shipped model on pairs as plain as they come: what a change of weights must not lose."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kg.query.ask.answer_model import AnswerModel, SentenceInContext, encoded
from kg.text.word_pieces import BEGIN, END, WordPieces

PROFIT = SentenceInContext("宁德时代2024年实现归母净利润507.45亿元，同比增长15.0%。", ("动力电池行业周报",))


def probability(question: str, sentence: str) -> float:
    return read(question, SentenceInContext(sentence, ("行业周报",)))


def read(question: str, *readings: SentenceInContext) -> float:
    return AnswerModel.shipped().probabilities(question, readings)[0]


@pytest.mark.parametrize(
    ("question", "answers", "does_not"),
    [
        (
            "硅料价格每千克多少元？",
            "年底硅料价格为每千克65元。",
            "2024年硅料价格企稳，公司名单见附表。",
        ),
        ("硅料涨价对隆基绿能有什么影响", "硅料价格上涨带动隆基绿能盈利改善。", "硅料价格上涨压低组件毛利率。"),
        ("大家怎么看硅料价格？", "国泰君安认为硅料价格仍将承压下行。", "国泰君安是一家证券公司。"),
        ("减速器有哪些公司", "减速器：绿的谐波、双环传动、中大力德。", "减速器是机器人的核心部件。"),
    ],
)
def test_a_sentence_that_answers_is_more_probable_than_one_that_does_not(question: str, answers: str, does_not: str):
    assert probability(question, answers) > 2 * probability(question, does_not)


def test_another_company_is_not_meant():
    asked, other = (f"{name}2024年归母净利润是多少" for name in ("宁德时代", "隆基绿能"))
    assert read(asked, PROFIT) > 2 * read(other, PROFIT)


def test_a_pair_is_the_same_beside_others():
    """In other threads, after other pairs and in a batch with longer ones."""
    questions = ["宁德时代2024年归母净利润是多少", "谁在生产硅料", "宁德时代2024年归母净利润是多少"] * 4
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda question: read(question, PROFIT), questions))
    assert found[0::3] == found[2::3] == [found[0]] * 4
    longer = SentenceInContext(PROFIT.sentence * 2, PROFIT.above)
    assert read(questions[0], PROFIT, longer, PROFIT) == pytest.approx(found[0], abs=0.001)


def test_a_pair_is_question_context_and_sentence_in_bounds():
    pieces = WordPieces.shipped()
    long = SentenceInContext(
        "硅料价格上涨。" * 100, ("周报" * 100, "上游", "硅料"), label="价格", before="前一句。" * 100
    )
    numbers, parts = encoded(pieces, "硅料价格为什么上涨？" * 30, long)
    assert len(numbers) == len(parts) <= 320
    assert parts == sorted(parts)
    assert (numbers[0], numbers[-1]) == (BEGIN, END)


def test_context_names_the_label():
    pieces = WordPieces.shipped()
    plain, labelled = (
        encoded(pieces, "硅料", SentenceInContext("涨了。", ("周报",), label=label))[0] for label in ("", "上游材料")
    )
    assert len(labelled) > len(plain)
