"""Whatever report is composed of sentences, its reading is true to the stored text and does not depend on chance."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.ids import fact_id
from kg.model import Modality, Polarity
from kg.relations import vocabulary
from tests.goldens.reports import read, report

SENTENCES = (
    "宁德时代向特斯拉供应磷酸铁锂电池。",
    "公司 2024 年营业收入 3,620 亿元，同比 - 9.7% 。",
    "**硅料价格下跌**推动光伏组件价格下降，进而带动光伏装机增长；",
    "恩捷股份（002812.SZ）主营锂电池隔膜！",
    "据传紫金矿业拟收购藏格矿业24.98%股权。",
    "若碳酸锂涨价，将推高动力电池成本。",
    "预计宁德时代2025-2027年归母净利润分别为650/780/900亿元。",
    "维持宁德时代“买入”评级，目标价300元。",
    "贵州茅台与五粮液并未达成战略合作。",
    "该公司是ＡＩ算力龙头，市占率30％。",
    "本周市场平稳",
    "数据来源：Ｗｉｎｄ，示例证券甲",
    "锂电池由正极材料、负极材料、隔膜和电解液组成。",
    "美国7月CPI同比上涨2.7%。",
    "中创新航与宁德时代展开激烈竞争，" + "，".join(["其余说明从略"] * 40) + "。",
)
TITLES = ("宁德时代", "碳酸锂", "风险提示", "一、行业概况", "美国经济", "投资建议")
_BODY = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map("".join)
_LINE = st.one_of(
    _BODY,
    _BODY.map("- {}".format),
    _BODY.map("| {}".format),
    _BODY.map("~ {}".format),
    st.tuples(st.sampled_from(["#", "##", "###"]), st.sampled_from(TITLES)).map(" ".join),
)
_CODES = st.sampled_from([(), ("300750.SZ",), ("002594.SZ", "01211.HK"), ("300750.SZ", "600519.SH")])
_REPORTS = st.builds(lambda lines, codes: report(*lines, codes=codes), st.lists(_LINE, max_size=8), _CODES)
some = settings(suppress_health_check=[HealthCheck.too_slow])


@some
@given(_REPORTS)
def test_every_quote_is_the_stored_text(document):
    """And lies in a block: never in what cleaning removed."""
    readable = [(block.start, block.end) for block in document.blocks]
    for fact in read(document).facts:
        for item in fact.evidence:
            assert item.quote
            assert document.text[item.start : item.end] == item.quote
            assert any(start <= item.start and item.end <= end for start, end in readable)


@some
@given(_REPORTS)
def test_every_mention_and_chunk_is_the_stored_text(document):
    reading = read(document)
    for mention in reading.mentions:
        assert document.text[mention.start : mention.end] == mention.text
    for chunk in reading.chunks:
        assert document.text[chunk.start : chunk.end] == chunk.text
    spans = sorted({(mention.start, mention.end) for mention in reading.mentions})
    assert len(spans) == len(reading.mentions)


@some
@given(_REPORTS)
def test_facts_keep_to_the_vocabulary(document):
    reading = read(document)
    kinds = {entity.id: entity.kind for entity in reading.entities}
    for fact in reading.facts:
        relation = vocabulary()[fact.relation]
        assert relation.allows(kinds[fact.subject], kinds[fact.object])
        assert (fact.sign != 0) == relation.signed
        assert fact.subject != fact.object
        assert fact.subject < fact.object or not relation.symmetric
        assert fact.id == fact_id(fact)
        assert 0 < fact.confidence <= 1
        assert fact.qualifiers == tuple(sorted(fact.qualifiers))
    assert len({fact.id for fact in reading.facts}) == len(reading.facts)
    assert [entity.id for entity in reading.entities] == sorted(kinds)


@some
@given(_REPORTS)
def test_reading_twice_is_reading_once(document):
    assert read(document) == read(document)


@some
@given(st.lists(_BODY, min_size=1, max_size=4), st.lists(_BODY, max_size=3))
def test_saying_it_again_adds_evidence_not_facts(lines, more):
    """Lines repeated at the end of a report bring nothing but more places to read the same."""
    once = {fact.id: len(fact.evidence) for fact in read(report(*lines, *more)).facts}
    again = {fact.id: len(fact.evidence) for fact in read(report(*lines, *more, *lines, *more)).facts}
    assert once.keys() <= again.keys()
    assert all(again[fact] >= count for fact, count in once.items())


@some
@given(_REPORTS)
def test_no_certainty_comes_from_nowhere(document):
    """What is stated as a rumour or a condition is never asserted, and what is denied never affirmed."""
    for fact in read(document).facts:
        for item in fact.evidence:
            if item.quote.startswith("据传"):
                assert fact.modality is Modality.RUMOURED
            if item.quote.startswith("若"):
                assert fact.modality is Modality.CONDITIONAL
            if "并未" in item.quote:
                assert fact.polarity is Polarity.NEGATIVE
