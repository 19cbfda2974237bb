"""Find the month in which a fiscal year ends, if the report states it; never guessed from a name or a market."""

from __future__ import annotations

import re

CALENDAR = 12

_MONTH_NAMES = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_M = r"(?P<m>1[0-2]|0?[1-9])月(?:\d{1,2}日|底|末)?"
_FORMS = (
    # 财年截至6月30日, 财政年度结束于每年3月31日, 财年于每年6月底结束, 财务年度为每年7月至次年6月
    re.compile(
        rf"(?:财年|财政年度|财务年度|会计年度)[^，。；\d]{{0,8}}(?:截至|截止|止于|结束于|终于)[^，。；\d]{{0,6}}{_M}"
    ),
    re.compile(rf"(?:财年|财政年度|财务年度|会计年度)[^，。；\d]{{0,6}}(?:每年|次年)?{_M}(?:结束|截止|为止)"),
    re.compile(rf"(?:财年|财政年度|财务年度|会计年度)[^。；]{{0,24}}(?:至|到)(?:次年|翌年|第二年|下一?年)的?{_M}"),
    # 截至2024年3月31日止年度, 截至6月30日止财年
    re.compile(rf"截[至止](?:(?:19|20)\d\d年)?{_M}止?(?:的)?(?:财政|财务|会计)?(?:年度|财年)"),
    re.compile(
        r"(?:fiscal|financial) year (?:ended|ending|ends|end)(?: on| in| date)?(?: \d{1,2})? (?P<name>"
        + "|".join(_MONTH_NAMES)
        + r")\b",
        re.IGNORECASE,
    ),
)


def fiscal_year_end(text: str) -> int:
    """Return the month in which FY2024 and 2024财年 end in this text; 12 if it names none or several.

    >>> fiscal_year_end("公司财年截至6月30日。"), fiscal_year_end("2024财年收入增长。")
    (6, 12)
    """
    found = {_month(match) for form in _FORMS for match in form.finditer(text)}
    return found.pop() if len(found) == 1 else CALENDAR


def _month(match: re.Match[str]) -> int:
    groups = match.groupdict()
    if groups.get("name"):
        return _MONTH_NAMES.index(groups["name"].lower()) + 1
    return int(groups["m"])
