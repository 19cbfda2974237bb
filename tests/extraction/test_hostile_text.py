"""No text may hang the extractor: what a hostile document can repeat is read whole within a hard limit.

Each unit is repeated to a text without an end mark, read in a process of its own that is killed at the limit. The limit
is a guard against patterns that try 2ⁿ ways and loops over all pairs, no measure: a unit takes some tenths of a second.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest

from extraction.claims.measures import words as metric_words
from extraction.claims.relations import listed
from extraction.names.company_forms import Firm
from extraction.names.company_merge import with_firms
from extraction.text.sentences import split
from kg.securities.context import ScannedText as SecuritiesDocument
from kg.securities.master import Master
from kg.securities.resolver import Resolution, Resolver, _with_taught

if TYPE_CHECKING:
    import re

LENGTH, LIMIT = 4000, 300  # characters of a text, seconds for all the texts of a group
MANY = 50_000  # names of one text

UNITS = {
    "brackets": ("（", "(", "[", "【", "“", "《", "）", "（）", "“”", "（1）", "《甲》"),
    "marks": ("，", "、", "：", "；", " ", "-", "—", "·", ".", "|", "*", "**", "`", "_", "%", "#"),
    "numbers": ("1", "12 ", "3.5", "1,000", "1、", "1/", "1-", "2024", "2025/", "10%", "10%、", "1亿元", "10GWh、"),
    "dates": ("2024年", "9月", "十", "一二", "Q3", "3Q24", "去年同期", "上半年", "未来三年", "截至", "本周", "十四五"),
    "letters": ("a", "A", "A-", "A'", "A&", "A.", "a b ", "A B ", "AI", "AAPL ", "@", "http://", "LTD ", "CO.,LTD "),
    "firms": (
        "公司", "有限公司", "集团", "*ST", "S宁德", "宁德时代、", "宁德时代和", "宁德时代（300750）", "600519 ",
        "300750.SZ", "子公司", "控股股东", "股份有限公司", "旗下的", "董事长",
    ),
    "names": (
        "碳酸锂、", "碳酸锂价格", "毛利率", "营业收入", "新能源汽车、", "医药", "半导体设备", "业务", "美国", "中国",
    ),
    "words": (
        "的", "了", "和", "将", "未", "不", "若", "据", "为", "至", "从", "由", "对", "与", "行业的", "终端市场",
        "或将", "超预期", "可能", "主要从事", "龙头公司", "控股公司", "先进的", "预计", "有望", "如果", "没有",
        "据报道", "表示", "分别",
    ),
    "deeds": ("收购", "增持", "减持", "质押", "中标", "诉讼", "投资", "推动", "导致", "受益于", "合作"),
}  # fmt: skip

READ = """
import sys
from tests.goldens.reports import extractor, report
from tests.goldens.reports import READ
length = int(sys.argv[1])
for unit in sys.argv[2:]:
    text = unit * (length // len(unit))
    extractor().extract(report(f"隆基绿能2024年营业收入为10亿元，{text}增长10%。", f"# {text[:200]}"), recorded_at=READ)
    print(unit, flush=True)
"""


@pytest.mark.parametrize("group", UNITS)
def test_a_repeated_unit_is_read_to_its_end(group: str):
    command = [sys.executable, "-c", READ, str(LENGTH), *UNITS[group]]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False, text=True, encoding="utf-8")
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"hangs behind {(late.stdout or b'').splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == list(UNITS[group])


REPEATED = {
    "终端市场": metric_words.SCOPE_WORDS,
    "1多个": listed._LEAD,
}


@pytest.mark.parametrize(("word", "pattern"), REPEATED.items())
def test_what_may_be_repeated_is_read_in_one_way_only(word: str, pattern: re.Pattern[str]):
    """With 40 of a word that two ways make up, a try of them all would outlive the test run."""
    assert pattern.fullmatch(40 * word + "\0") is None


def test_firms_by_the_thousand_are_not_compared_in_pairs():
    """A loop over all pairs of 100,000 would outlive the test run; so it would below."""
    texts = [f"{number}号有限公司、宁德时代、" for number in range(MANY)]
    text = "".join(texts)
    starts = [0, *accumulate(map(len, texts))]
    firms = [(start, start + len(unit) - 6, Firm(0, 0, sure=True)) for start, unit in zip(starts, texts, strict=False)]
    listed = [Resolution(end + 1, end + 5, "宁德时代", "linked", "sec:1", "300750.SZ", 1.0) for _, end, _ in firms]
    found = with_firms(text, listed, firms, day=date(2025, 6, 1), resolver=Resolver(Master.load()))
    assert [each.start for each in found] == sorted(place for start, end, _ in firms for place in (start, end + 1))


def test_codes_and_short_forms_by_the_thousand_are_not_compared_in_pairs():
    names = ["".join(chr(0x4E00 + number // step % 90 * 61) for step in (1, 90, 8100)) for number in range(MANY)]
    text = "".join(f"{name}（300750.SZ）、" for name in names)
    document = SecuritiesDocument(text, Master.load())
    brackets = [document.bracket_behind(place) for place in range(3, len(text), len(text) // MANY)]
    assert len(brackets) == MANY
    assert all(bracket and [str(code) for code in bracket.codes] == ["300750.SZ"] for bracket in brackets)
    assert len(_with_taught(text, [], document.taught_names([]))) > MANY // 2


def test_a_text_without_end_marks_is_cut_all_the_same():
    text = "营业收入为10亿元、" * 2000
    sentences = split(text, 0, len(text))
    assert max(len(each.text) for each in sentences) <= 2000
    assert "".join(text[each.start : each.end] for each in sentences) == text
