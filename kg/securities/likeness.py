"""Similarity of two company names by legal form, short form and brand; used for proposals, never for merging.

Chinese company names are abbreviated by keeping characters in order, from the start of each word: 上港集团 is
上海国际港务（集团）股份有限公司, 重百 is 重庆百货大楼. A group, its listed company and its subsidiaries share a
brand but are different companies, so a shared brand alone is the weakest match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kg.securities.records import name_key

_BRACKETS = re.compile(r"[（(](?P<inside>[^（()）]*)[)）]")
_LEGAL = re.compile(r"(?:有限责任公司|有限公司|总公司|分公司|公司|股份|控股|集团|总部|本部)+$")
_PLACE = re.compile(
    r"^(?:中国|中华|全国|北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西"
    r"|甘肃|青海|内蒙古|广西|西藏|宁夏|新疆|香港|澳门|台湾|深圳|广州|珠海|汕头|佛山|东莞|厦门|福州|泉州|杭州|宁波|温州|绍兴|嘉兴|南京|苏州|无锡|常州|南通|徐州"
    r"|扬州|合肥|芜湖|青岛|济南|烟台|潍坊|淄博|大连|沈阳|鞍山|哈尔滨|长春|石家庄|唐山|保定|太原|郑州|洛阳|武汉|宜昌|长沙|株洲|南昌|成都|绵阳|昆明|贵阳|西安|兰州"
    r"|南宁|柳州|海口|乌鲁木齐|呼和浩特|包头|银川|西宁|拉萨|美国|日本|韩国|德国|法国|英国|瑞士|荷兰|意大利|加拿大|澳大利亚|新加坡|泰国|印度)(?:省|市|自治区)?"
)
_TRADE = re.compile(
    r"(?:科技|技术|实业|产业|工业|工程|制造|设备|装备|机械|机电|电子|电气|电器|电力|能源|新能源|发电|石油|石化|化工|化学|煤炭|煤业|矿业|钢铁|有色|有色金属|金属|材料"
    r"|新材料|建筑|建设|建材|建工|水泥|房地产|房产|地产|置业|物业|交通|运输|物流|航运|航空|港务|港口|海运|贸易|商贸|商业|零售|百货|超市|连锁|商城|商场|酒店|餐饮|旅游"
    r"|旅行社|文化|传媒|出版|影视|影业|娱乐|体育|广告|教育|医疗|医药|药业|制药|生物|健康|保健|食品|饮料|乳业|酒业|农业|牧业|种业|饲料|纺织|服装|服饰|家电|家具"
    r"|家居|汽车|车业|客车|电池|半导体|通信|通讯|互联网|网络|网|在线|软件|信息|数据|数码|智能|机器人|自动化|系统|平台|租赁|担保|金融|银行|证券|保险|基金|信托|期货|资产|资管"
    r"|资本|投资|创投|财务|财险|寿险|人寿|管理|经营|开发|发展|销售|营销|服务|国际|环球|全球|企业|事业|中国|亚洲|亚太|亚太区|亚太地区|大中华区|器材|用品|产品|生态|环保|环境|水务|燃气|单车|出行|专车|外卖|支付|果汁|国酒|控股)+$"
)
_SHORTEST = 2


class Likeness(NamedTuple):
    """Similarity of two names, 0 … 1, and the reason; docs/identity.md describes the reasons."""

    score: float
    reason: str


NONE = Likeness(0.0, "")


@lru_cache(maxsize=65536)
def without_form(name: str) -> str:
    """Return the name without brackets and legal form, or the whole name if nothing else remains.

    >>> without_form("上海国际港务（集团）股份有限公司"), without_form("海尔集团")
    ('上海国际港务', '海尔')
    """
    key = _BRACKETS.sub("", name_key(name))
    bare = _LEGAL.sub("", key)
    return bare if len(bare) >= _SHORTEST else key


@lru_cache(maxsize=65536)
def brand(name: str) -> str:
    """Return the name without places and trades: the part that identifies a company family.

    >>> brand("深圳市大疆创新科技有限公司"), brand("蒙牛乳业"), brand("中国平安")
    ('大疆创新', '蒙牛', '平安')
    """
    bare = without_form(name)
    for pattern in (_PLACE, _TRADE):
        rest = pattern.sub("", bare)
        if len(rest) >= _SHORTEST:
            bare = rest
    return bare


def likeness(one: str, other: str) -> Likeness:
    """Score whether two names may belong to one company.

    Symmetric. 1.0: same name; 0.8 and above: only legal form or place differ; 0.7: short form; 0.5: same brand.

    >>> likeness("华为技术有限公司", "华为技术")
    Likeness(score=0.9, reason='legal_form')
    >>> likeness("上港集团", "上海国际港务（集团）股份有限公司").reason, likeness("平安银行", "招商银行").score
    ('short_form', 0.0)
    """
    a, b = name_key(one), name_key(other)
    if a == b:
        return Likeness(1.0, "same_name")
    bare_a, bare_b = without_form(one), without_form(other)
    if bare_a == bare_b:
        return Likeness(0.6, "group_and_company") if _is_group(a) != _is_group(b) else Likeness(0.9, "legal_form")
    brand_a, brand_b = brand(one), brand(other)
    if _placeless(bare_a) == _placeless(bare_b):
        return Likeness(0.8, "place")
    if brand_a == brand_b:
        return Likeness(0.5, "same_brand")
    short, long = sorted((bare_a, bare_b), key=len)
    if is_short_form(short, long):
        return Likeness(0.7, "short_form")
    if brand_a in brand_b or brand_b in brand_a:
        return Likeness(0.5, "same_brand")
    return NONE


def is_short_form(short: str, long: str) -> bool:
    """Whether the shorter name is a subsequence of the longer one, from its start or after the place name.

    >>> is_short_form("上港", "上海国际港务"), is_short_form("招行", "中国招标")
    (True, False)
    """
    if not _SHORTEST <= len(short) < len(long):
        return False
    return any(begin[:1] == short[:1] and _is_subsequence(short, begin) for begin in (long, _placeless(long)))


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(char in rest for char in short)


def _placeless(bare: str) -> str:
    rest = _PLACE.sub("", bare)
    return rest if len(rest) >= _SHORTEST else bare


def _is_group(key: str) -> bool:
    """Whether the name is that of a group (集团), not of a listed 集团股份."""
    return "集团" in key and "股份" not in key
