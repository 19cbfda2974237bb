"""Characters that PDF tools write for others, or that nobody sees, are read like the plain sentence."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.documents.encoding import kept_places, normalise
from extraction.streams import Extraction

PLAIN = "宁德时代2024年营业收入3620亿元。"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("⻓江电⼒，紫⾦矿业", "长江电力，紫金矿业"),  # Kangxi and supplementary radicals
        ("⻋⻔⻢⻰⻩⻘⻅⻚⻛⻝⻥⻦", "车门马龙黄青见页风食鱼鸟"),
        ("⽇⽉⽔⽕⽊⼟⼯⼩⼤", "日月水火木土工小大"),
        ("\uf98e度\uf967", "年度不"),  # compatibility ideographs
        ("宁德时\u200b代\ufeff，宁\xad德\u2060时\u200d代\u200e", "宁德时代，宁德时代"),
        ("宁 德 时 代 2 0 2 4 年 营 业 收 入 3 6 2 0 亿 元 。", PLAIN),
        ("一、概 述\n净 利 润 同 比 增 长 9 . 7 % 。", "一、概 述\n净利润同比增长9.7%。"),
        ("- 比 亚 迪 销 量 本 月 大 幅 增 长 。", "- 比亚迪销量本月大幅增长。"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ud800坏", "?坏"),
        ("寧德時代", "寧德時代"),  # the stored text keeps its script
    ],
)
def test_odd_characters_are_plain_ones(written, plain):
    assert normalise(written) == plain


@pytest.mark.parametrize(
    "text",
    [
        "项目 一 二 三 四 五 六 日",
        "1 2 3 4 5 6 7 8 9 10",
        "a b c d e f g h i j k",
        "营收 3620 亿元，净利 507 亿元，同比 +15 %，环比 -3 %",
        "| 年 | 月 | 日 | 值 | 量 | 价 |",
    ],
)
def test_words_between_blanks_stay_apart(text):
    assert normalise(text) == text


@given(st.text(alphabet="宁德 时代\u200b\xad⾦⻓2a\n", max_size=60))
def test_each_character_has_its_place_in_the_input(text):
    plain, places = normalise(text), kept_places(text)
    assert len(places) == len(plain) + 1
    assert all(normalise(text[place]) == char for char, place in zip(plain, places[:-1], strict=True))
    assert normalise(plain) == plain or " " in text


@pytest.mark.parametrize(
    "text",
    [
        "宁德时代2024年营业收⼊3620亿元。",
        "宁德时\u200b代2024年营业收入3620亿元。",
        "宁德\xad时代2024年营业收入3620亿元。",
        " ".join(PLAIN),
        "\u200b" + PLAIN,
    ],
)
def test_a_figure_is_quoted_as_it_was_written(text):
    work = Extraction(datetime(2025, 5, 1, tzinfo=UTC), ner=False, edge_model="off").build()
    out = work({"id": "1", "date": "2025-04-28", "title": "周报", "text": text}, "in:1")
    (fact,) = out["facts"]
    assert fact["subject"]["id"] == "sec:300750.SZ"
    assert fact["value"]["number"] == 3620e8
    evidence = fact["evidence"]
    assert evidence["quote"] == text[evidence["start"] : evidence["end"]]
    assert normalise(evidence["quote"]) == PLAIN
    assert all(text[each["start"] : each["end"]] == each["text"] for each in out["mentions"])
    assert json.dumps(out)
