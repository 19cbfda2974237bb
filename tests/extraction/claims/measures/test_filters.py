"""What makes a figure too doubtful to be stored, and what does not."""

from __future__ import annotations

import pytest

from kg.settings import Settings
from tests.goldens.reports import read, report


def doubted(*lines: str) -> list[bool]:
    """Whether each measured figure of a report is doubtful, in order of its number."""
    facts = [fact for fact in read(report(*lines)).facts if fact.relation == "reports"]
    ordered = sorted(facts, key=lambda fact: fact.value.number if fact.value else 0.0)
    return [fact.confidence < Settings().min_confidence for fact in ordered]


def test_a_label_with_a_comma_in_brackets_hides_the_heading():
    assert doubted("# 维生素", "- 烟酸（99%，国产）：2025年8月8日价格31500元/吨。") == [True]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # run-on labels of a chart, of some of them, and a price behind a month's exports
        (("2019年华为手机收入增速27.59%31.21%28.76%，华为手机毛利率7.7%。",), [True, True]),
        (("2024年14%的药店销售额下降25%。",), [True]),
        (("2025年8月三氯蔗糖出口量870吨；安赛蜜价格3.5万元/吨。",), [False, True]),
        # months until or in November, and the same spelled out
        (("11M21国内空调出货量同比下降9%。",), [True]),
        (("1-11M24国内空调出货量同比下降9%。",), [False]),
        # a condition, the firm's own sales, one firm as an example, the business of a firm
        (("2024年亚洲国家汽车销量超过50万辆的包括日本、印度。",), [True]),
        (("2024年公司在国内实现乘用车销量181万辆。",), [True]),
        (("以中国移动为例，截至2024年底5G用户数占比18.5%。",), [True]),
        (("分产品看，2024年半导体收入31.5亿元。",), [True]),
        (("半导体方面，2024年半导体收入31.5亿元。",), [False]),
        (("中芯国际方面，2024年晶圆代工ASP增速7.2%。",), [True]),
        (("某公司计划2024年新增产能3000吨，其中锂电铜箔新增产能1200吨。",), [True, True]),
        # the unit of a chart, the share of another thing in a market, a rate over one year
        (("图7：2024年全球空调市场规模继续扩大（10亿美元）。",), [True]),
        (("2024年空调在整个家电市场的份额为44%。",), [True]),
        # between two values of a span of years
        (("2025-2027年智能驾驶渗透率从10%提升至50%，再到80%。",), [False, True]),
        # behind a firm's figures a product's rate may be the firm's
        (("比亚迪2024年销量427万辆；新能源汽车渗透率达到51%。",), [True, False]),
        (("比亚迪2024年销量427万辆；全国新能源汽车渗透率达到51%。",), [False, False]),
        # how growth changed is no change of the amount
        (("2024年贷款余额37.9万亿元，同比下降0.8%，降幅较上年末收窄0.5个百分点。",), [False, True, False]),
        (("2024年贷款增速12.9%（较上年+0.9pct）。",), [False, False]),
        # no time: a firm's revenue says nothing, its value on the day does
        (("宁德时代营业收入100亿元。",), [True]),
        (("宁德时代市值100亿元。",), [False]),
        (("# 2025年中报总结", "宁德时代营业收入100亿元。"), [False]),
        (("宁德时代2025年8月15日公布财报，营业收入100亿元。",), [True]),
        (("宁德时代销量100万台。",), [True]),
        (("2024年宁德时代销量100万台。",), [False]),
        # nobody says that it is there; what follows a doubtful figure is as doubtful
        (("2025年7月废铝累计进口117万吨，同比增长5%。",), [True, True]),
        # what comes on top, or a part of a change, is neither the level nor the change
        (("渗透率提升带动碳酸锂需求5万吨。",), [True]),
        (("快充普及带动碳酸锂需求增至5万吨。",), [False]),
        (("新房成交拉动房地产投资增速2.5%。",), [True]),
        (("净利率变化：2024年光伏板块（+0.8pct）改善。",), [True]),
        # of both together
        (("2024年螺纹钢、线材产能利用率50%。",), [True]),
        (("2024年宁德时代收入100亿元、净利润10亿元。",), [False, False]),
        # against another thing, or against a time
        (("服务器价格1500美元/台，较笔记本+80%。",), [True, False]),
        (("碳酸锂价格较上周上涨5%。",), [False]),
        (("碳酸锂价格较年初上涨5%。",), [False]),
        (("8月碳酸锂价格同比上涨5%。",), [False]),
        # of several firms, of which the last has a second name in brackets
        (("2024年京东方、华星光电（TCL科技）市占率突破50%。",), [True]),
        # of a firm that the clause does not name, or of a narrower thing
        (("2024年公司碳酸锂全球市占率达到65%。",), [True]),
        (("2024年某厂的碳酸锂业务停滞，碳酸锂产能2万吨。",), [True]),
        (("2024年一次性内窥镜市场规模达到20亿美元。",), [True]),
        (("2024年全球内窥镜市场规模达到20亿美元。",), [False]),
        (("中国电信2024年资本开支为870亿元，其中5G资本开支为397亿元。",), [True, False]),
        # no firm has the size of a market
        (("2024年兴业证券整理靶材市场总体规模163亿元。",), [True]),
        # added up since January, or of the one month
        (("2025年7月废铝累计进口117万吨。",), [True]),
        (("2025年7月废铝进口20万吨，累计同比下降5%。",), [True, False]),
        (("2025年1-7月废铝累计进口117万吨。",), [False]),
        (("2025年5月全国充电桩累计保有量1400万台。",), [False]),
        (("2025年1-4月废铝进口70万吨。当月进口80万吨。",), [False, True]),
        # of one of the periods stated before
        (("2025年7月动力电池装机量50GWh，较去年同期增长3%。",), [False, False]),
        # what is traded has another price
        (("2025年5月交换机出口量250万台；均价69美元/台。",), [True, False]),
        (("2025年5月交换机产量250万台；均价69美元/台。",), [False, False]),
        # a share of the market is mostly a firm's
        (("某某诺尔：干法电极设备市占率60%。",), [True]),
        (("2024年新能源乘用车销量180万辆，市场份额达到32%。",), [True, False]),
        (("2024年全球新能源乘用车市占率32%。",), [False]),
        # of another thing in what is named, or of a firm that the clause before describes
        (("2024年人形机器人渗透率达20%。",), [False]),
        # no unit: of which currency or which pieces; what it rose by is as sure as its owner
        (("2024年宁德时代营业收入3620亿，同比增长5%。",), [False, False]),
        (("2024年特斯拉营业收入970亿，同比增长5%。",), [False, True]),
        (("2024年生猪出栏量7亿头。",), [False]),
        (("2024年样本医院销售额3.84亿元。",), [True]),
        (("2024年锂电池利润增长100%以上的企业有宁德时代、比亚迪。",), [True]),
        (("西部证券2025年05月12日公司2024年实现营业收入14亿元。",), [True]),
        (("2024年生猪出栏量42亿羽。",), [True]),
        # what a bracket narrows, a method's name aside
        (("2024年动力电池市场规模（乘用、商用）约310亿元。",), [True]),
        (("截至2024年9月30日，房地产行业PE（TTM）为17.4倍。",), [False]),
        # a financial year need not be the calendar's
        (("英伟达2025财年营业收入100亿美元。",), [True]),
        # sales below a firm's heading are the firm's or its trade's
        (("# 比亚迪电池业务观察与行业展望", "2024年动力电池销量100GWh。"), [True]),
        (("# 比亚迪电池业务观察与行业展望", "2024年全国动力电池销量100GWh。"), [False]),
        (("2024年储能业务收入10亿元。",), [True]),
        (("2024年储能收入10亿元。",), [False]),
        # a compound rate is that of years
        (("2025年全球储能装机量CAGR14%。",), [True]),
        (("2025-2030年全球储能装机量CAGR14%。",), [False]),
        # points are of the growth, not of what grew
        (("上市银行2024年营收同比-1.7%，较2023年下降1.8个百分点。",), [True, False]),
        (("上市银行2024年净息差同比下降1.8个百分点。",), [False]),
        # a label that names a part of a known name's things, or another thing
        (("L3自动驾驶：2027年渗透率15%。",), [True]),
        (("自动驾驶：2027年渗透率15%。",), [False]),
        (("锂电化学品：2024年产量15万吨。",), [True]),
        (("宁德时代：2025H1营收10亿元。比亚迪扩产；2025H1储能收入6亿元。",), [True, False]),
        # a threshold
        (("2024年锂电渗透率超过20%后，增速放缓。",), [True]),
        # what bounds a class, and what a bracket measures
        (("大型锂电公司（2024年底市值≥50亿港元）2024年平均上涨12%。",), [True, True]),
        # a rate below nothing or a fall of it
        (("宁德时代2025H1净资产收益率5.3%。",), [False]),
        # what a firm has that no list holds: stated by its form, or by the firms beside it
        (("需求旺盛：2024年储能收入3亿元。",), [False]),
        (("2024年海缆业务EBITDA 3亿元。",), [True]),
        # the names in a bracket are not who the words behind it tell of
        (("2024年前五大车企（比亚迪+吉利汽车）产能占比65%。",), [True]),
        (("欧洲APT（仲钨酸铵）价格达350美元/吨度。",), [False]),
        (("2024年4月原油（含凝析油）产量985万桶/天。",), [True]),
        # of another thing's whole
        (("军工：2024年需求占比11%。",), [True]),
        (("宁德时代：获得订单，金额1亿元。",), [True]),
        (("# 数据（6月9日-6月13日）", "宁德时代营业收入100亿元。"), [True]),
        (("# 机器人平台", "2025年8月发布的平台CPU性能提升2.1倍。"), [True]),
        # at home or abroad, seen from another country
        (("# 机械贸易", "2024年海外机械订单占比40%。"), [False]),
        (("# 逆变器出口", "非洲：2024年出口金额15亿元。"), [True]),
        (("截至2025年6月汽车产量1562万辆。",), [True]),
        (("# 数据（6月9日-6月13日）", "宁德时代基本每股收益0.5元。"), [True]),
        (("工程机械：2024年销量10万台，出口量6万台。",), [False, False]),
        (("2024年光模块出口额164亿元。四川省出口额37亿元。",), [True, False]),
        (("2025年7月人血白蛋白进口234批。",), [True]),
        # a change and the level behind it are no range
        (("2024年铝箔开工率环比-0.4%至70.7%。",), []),
        (("2024年铝箔开工率65%至70%。",), [False]),
        (("截至2025年6月20日国内锌锭周产量14万吨。",), [False]),
        (("截至2025年6月20日，美国原油产量1364万桶/日。",), [False]),
        # a class that the clause in front names
        (("在汽车市场，2024年新能源汽车渗透率50%。",), [False]),
        # a move of a month under the days of a week
        (("# 行情（6月9日-6月13日）", "跌幅最大：锂电池指数下跌5%。"), [False]),
    ],
)
def test_what_makes_a_figure_doubtful(lines, expected):
    assert doubted(*lines) == expected
