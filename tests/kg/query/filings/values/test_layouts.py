"""Statements as issuers of many industries lay them out; names and figures are made up."""

from __future__ import annotations

from datetime import date

import pytest

from kg.filing import Filing
from kg.query.filings.page_table import PageTable
from kg.query.filings.values.concepts import concepts
from kg.query.filings.values.statements import PARENT, FilingStatements
from tests.kg.query.filings.world import HEADING, PARAGRAPH, TABLE, Page, reading_of

AEROSPACE = """Consolidated Statements of Operations
(Dollars in millions, except per share data)
Years ended December 31, 2022, 2021, AND 2020
2022 2021 2020
Sales of products $5,589 $5,138 $4,714
Sales of services 1,071 1,090 1,101
Total revenues 6,660 6,228 5,815
Cost of products (5,396) (4,995) (5,456)
Cost of services (910) (928) (923)
Loss from operations (354) (290) (1,276)
Income tax (expense)/benefit (3) 74 253
Net loss (508) (432) (1,194)
Less: net loss attributable to noncontrolling interest (11) (8) (6)
Net loss attributable to Oakwell Shareholders ($497) ($424) ($1,188)
Less: allowances 3 4 5"""
CASINO = """Consolidated Balance Sheets
(In thousands, except share data)
December 31,
2022 2021
Cash and cash equivalents
Cash and due from banks $ 2,000 $ 3,000
Total cash and cash equivalents 22,028 32,965
Accounts receivable trade, less allowances $203 (2022, $230) 16,160 15,283
Unbilled receivables, net 5,005 4,004
Inventories, net
Raw materials and supplies 992 1,114
Work in process and finished goods 1,221 1,325
Prepaid expenses and other 531 512
Total current assets 42,000 52,000
Premises and equipment, less depreciation: 2022, $8,602; 2021, $7,540 4,988 5,015
$ 130,210 $ 129,160
Accounts payable 5,000 4,000
Total current liabilities 15,000 14,000
Equity attributable to Shareowners of Oakwell 60,210 59,160
Total Liabilities and Equity
$ 130,210 $ 129,160"""
HOTEL = """Consolidated Statements of Income
(In thousands)
Year Ended December 31,
2022 2021 2020
Revenues
Rooms $ 2,212 $ 2,152 $ 2,025
Food and beverage 1,959 1,871 1,417
4,171 4,023 3,442
Operating income 900 800 700
Provision for credit losses 31 30 29
Income before income taxes 800 700 600
Provision for (benefit from) income taxes 200 (175) 150
Net income 600 875 450
Net income attributable to noncontrolling interests 10 10 10"""
FOREIGN = """Consolidated Statements of Cash Flows
Year ended December 31,
2020 2021 2022
RMB RMB RMB US$
(in millions)
Net cash flows from operating activities 2,317 1,427 1,997 290
Depreciation and amortisation 100 110 120 17
Purchase of property and equipment (411) (533) (343) (49)
Property acquired but not yet paid 9 8 7 1"""
IFRS = """Consolidated Statement of Profit or Loss
for the year ended 31 December 2022
(in EUR million)
Notes 2022 2021
Revenue 5 2,117 1,861
Cost of sales 6 (1,047) (880)
Finance costs 9 (42) (80)
Profit for the year 562 588
Attributable to:
Equity holders of the parent 560 586
Non-controlling interests 2 2"""
BANK = """主要会计数据和财务指标
（单位：人民币百万元，百分比除外）
项目 2022年 2021年 本年比上年增减(%)
净利息收益率 2.15% 2.40% 下降25个基点
拨备覆盖率 437.70% 450.79% 下降13.09个百分点
核心一级资本充足率 13.73% 13.68% 上升0.05个百分点"""
BESIDE = """合并及公司资产负债表
（除特别注明外，金额单位为人民币千元）
资产 附注 2022年12月31日 2021年12月31日 2022年12月31日 2021年12月31日
合并 合并 公司 公司
货币资金 四(1) 55,270 71,875 41,289 50,112
存货 四(8) 46,044 45,924 9,112 8,883
流动资产合计 261,099 248,864 120,110 118,220
资产总计 422,555 387,946 281,990 260,119"""
ALTERNATING = """合并利润表及利润表
单位：人民币百万元
2022年 2021年
项目 附注 本集团 本银行 本集团 本银行
一、营业收入 336,615 298,442 330,234 291,003
三、营业利润 165,089 146,325 148,173 130,959
五、净利润 139,337 124,373 120,833 107,150"""
HONG_KONG = """综合损益表
截至2022年12月31日止年度
附注 2022年 2021年
人民币千元 人民币千元
收入 5 156,769 130,441
销售成本 (129,112) (108,219)
毛利 27,657 22,222
财务成本 7 (511) (498)
除税前利润 8 12,320 9,039
所得税开支 9 (1,884) (1,401)
年内利润 10,436 7,638
下列各方应占：
本公司权益持有人 10,210 7,488
非控股权益 226 150"""
CASES = {
    "beside": (
        BESIDE,
        1e3,
        {
            "CashAndCashEquivalents": (55_270, 71_875),
            "Inventories": (46_044, 45_924),
            "Assets": (422_555, 387_946),
        },
    ),
    "alternating": (
        ALTERNATING,
        1e6,
        {"Revenues": (336_615, 330_234), "OperatingIncomeLoss": (165_089, 148_173), "ProfitLoss": (139_337, 120_833)},
    ),
    "hong kong": (
        HONG_KONG,
        1e3,
        {
            "Revenues": (156_769, 130_441),
            "CostOfRevenue": (129_112, 108_219),
            "GrossProfit": (27_657, 22_222),
            "InterestExpense": (511, 498),
            "IncomeLossBeforeIncomeTaxes": (12_320, 9_039),
            "IncomeTaxExpenseBenefit": (1_884, 1_401),
            "NetIncomeLoss": (10_210, 7_488),
        },
    ),
    "aerospace": (
        AEROSPACE,
        1e6,
        {
            "Revenues": (6660, 6228),
            "CostOfRevenue": (6306, 5923),
            "OperatingIncomeLoss": (-354, -290),
            "NetIncomeLoss": (-497, -424),
            "ProfitLoss": (-508, -432),
        },
    ),
    "casino": (
        CASINO,
        1e3,
        {
            "CashAndCashEquivalents": (22_028, 32_965),
            "AccountsReceivable": (16_160, 15_283),
            "Inventories": (2_213, 2_439),
            "PropertyPlantAndEquipment": (4_988, 5_015),
            "Assets": (130_210, 129_160),
            "StockholdersEquity": (60_210, 59_160),
        },
    ),
    "hotel": (
        HOTEL,
        1e3,
        {"Revenues": (4_171, 4_023), "IncomeTaxExpenseBenefit": (200, -175), "NetIncomeLoss": (600, 875)},
    ),
    "foreign": (
        FOREIGN,
        1e6,
        {
            "NetCashProvidedByOperatingActivities": (1997, 1427),
            "DepreciationAndAmortization": (120, 110),
            "PaymentsToAcquireProperty": (343, 533),
        },
    ),
    "ifrs": (
        IFRS,
        1e6,
        {
            "Revenues": (2117, 1861),
            "CostOfRevenue": (1047, 880),
            "ProfitLoss": (562, 588),
            "NetIncomeLoss": (560, 586),
            "InterestExpense": (42, 80),
        },
    ),
    "bank": (
        BANK,
        1.0,
        {
            "NetInterestMargin": (2.15, 2.40),
            "ProvisionCoverage": (437.70, 450.79),
            "CoreTierOneRatio": (13.73, 13.68),
        },
    ),
}


def _statements(text: str) -> FilingStatements:
    head, rows = text.split("\n", 1)
    pages: list[Page] = [
        [(PARAGRAPH, 0, "Oakwell annual report")],
        [(HEADING, 2, head), (TABLE, 0, rows), (PARAGRAPH, 0, "See accompanying notes.")],
    ]
    filing = Filing("Oakwell Pumps, Inc.", "10-K", 2022, ends=date(2022, 12, 31), currency="USD")
    document = reading_of(filing, pages, date(2023, 2, 7)).document
    return FilingStatements(document.id, PageTable.of(document), filing)


@pytest.mark.parametrize("kind", CASES)
def test_lines_are_read_in_the_layouts_of_industries(kind: str):
    text, scale, wanted = CASES[kind]
    statements = _statements(text)
    found = {name: [statements.find(concepts()[name], year) for year in (2022, 2021)] for name in wanted}
    read = {name: tuple(each.value / scale if each else None for each in both) for name, both in found.items()}
    assert read == {name: pytest.approx(values) for name, values in wanted.items()}


@pytest.mark.parametrize(
    ("kind", "concept", "values"),
    [("beside", "Inventories", (9_112, 8_883)), ("alternating", "Revenues", (298_442, 291_003))],
)
def test_the_parent_company_has_its_own_columns(kind: str, concept: str, values: tuple[float, float]):
    text, scale, _ = CASES[kind]
    statements = _statements(text)
    found = [statements.find(concepts()[concept], year, PARENT) for year in (2022, 2021)]
    assert [each.value / scale for each in found if each] == pytest.approx(values)


@pytest.mark.parametrize(
    ("concept", "label"),
    [
        ("Revenues", "Sales and marketing"),
        ("InterestExpense", "Interest and fees on loans"),
        ("IncomeTaxExpenseBenefit", "Provision for credit losses"),
        ("PaymentsToAcquireProperty", "Capital expenditures in accounts payable"),
        ("StockholdersEquity", "Total Liabilities and Equity"),
        ("NetIncomeLoss", "Net income attributable to noncontrolling interest"),
        ("NetCashProvidedByOperatingActivities", "Net cash used in investing activities from continuing operations"),
        ("CashPeriodIncrease", "Increase in cash surrender value of life insurance"),
    ],
)
def test_rows_of_other_lines_are_not_taken(concept: str, label: str):
    assert concepts()[concept].fits(label) is None
