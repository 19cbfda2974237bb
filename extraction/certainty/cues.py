"""Tables of modality and negation cues, each with an example."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kg.model import Modality
from kg.text.regex_prefilter import Prefiltered


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue that sets the modality of the text after it; `hedge` marks weakening words."""

    name: str
    pattern: str
    example: str
    modality: Modality
    hedge: bool = False


_AGENT_VERBS = (
    "投资|收购|并购|建设|新建|扩建|建成|投建|投产|推出|发布|出资|设立|增持|减持|回购|扩产|召开|举行|举办|启动|上市|登陆|开工|募集|募资|转让|出售|"
    "剥离|采购|供货|交付|开展|提价|涨价|发行|成立|组建|引入|引进|申请|开设|新增|停产|检修|复产|关闭|退出|进军|入股|参股|控股|派发|实施|购买|"
    "签署|上调|下调|推进|布局|合作|量产|合资|分拆|注销|更名|搬迁|提供|执行|加征|取消|终止|禁止"
)
_FUTURE_BEFORE = "(?:20\\d\\d年|年底|月底?|季度|半年|明年|后年|下周|下月|日)"

CUES = (
    # rumours
    Cue("rumour", "(?:市场|业内|坊间|外界|网络)?(?:传言|传闻)", "市场传言甲公司被收购", Modality.RUMOURED),
    Cue("it is said", "据传|网传|盛传|疑传|传出|据称|风传|有传", "据传甲公司将被收购", Modality.RUMOURED),
    Cue(
        "reported",
        ("据[^，。；：]{0,12}?(?:报道|爆料)|(?:有)?(?:媒体|外媒|彭博|路透社?|报道)(?:称|报道称|爆料|曝出|援引)"),
        "据报道甲公司将被收购",
        Modality.RUMOURED,
    ),
    Cue(
        "news has it",
        ("(?:有|市场|最新)?消息(?:称|人士称|人士透露|人士)|知情人士|爆料称?|小道消息"),
        "消息称甲公司将被收购",
        Modality.RUMOURED,
    ),
    # conditions; their scope extends to the text after them
    Cue("if", "(?<![倘宛恍似类假设犹])若(?!干|羌|隐|即|无其事|非)|倘若|假若", "若价格回落", Modality.CONDITIONAL),
    Cue(
        "if (long)",
        ("如果(?!说)|假如|假设(?![为条的测值情])|设想|(?<![主重首需只])要是"),
        "如果价格回落",
        Modality.CONDITIONAL,
    ),
    Cue("once", "一旦|万一|除非|只要|只有(?=[^，。]{1,20}才)", "一旦价格回落", Modality.CONDITIONAL),
    Cue(
        "should",
        ("(?<![例比诸正假犹不有譬])如(?=未来|后续|出现|遇|发生|无法|不能|未能|需求|价格|政策|(?:公司)?未)"),
        "如未来需求回落",
        Modality.CONDITIONAL,
    ),
    Cue(
        "case", "(?:中性|乐观|悲观|保守|基准)(?:情形|情景|假设)(?:下|：)", "中性情形：收入10亿元", Modality.CONDITIONAL
    ),
    Cue("depends on", "取决于|视[^，。；]{1,12}而定", "取决于需求恢复", Modality.CONDITIONAL),
    # plans of an actor
    Cue(
        "intends",
        ("(?<![模虚比])拟(?![合人态真定物])|打算|有意(?![思见义])|意欲|筹划|谋划|意向|欲(?=收购|投资|出售|转让)"),
        "公司拟收购乙公司",
        Modality.PLANNED,
    ),
    Cue(
        "plans",
        (
            "(?<![五年动持励购原])(?<!产业)(?<!生产)计划(?!书|的|是|为|产量|经济|[，。；、）)]|$)|规划(?=建设|投资|新建|产能|"
            "于|在|到|\\d)|目标(?=到20|在20|20|实现)"
        ),
        "公司计划投资10亿元",
        Modality.PLANNED,
    ),
    Cue("will (dated)", f"{_FUTURE_BEFORE}将(?!其|近|领|军|会)|将(?:于|在)|即将", "将于年底投产", Modality.PLANNED),
    Cue(
        "will (agent)",
        (f"(?<!或)将(?:会|要|正式|继续|进一步|逐步|陆续|分期|共同|对[^，。；]{{1,10}})?(?=(?:{_AGENT_VERBS}))"),
        "公司将收购乙公司",
        Modality.PLANNED,
    ),
    # forecasts
    Cue(
        "expects",
        ("(?<![低高合好及超于])(?:预[计测估料]|预期(?=20|\\d|公司|将|会|全年|未来|需求|[一二三四下]季|下半年|明年))"),
        "预计需求增长",
        Modality.FORECAST,
    ),
    Cue(
        "in our view",
        ("(?:我们|笔者|本报告|研究团队|分析师|机构|券商)(?:继续|仍|也|均|一致)?(?:认为|判断|预计|看好|预期|预测|建议)"),
        "我们认为需求将增长",
        Modality.FORECAST,
    ),
    Cue(
        "is likely",
        (
            "有望|料将|料(?=会|可|难|仍)|或将|或会|或(?=[受可带推迎进成继达超将持加导影引面呈维回下走承放]|[上]升|[上]涨|降[至低]|减少|有所)|可望|或可|势必"
        ),
        "有望受益",
        Modality.FORECAST,
        hedge=True,
    ),
    Cue(
        "may",
        ("(?<!不)可能|或许|也许|大概率|不排除|恐(?=将|会|难)|似乎|看似|疑似"),
        "可能受益",
        Modality.FORECAST,
        hedge=True,
    ),
    Cue(
        "will",
        (
            "(?<![或即])将(?![其近领军帅才]|[^，。；]{1,14}(?:集成|纳入|列入|应用于|用于|作为|视为|转化为|融入|"
            "推向|置于|定为|分为))"
        ),
        "需求将增长",
        Modality.FORECAST,
    ),
    Cue(
        "outlook",
        ("展望(?!未来产业)|看好|估计|(?<!数据[及和与])(?<!价)测算|假定|未来[^，。；]{0,6}(?:会|空间)"),
        "展望明年",
        Modality.FORECAST,
    ),
    Cue("hopes", "期待(?!感|值|已久|的)|静待|寄望", "期待需求回暖", Modality.FORECAST),
    Cue(
        "has room",
        "(?:存在|仍有|还有|具备|具有|有)(?=[^，。；]{0,10}(?:涨|升|降|跌|增长|改善|修复|下行|上行)[^，。；]{0,3}空间)",
        "价格存在上涨空间",
        Modality.FORECAST,
    ),
    Cue(
        "is feared",
        "(?:担忧|忧虑|担心|隐忧)(?!缓解|缓和|消退|消散|减弱|下降|降温|升温|加剧|情绪|推动|带动|导致|使|拖累|压制|令|支撑|提振)",
        "市场担忧需求下滑",
        Modality.FORECAST,
        hedge=True,
    ),
    Cue(
        "estimate mark",
        r"(?<![A-Za-z0-9])(?:(?:20)?\d\d|(?:(?:20)?\d\d年? ?)?[QH][1-4]|[1-4][QH]\d\d)E(?![A-Za-z0-9])",
        "2025E收入",
        Modality.FORECAST,
    ),
)

# Words after the claim, in the same clause, that make it conditional or a rumour.
CONDITION_BEHIND = Prefiltered("(?<!这种)(?<!此)(?:的|之)?(?:情况|情形|前提|条件|假设)下|的话(?=[，。；]|$)")
RUMOUR_BEHIND = re.compile("的?(?:传言|传闻|谣言|消息不实)|系传闻")
HEDGES = re.compile(
    "可能|或许|也许|或将|或会|有望|大概率|不排除|似乎|疑似|未必|不一定|理论上|料将|恐将|或(?=[受可带推迎进成继达超将])|存在不确定"
)
DENIALS = re.compile(
    "否认|辟谣|(?:传闻|传言|消息|报道)不实|不属实|并不属实|不实(?:传|信|消)|纯属(?:谣|虚)|系(?:谣言|不实)|为不实|澄清(?!会|池)|予以否定|子虚乌有|没有依据"
)

_NOT_EXCEPT = (
    "断|仅|少|锈|动产|同|等|错|变价|利|低于|超过|高于|少于|大于|小于|到位|乏|管|论|过|只|但|光|久|止|限|时|妨|失|可或缺|可忽视|可逆|"
    "容|减|排除|稳|符|菲|俗|料|得不|及|足|良|确定|佳|景气|善|透明|充分|均|平|振|断|饱和|饱|对称|合格|合理|实|属|规则|定期|含|良|"
    "乐观|明朗|利好|达预期|明|锈钢|粘|良率|才|知|禁|妙|堪|惜|懈|遗余力"
)
# name, pattern, example; each must precede the claim in its clause, or its verb inside the claim
NEGATIONS = (
    (
        "not (past)",
        ("并未|尚未|从未|暂未|均未|未(?!来|必|知|央|雨|免|成年|上市公司|婚|尝不|有先例|分配|转股|经审计)"),
        "公司并未收购乙公司",
    ),
    ("have not", "(?<![前后])没有(?!不)|并没|没能|(?<![淹吞沉覆出埋])没(?=[有能被想])", "公司没有收购乙公司"),
    (
        "nothing",
        (
            "(?:并|暂|尚|均|亦|也)无(?!疑)|无(?=法|力|意|望|关|缘|任何|直接|重大|相关业务|上述|此类|计划|收购|"
            "合作|业务|关联|投资|产能)"
        ),
        "公司无收购计划",
    ),
    ("not", f"(?<![无莫])不(?!{_NOT_EXCEPT})(?=[\\u4e00-\\u9fff])", "公司不生产该产品"),
    (
        "no longer",
        (
            "不再|停止|终止|取消|中止|叫停|暂停|放弃|撤回|解除|拒绝|搁置|否决|退出(?!市场价)|难以|未能|避免|防止|"
            "缺乏|禁止"
        ),
        "公司终止收购乙公司",
    ),
    ("is not", "并非|绝非|而非|非(?=真实|事实|公司|由)", "并非由甲公司供应"),
)
NEGATED_BEHIND = re.compile(
    "(?:事项|计划|交易|协议|一事|事宜|项目|方案|合作|案)?(?:已经|已|被|遭|均|仍|最终|宣告|并)*"
    "(?:终止|取消|未能|未(?!来|必)|失败|告吹|流产|搁置|被否|中止|叫停|暂停|不再|没有)"
)
DOUBLE_NEGATIVE = re.compile(
    "不得不|无不|不无|并非没有|并非不|不是没有|不会不|未尝不|不能不|没有不|非但没有|不可能不|未必不|避免[^，。；]{0,6}不"
)
TURNS = Prefiltered("而是|但是?|却|反而|转而|改为|而转|后(?=将|拟|公司)")

PAST = re.compile(
    "已(?!知)|实际(?!控制|上将|产能)|曾(?!经理)|此前|截至|去年|上年|上月|上周|昨日|报告期内|前三季度实现|上半年实现|一季度实现|完成了|实现了|达到了|当前|目前|现有"
)
YEAR_DONE = re.compile(r"(?P<year>20\d\d)年[^，。；]{0,8}?(?:实现|完成|达到?|为|录得|同比)")
YEARS = re.compile(r"20\d\d(?=年|E|Q|H|-)")
CARRIES_ON = re.compile(
    "(?:并且?|且|同时|以|用于|从而|进而|其中|最终|以及|及|预计|主要|总|投资|项目|建成|建设|达产|投产|增强|提升|扩大|完善|强化|进一步|切入|布局|实现|提高|拓展|持股|成为|取得)"
)
