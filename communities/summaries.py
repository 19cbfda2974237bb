"""Compose a theme's title and summary from its facts without a language model; every line cites its facts by id.

A title is the name of the topic that most notes share and what the newest note's own heading says of it. Lines say what
the theme's stages are, who does what (with codes), what moved lately and which way, the newest figures, who gains and
pays, where sources disagree, and what is due.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from communities.evidence import COMPANIES, TOPIC_KINDS
from kg.ids import digest
from kg.model import Modality, Summary, SummaryLine
from kg.period import Period
from kg.query.walks.exposure import indicator_polarity
from kg.query.wording import claim_text, coded, factor_moves
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from communities.content import Content
    from kg.model import Fact
    from kg.query.session import QuerySession

TEMPLATE = "composed/5"  # increment when the same facts would be worded differently
LATEST = timedelta(days=28)  # the last weeks
_LINES_EACH, _NAMES_EACH, _COMPANIES, _OF_COMPANIES, _CHILDREN = 4, 6, 8, 2, 12
_OPEN = frozenset({Modality.FORECAST, Modality.PLANNED, Modality.CONDITIONAL})
_MAKES = frozenset(vocabulary().of_role("makes", "member"))
_EFFECT = vocabulary().of_role("effect")
STAGES: Mapping[str, str] = {"upstream": "上游", "midstream": "中游", "downstream": "下游"}
_FLOWS = {name: vocabulary()[name].stage == "downstream" for name in vocabulary().of_family("chain")}
_FIRM_MODALITIES = frozenset({Modality.ASSERTED, Modality.PLANNED})  # forecasts, conditions and rumours place nothing
_EFFECTS = {"up": 1, "down": -1}
_NUMBERING = re.compile(r"^[\s（(]*(?:第?[一二三四五六七八九十]+[、.．）)章节]|\d+(?:[.．]\d+)*[、.．）)]?)\s*")
_HEADLINE = range(6, 31)
_HEADINGS_TRIED = 12
_HAPPENS = re.compile(  # what a heading that says something has; a mere label (行业数据跟踪) has none
    "涨|跌|升|降|[增新]加?长|减|扩|缩|加速|放缓|提速|提[价振]|突破|凸显|承压|改善|回暖|复苏|释放|放量|开启|打开|走[强弱]|分化|拐点|"
    "[见筑触]底|向好|催化|催生|迎来|高景气|紧平衡|偏[紧强弱]|过剩|短缺|洗牌|出清|超预期|不及|驱动|共振|兑现|落地|修复|反弹|回落|震荡|领先"
)
_NO_HEADLINE = re.compile(
    "[?？|]|TOP|个股|排名|^(?:核心|投资|风险|总结|概述|结论|展望|背景|关注|建议)|"
    "(?:如下|建议|提示|分析|梳理|情况|概览|回顾|观点|逻辑|跟踪|表现|定义|因素|结构|涨跌幅|数据|格局|概况|介绍|原因|路径|方向|策略|影响)$"
)
_VALUATION = re.compile("(?:P[EBS]|EPS|BPS|EBITDA|市值|股价|估值|评级|目标价|涨跌?幅|跌幅|指数|收益率)$", re.IGNORECASE)
_MIN_BODY = 2  # lines besides the first; with fewer a summary says nothing


def compose(session: QuerySession, content: Content, *, day: date, children: Sequence[Summary] = ()) -> Summary:
    """Return the summary of a theme; its id is a hash of its text and cited facts. Without facts it has no lines.

    Args:
        session: session on the week's view.
        content: members and facts.
        day: forecasts whose period ended by this day are left out.
        children: summaries of the sub-themes, largest first.
    """
    headline, support = _headline(session, content)
    name = session.name(content.head)
    title = f"{name}：{headline}" if headline else name
    body = (
        *_stages(session, content),
        *_makers(session, content),
        *_causes(session, content, day),
        *_figures(session, content),
        *_exposed(session, content),
        *_disagreements(session, content),
        *_due(session, content, day),
        *_forecasts(session, content, day),
    )
    lines: tuple[SummaryLine, ...] = ()
    if len(body) >= _MIN_BODY:
        gist = _gist(content, headline)
        lines = (SummaryLine(gist, support or body[0].facts), *_parts(children), *body)
    key = digest((TEMPLATE, title, *(part for line in lines for part in (line.text, *line.facts))))
    return Summary(f"summary:{key}", title, lines, _span(content))


def changes(session: QuerySession, content: Content, *, first: bool) -> tuple[SummaryLine, ...]:
    """Return the facts first reported since the previous run; empty in a theme's first week."""
    if first or not content.fresh:
        return ()
    shown = content.fresh[: 2 * _LINES_EACH]
    head = SummaryLine(f"新增 {len(content.fresh)} 条事实", tuple(fact.id for fact in shown))
    return (head, *(SummaryLine(claim_text(session, fact), (fact.id,)) for fact in shown))


def name_givers(session: QuerySession, members: Iterable[str], title: str) -> frozenset[str]:
    """Return the members that a theme is named after."""
    name = title.split("：", 1)[0]
    return frozenset(member for member in members if session.name(member) == name)


def _headline(session: QuerySession, content: Content) -> tuple[str, tuple[str, ...]]:
    """Return what the newest heading of the theme's own topic says, with the shown facts below it; "" for none."""
    facts: dict[str, list[tuple[int, str]]] = {}
    for fact in (*content.facts, *content.figures):
        for item in fact.evidence:
            facts.setdefault(item.document, []).append((item.start, fact.id))
    name = session.name(content.head)
    late = {document for day, document in content.notes if day > content.notes[-1][0] - 2 * LATEST}
    for chunk, heading in [each for each in content.sections if each[0].document in late][:_HEADINGS_TRIED]:
        below = [fact for start, fact in facts.get(chunk.document, ()) if chunk.start <= start < chunk.end]
        text = _said(heading, name) if below else ""
        if text:
            return text, tuple(dict.fromkeys(below))[:_LINES_EACH]
    return "", ()


def _said(heading: str, name: str) -> str:
    """Return what a heading says of a name, "" where it only names something.

    >>> _said("2.1 磷矿石：供需紧平衡，价格中枢上移", "磷矿石"), _said("（一）磷矿石投资建议", "磷矿石")
    ('供需紧平衡，价格中枢上移', '')
    """
    text = _NUMBERING.sub("", heading.replace("*", "").strip()).strip()
    before, colon, after = text.partition("：")
    text = after.strip() if colon and len(after.strip()) in _HEADLINE else "" if colon and name in before else text
    says = len(text) in _HEADLINE and _HAPPENS.search(text) and not _NO_HEADLINE.search(text)
    return text.rstrip("。；，") if says else ""


def _gist(content: Content, headline: str) -> str:
    counted = f"{len(content.notes)} 篇独立研报谈及，{content.notes[0][0]} 至 {content.notes[-1][0]}"
    return f"概要：{headline}；{counted}" if headline else f"概要：{counted}"


def _stages(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Yield one line per stage of the chain, citing the facts that place its products there."""
    placed = stages_of(content.facts)
    head = session.name(content.head)
    for stage, label in STAGES.items():
        named: dict[str, str] = {}  # the first of each name, and the fact that places it
        for entity_id, (where, fact) in placed.items():
            if where == stage and entity_id.startswith(TOPIC_KINDS) and session.name(entity_id) != head:
                named.setdefault(session.name(entity_id), fact)
        if chosen := dict(list(named.items())[:_NAMES_EACH]):
            yield SummaryLine(f"{label}：{'、'.join(chosen)}", tuple(dict.fromkeys(chosen.values())))


def stages_of(facts: Sequence[Fact]) -> dict[str, tuple[str, str]]:
    """Return each entity's stage and the id of the strongest fact that places it.

    Args:
        facts: live facts of one theme, the strongest first.
    """
    strongest: dict[str, str] = {}
    sides: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        if fact.relation not in _FLOWS or fact.modality not in _FIRM_MODALITIES:
            continue
        forward = _FLOWS[fact.relation]
        for end, side in ((fact.subject, 0 if forward else 1), (fact.object, 1 if forward else 0)):
            strongest.setdefault(end, fact.id)
            sides[end].add(side)
    names = tuple(STAGES)
    return {
        end: (names[1] if len(sides[end]) > 1 else names[0] if 0 in sides[end] else names[2], fact)
        for end, fact in strongest.items()
    }


def _makers(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Yield one line with the companies of the theme, listed ones first, each with its code and what it makes."""
    makes: dict[str, Fact] = {}
    for fact in content.facts:
        if fact.relation in _MAKES and fact.subject.startswith(COMPANIES) and fact.modality is Modality.ASSERTED:
            makes.setdefault(fact.subject, fact)
    ranked = sorted((each for each in content.members if each in makes), key=lambda each: not each.startswith("sec:"))
    if ranked := ranked[:_COMPANIES]:
        made = {each: session.name(makes[each].object) for each in ranked}
        head = session.name(content.head)
        texts = [_coded(session, each) + ("" if made[each] == head else f"—{made[each]}") for each in ranked]
        yield SummaryLine(f"公司：{'、'.join(texts)}", tuple(dict.fromkeys(makes[each].id for each in ranked)))


def _coded(session: QuerySession, entity_id: str) -> str:
    known = session.known(entity_id)
    return coded(known, "zh") if known else session.name(entity_id)


def _causes(session: QuerySession, content: Content, day: date) -> Iterator[SummaryLine]:
    """Yield what moved the theme in the last weeks, the newest first; without that, what most sources say moves it."""
    causal = [fact for fact in content.facts if fact.relation in _EFFECT and fact.modality is Modality.ASSERTED]
    causal = [fact for fact in causal if _moves(fact)]
    late = [fact for fact in causal if fact.last_published_on > day - LATEST]
    late.sort(key=lambda fact: -fact.last_published_on.toordinal())
    for fact in _varied(late or causal):
        label = "近期" if late else "驱动"
        yield SummaryLine(f"{label}：{claim_text(session, fact)}（{fact.last_published_on}）", (fact.id,))


def _moves(fact: Fact) -> bool:
    """Whether a cause happens or goes somewhere; 电解液 alone moves nothing."""
    return fact.subject.startswith(("event:", "policy:")) or fact.qualifier("cause_direction") in _EFFECTS


def _figures(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Yield the newest figures, those of the theme's products before those of its companies."""
    asserted = [fact for fact in content.figures if fact.modality is Modality.ASSERTED]
    for fact in _measured(asserted):
        yield SummaryLine(f"数据：{claim_text(session, fact)}（{fact.last_published_on}）", (fact.id,))


def _measured(facts: Sequence[Fact]) -> list[Fact]:
    """Return the first figures of products and trades, then a few of companies; valuations say nothing of a theme."""
    some = [fact for fact in facts if not _VALUATION.search(fact.object)]
    own = [fact for fact in some if not fact.subject.startswith(COMPANIES)]
    return _varied([*own, *_varied(fact for fact in some if fact.subject.startswith(COMPANIES))[:_OF_COMPANIES]])


def _varied(facts: Iterable[Fact]) -> list[Fact]:
    """Return the first facts, one of each subject and object."""
    found: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        if len(found) < _LINES_EACH:
            found.setdefault((fact.subject, fact.object), fact)
    return list(found.values())


def _exposed(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Yield who gains and who pays as sources state it, the latest word on each company."""
    latest: dict[str, tuple[int, Fact]] = {}
    causal = (fact for fact in content.facts if fact.relation in _EFFECT and fact.modality is Modality.ASSERTED)
    for fact in sorted(causal, key=lambda fact: (-fact.last_published_on.toordinal(), fact.id)):
        company, sign = _stated_effect(session, fact)
        if sign and company in content.members:
            latest.setdefault(company, (sign, fact))
    for wanted, label in ((1, "受益"), (-1, "受损")):
        some = [(company, fact) for company, (sign, fact) in latest.items() if sign == wanted][:_NAMES_EACH]
        texts = [
            f"{_coded(session, company)}（{session.name(fact.subject)}{factor_moves(fact, 'cause')}）"
            for company, fact in some
        ]
        if texts:
            yield SummaryLine(f"{label}：{'、'.join(texts)}", tuple(dict.fromkeys(fact.id for _, fact in some)))


def _stated_effect(session: QuerySession, fact: Fact) -> tuple[str, int]:
    """Return the company that a causal fact is about and whether it gains; 0 where the fact does not say."""
    effect = _EFFECTS.get(fact.qualifier("effect_direction") or "", 0)
    if fact.object.startswith(COMPANIES):
        return fact.object, effect
    known = session.known(fact.object)
    about = known.about if known else ""
    return (about, effect * indicator_polarity(fact.object)) if about.startswith(COMPANIES) else ("", 0)


def _disagreements(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    for one, other in content.opposed:
        sides = (f"{claim_text(session, fact)}（{fact.last_published_on}）" for fact in (one, other))
        yield SummaryLine(f"分歧：{'；另有：'.join(sides)}", (one.id, other.id))


def _due(session: QuerySession, content: Content, day: date) -> Iterator[SummaryLine]:
    """Yield what is planned or expected to happen in a period that is still open, the nearest first."""
    for fact in _varied(_ahead(content.facts, day)):
        yield SummaryLine(f"日程：{claim_text(session, fact)}（{fact.last_published_on}）", (fact.id,))


def _forecasts(session: QuerySession, content: Content, day: date) -> Iterator[SummaryLine]:
    """Yield forecast figures of a period that is still open, without valuations."""
    for fact in _measured(_ahead(content.figures, day)):
        yield SummaryLine(f"展望：{claim_text(session, fact)}（{fact.last_published_on}）", (fact.id,))


def _ahead(facts: Iterable[Fact], day: date) -> list[Fact]:
    dated = [
        (fact.valid.end, fact)
        for fact in facts
        if fact.modality in _OPEN and fact.valid and fact.valid.end and fact.valid.end > day
    ]
    dated.sort(key=lambda each: (each[0], -each[1].last_published_on.toordinal(), each[1].id))
    return [fact for _, fact in dated]


def _parts(children: Sequence[Summary]) -> Iterator[SummaryLine]:
    """Yield one line that names the sub-themes, citing a fact of each."""
    some = [child for child in children if child.lines][:_CHILDREN]
    if some:
        names = "、".join(child.title.split("：", 1)[0] for child in some)
        yield SummaryLine(f"子主题：{names}", tuple(dict.fromkeys(child.lines[0].facts[0] for child in some)))


def _span(content: Content) -> Period | None:
    return Period(content.notes[0][0], content.notes[-1][0] + timedelta(days=1)) if content.notes else None
