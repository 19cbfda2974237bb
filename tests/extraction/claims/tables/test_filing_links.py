from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from extraction.claims.tables.filing_links import _stakes, _subsidiaries
from extraction.pipeline import Extractor
from kg.filing import Filing
from kg.period import year
from tests.kg.query.filings.world import HEADING, PARAGRAPH, TABLE, Page, reading_of

READ_AT = datetime(2026, 1, 1, tzinfo=UTC)
ENGLISH = [
    "In fiscal 2022, Walmart Inc. and its affiliates (Walmart) accounted for 20 percent of our consolidated net sales.",
    "Walmart accounted for 55 percent of net sales of our pump segment. No other customer accounted for 10% of sales.",
    "The U.S. Government accounted for 30% of our net sales. Canada represented 12% of our revenues.",
    "Brewhouse Partners LLC represented approximately 11.5% of our total net revenues in 2021.",
    "For 2021, sales to Lakeside Display Co. Ltd., a customer of our pump segment, represented 11% of our net sales.",
    "In fiscal 2022, with five suppliers (four in fiscal 2021) – Apple, Nobody, and Sony – representing 53%.",
    "We have a 51 percent controlling interest in Lakeside Yogurt SAS and a 50 percent interest in Brook Marques. ",
    "It held a 49.9% interest in Hem LLC and a 40% interest in Hemlo Works.",
    "International sales accounted for 40% of our net sales. PepsiCo accounted for 15% of our sales in China.",
]
CHINESE = """前五名客户
序号 客户名称 销售额（万元） 占年度销售总额比例（%）
1 蓝溪水务有限公司 12,345.67 12.30
2 客户二有限公司 9,345.67 9.30
3 北京丙 8,345.67 8.30
合计 45,000.00 44.90
前五名供应商
1 赤岭铸造有限公司 2,345.67 7.50%
2 单位甲 1,345.67 4.50%"""
EXHIBIT = """EXHIBIT 21
SUBSIDIARIES OF THE REGISTRANT
Name State or Other Jurisdiction of Incorporation
Oakwell Pumps, Inc. Delaware
Oakwell Gauges (Shanghai) Co., Ltd. China
Oakwell Ireland Research Ireland
Oakwell Valves LLC (1) Delaware 51%
Lakeside Mutual (an Ohio corporation)
Oakwell Japan K.K. Japan Oakwell Korea Ltd. Korea
Consent of Example LLP, Boston, Massachusetts
These companies are organized in Delaware"""
PERCENT = EXHIBIT.replace("Incorporation", "Incorporation Percentage owned").replace("51%", "51")
BARE = EXHIBIT.replace("51%", "51")
SENTENCE = "Undistributed earnings of the foreign subsidiaries of the Company are reinvested."
TAX = "Statutory Rate Ireland 12.5%\nGoodwill Brazil 45\nSales Canada 18"
HOLDINGS = """在子公司中的权益
子公司名称 主要经营地 注册地 业务性质 持股比例（%） 取得方式
蓝溪泵业销售有限公司 杭州 杭州 销售 100.00 设立
赤岭阀门有限公司 温州 温州 制造 45.50 收购
合计 3"""


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor.default(ner=False, edge_model="off", filing_pages=0)


def links(extractor: Extractor, filing: Filing, pages: list[Page], language: str) -> set[tuple[str, ...]]:
    filler: list[Page] = [[(PARAGRAPH, 0, "See the notes.")] for _ in range(40)]
    document = replace(reading_of(filing, [*pages, *filler], date(2023, 2, 7)).document, language=language)
    facts = extractor.extract(document, recorded_at=READ_AT).facts
    for fact in facts:
        where = fact.evidence[0]
        assert document.text[where.start : where.end] == where.quote
        assert fact.relation == "subsidiary_of" or fact.valid in {year(2021), year(2022)}
    shown = {
        fact: f"{fact.value.number:g}" if fact.value else dict(fact.qualifiers).get("revenue_share", "")
        for fact in facts
    }
    return {(fact.subject, fact.relation, fact.object, shown[fact]) for fact in facts}


def test_named_customers_of_an_english_filing(extractor: Extractor):
    filing = Filing("Oakwell Pumps, Inc.", "10-K", 2022, ends=date(2022, 12, 31), currency="USD")
    pages: list[Page] = [[(HEADING, 1, "Item 1. Business"), *((PARAGRAPH, 0, each) for each in ENGLISH)]]
    assert links(extractor, filing, pages, "en") == {
        ("org:oakwellpumps,inc.", "supplies", "sec:WMT.US", "20"),
        ("org:oakwellpumps,inc.", "supplies", "org:brewhousepartnersllc", "11.5"),
        ("org:oakwellpumps,inc.", "supplies", "org:lakesidedisplayco.ltd.", "11"),
        ("sec:AAPL.US", "supplies", "org:oakwellpumps,inc.", ""),
        ("sec:SONY.US", "supplies", "org:oakwellpumps,inc.", ""),
        ("org:oakwellpumps,inc.", "holds_stake_in", "org:lakesideyogurtsas", "51"),
        ("org:lakesideyogurtsas", "subsidiary_of", "org:oakwellpumps,inc.", ""),
        ("org:oakwellpumps,inc.", "holds_stake_in", "org:brookmarques", "50"),
    }


def test_subsidiaries_of_an_exhibit(extractor: Extractor):
    filing = Filing("Oakwell Pumps, Inc.", "10-K", 2022, ends=date(2022, 12, 31), currency="USD")
    own = "org:oakwellpumps,inc."
    found = links(extractor, filing, [[(TABLE, 0, EXHIBIT)]], "en")
    names = ("oakwellgauges(shanghai)co.,ltd.", "oakwellirelandresearch", "oakwellvalvesllc", "lakesidemutual")
    listed = {(f"org:{name}", "subsidiary_of", own, "") for name in (*names, "oakwelljapank.k.", "oakwellkorealtd.")}
    assert found == {*listed, (own, "holds_stake_in", "org:oakwellvalvesllc", "51")}


@pytest.mark.parametrize(
    ("text", "count", "shares"),
    [
        (EXHIBIT, 6, {"Oakwell Valves LLC": "51"}),
        (PERCENT, 6, {"Oakwell Valves LLC": "51"}),
        (BARE, 6, {}),
        (f"{SENTENCE}\n{EXHIBIT}", 6, {"Oakwell Valves LLC": "51"}),
        (f"{SENTENCE}\n{TAX}", 0, {}),
        (f"Foreign subsidiaries of the Company\n{TAX}", 0, {}),
        (f"{SENTENCE}\nOakwell Gauges LLC Ohio\nOakwell Valves LLC Ohio", 0, {}),
        (
            f"{EXHIBIT}\nCompanies accounted for under the equity method are:\nOakwell Mills LLC Ohio",
            6,
            {"Oakwell Valves LLC": "51"},
        ),
        ("Exhibit 21\nOakwell (China) Co., Ltd. China\niOak Inc. Ohio\nOakwell (UK) Limited United Kingdom", 3, {}),
        (
            "Exhibit 21\nSubsidiaries of the Registrant are listed below: Oak Gauges LLC Ohio\nOak Valves LLC Ohio",
            2,
            {},
        ),
        (
            "Exhibit 21\nOak LLC (an Ohio company) (1) Elm Inc. (a Texas company)\nOak Company Chile Elm SNC France",
            4,
            {},
        ),
        ("The following is a list of subsidiaries of the Company:\nOakwell Gauges LLC Ohio\nOakwell N.V. Chile", 2, {}),
    ],
)
def test_a_list_of_subsidiaries_has_a_heading_and_legal_forms(text: str, count: int, shares: dict[str, str]):
    rows = [row for row in _subsidiaries(text) if not row[0].startswith("Oakwell Pumps")]
    assert (len(rows), {name: share for name, share, _ in rows if share}) == (count, shares)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (
            "Lakeside Launch Works (LLW) flies. Our share includes our 50% ownership interest in LLW.",
            "Lakeside Launch Works",
        ),
        ("Our share includes our 50% ownership interest in LLW.", ""),
        ("It relates to 7Oak India Limited, of which 7Oak’s effective ownership is50 percent.", "7Oak India Limited"),
        ("It relates to Elm India Limited, of which Elm’s effective ownership is 50 percent.", ""),
        ("It was sold to Elm India Limited, which is 50 percent owned by the Company.", "Elm India Limited"),
        ("It was sold to Elm India Limited, which is 50 percent owned by Oak.", ""),
        ("Red Elm, LLC (“Elm”), a buying entity in which the Company and Brook each own 50%.", "Red Elm, LLC"),
        ("The Company and Brook, Inc. (“Brook”) each have a 50% ownership in Red Elm, LLC (“Elm”).", "Red Elm, LLC"),
        ("We have a 50 percent interest in Elm SNC and Oak Marques Sàrl.", "Elm SNC|Oak Marques Sàrl"),
    ],
)
def test_stakes_that_the_issuer_says_it_holds(text: str, held: str):
    assert "|".join(name for name, share, _ in _stakes(text, "7Oak Company") if share == 50.0) == held


def test_many_headings_are_read_once():
    started = time.process_time()
    assert not list(_subsidiaries("Subsidiaries of\n" * 20_000))
    assert time.process_time() - started < 2


def test_customers_suppliers_and_subsidiaries_of_a_chinese_report(extractor: Extractor):
    filing = Filing("示例泵业股份有限公司", "年报", 2022, ends=date(2022, 12, 31), currency="CNY")
    pages: list[Page] = [[(HEADING, 1, "第三节"), (TABLE, 0, CHINESE)], [(HEADING, 1, "第十节"), (TABLE, 0, HOLDINGS)]]
    own = "org:示例泵业股份有限公司"
    assert links(extractor, filing, pages, "zh") == {
        (own, "supplies", "org:蓝溪水务有限公司", "12.3"),
        ("org:赤岭铸造有限公司", "supplies", own, ""),
        (own, "holds_stake_in", "org:蓝溪泵业销售有限公司", "100"),
        ("org:蓝溪泵业销售有限公司", "subsidiary_of", own, ""),
        (own, "holds_stake_in", "org:赤岭阀门有限公司", "45.5"),
    }
