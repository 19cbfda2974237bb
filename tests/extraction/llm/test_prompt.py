"""What a model is shown: numbered lines under their headings, without what is not worth reading."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from extraction.llm.prompt import contexts, instructions, packs_of
from extraction.models.units import lines_of
from extraction.names.gazetteer import shipped_lexicon
from extraction.names.linker import Linker
from kg.llm.port import tokens
from kg.relations import vocabulary
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from tests.goldens.reports import report

if TYPE_CHECKING:
    from extraction.llm.prompt import Pack

LONG = "碳酸锂价格下跌，电池企业成本下降，储能需求回升，海外订单增加，行业盈利改善。"


@cache
def linker() -> Linker:
    return Linker(Resolver(Master.load(None)), shipped_lexicon(), None)


def packs(*lines: str, title: str = "行业周报") -> list[Pack]:
    return packs_of(report(*lines, title=title), linker().link)


def user(pack: Pack) -> str:
    return pack.request.messages[1][1]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_instructions_name_exactly_the_relations_that_a_model_is_asked_for(lang):
    text = instructions(lang)
    named = set(re.findall(r"^([a-z]+_?[a-z_]*)(?= |$)", text.split("\n", 1)[1], flags=re.MULTILINE))
    asked = {name for name, relation in vocabulary().relations.items() if relation.ask}
    assert asked <= named
    assert not named & (set(vocabulary().relations) - asked)
    assert tokens(text) < 800  # an upper estimate: 499 and 469 of o200k


def test_lines_are_numbered_and_marked():
    (pack,) = packs("# 一、锂电", "碳酸锂价格下跌。", "- 隔膜：恩捷股份、星源材质。")
    assert user(pack).split("\n") == [
        "标题: 行业周报 (2025-08-20)",
        "0# 一、锂电",
        "1 碳酸锂价格下跌。",
        "2- 隔膜：恩捷股份、星源材质。",
    ]


def test_names_that_occur_often_are_offered_by_number():
    (pack,) = packs("宁德时代扩产。", "宁德时代向特斯拉供货。", "恩捷股份扩产。")
    assert pack.names == ("宁德时代",)
    assert "名称: @1=宁德时代" in user(pack)


def test_a_long_text_is_cut_into_packs_that_repeat_their_headings():
    found = packs("# 锂电", "## 价格", *[f"第{n}周，{LONG}盐湖股份出货{n}万吨。" for n in range(90)])
    assert len(found) > 1
    numbers = [line.number for pack in found for line in pack.lines]
    assert numbers == sorted(set(numbers))
    assert [line.text for line in found[1].context] == ["锂电", "价格"]
    sizes = [sum(tokens(line.text) for line in pack.lines) for pack in found]
    assert max(sizes) < 1.5 * min(sizes)


def test_boilerplate_and_repeats_are_not_sent():
    said = [LONG, "盐湖股份的碳酸锂产能年内释放，成本低于外购锂矿的企业。"]
    (pack,) = packs("# 观点", *said, "# 总结", *said, "# 风险提示", "宏观经济波动；政策变化。")
    assert [line.text for line in pack.lines] == ["观点", *said]


def test_the_key_of_a_request_depends_on_what_is_shown_alone():
    one, other = packs("碳酸锂价格下跌。")[0], packs("碳酸锂价格下跌。")[0]
    assert one.request == other.request
    assert packs("碳酸锂价格下跌。", title="月报")[0].request != one.request


def test_halves_hold_all_lines_and_their_headings():
    (pack,) = packs("# 锂电", *[f"第{n}家企业扩产。{LONG}" for n in range(12)])
    first, second = pack.halves() or ((), ())
    assert first.lines + second.lines == pack.lines
    assert [line.text for line in second.context] == ["锂电"]
    (small,) = packs("碳酸锂价格下跌。")
    assert small.halves() is None


def test_a_line_is_read_under_its_headings_labels_and_paragraph():
    lines = lines_of(report("# 一、锂电", "建议关注：", "- 隔膜：恩捷股份。", "碳酸锂跌价。成本下降。"))
    assert [line.sentence.text for line in lines][-1] == "成本下降。"
    assert contexts(lines) == [(), (0,), (0, 1), (0, 1), (0, 1, 3)]
