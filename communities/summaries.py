"""Compose a theme's title and summary from its facts without a language model; every line cites its facts by id.

A title is the name of the head topic and what a heading of the last weeks says of it. The first line says what moved
most, others what is up and down the chain, who does what (with codes), what moved lately and which way, the newest
figures, who gains and pays, where sources disagree, and what is due. A fact is printed if its quote names what the line
names and says what it says (communities/printable.py), and a sentence serves one line.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from communities import printable
from communities.evidence import COMPANIES, TOPIC_KINDS
from kg.ids import digest
from kg.model import Modality, Summary, SummaryLine
from kg.period import Period
from kg.query.walks.exposure import indicator_polarity
from kg.query.wording import claim_text, coded, factor_moves
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from communities.content import Content
    from kg.model import Fact
    from kg.query.session import QuerySession

TEMPLATE = "composed/8"  # increment when the same facts would be worded differently
LATEST = timedelta(days=28)  # the last weeks
_RECENT = timedelta(days=56)  # comes before what is older
_CONSIDERED = 150  # facts of a kind that a summary looks through
_LINES_EACH, _LEAST_SAID, _NAMES_EACH, _COMPANIES, _OF_COMPANIES, _CHILDREN = 4, 3, 6, 8, 2, 12
_EXPECTED = frozenset({Modality.FORECAST, Modality.PLANNED})
_MAKES = frozenset(vocabulary().of_role("makes", "member"))
_EFFECT = vocabulary().of_role("effect")
_FLOWS = {name: vocabulary()[name].stage == "downstream" for name in vocabulary().of_family("chain")}
_EFFECTS = printable.EFFECTS
_NUMBERING = re.compile(r"^[\s（(]*(?:第?[一二三四五六七八九十]+[、.．）)章节]|\d+(?:[.．]\d+)*[、.．）)]?)\s*")
_WIDE = frozenset({"", "全球", "国内", "全国", "中国", "我国"})  # places of which a title may speak
_SHORT = 2  # letters of a topic's name that may be part of another word
_HEADLINE, _TITLE, _LABEL = range(6, 31), range(8, 37), 4  # length of a heading, a sentence, and its label, in a title
_HEADINGS_TRIED = 12
_HAPPENS = re.compile(  # what a heading that says something has; a mere label (行业数据跟踪) has none
    "涨|跌|升|降|[增新]加?长|减|扩|缩|加速|放缓|提速|提[价振]|突破|凸显|承压|改善|回暖|复苏|释放|放量|开启|打开|走[强弱]|分化|拐点|"
    "[见筑触]底|向好|催化|催生|迎来|高景气|紧平衡|偏[紧强弱]|过剩|短缺|洗牌|出清|超预期|不及|驱动(?!器)|共振|兑现|落地|修复|反弹|回落|震荡|领先"
)
_NO_HEADLINE = re.compile(
    "[?？|]|TOP|个股|板块(?:上涨|下[跌降]|走)|排名|^(?:核心|投资|风险|总结|概述|结论|展望|背景|关注|建议)|"
    "(?:如下|建议|提示|分析|梳理|情况|概览|回顾|观点|逻辑|跟踪|表现|定义|因素|结构|涨跌幅|数据|格局|概况|介绍|原因|进展|路径|方向|策略|影响|趋势|行业|板块)$|(?<!尤)其(?![他中次实余])"
)
_YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
_VALUATION = re.compile(
    "(?:P[EBS]|EPS|BPS|EBITDA|市值|股价|收盘价|估值|评级|目标价|成交额|利率|首付款|溢价率|涨跌?幅|跌幅|指数|收益率)$",
    re.IGNORECASE,
)
_MIN_LINES, _MIN_FIRMS = 2, 3  # with fewer lines, or companies in an only line, a summary says nothing


class ThemePage:
    """The facts of a theme that its lines may use: about its head first, then recent ones; a sentence serves once."""

    def __init__(self, session: QuerySession, content: Content, day: date, parts: Sequence[str] = ()) -> None:
        self.session, self.content, self.day = session, content, day
        self.members = frozenset(content.members)
        self.head, known = session.name(content.head), session.known(content.head)
        self._called = (self.head, *(alias.name for alias in (known.aliases if known else ())))
        self._used: set[tuple[str, int]] = set()
        self._said: list[str] = []
        self._sections: dict[str, list[tuple[int, int, str]]] = {}
        for section in content.sections:
            chunk = section.chunk
            self._sections.setdefault(chunk.document, []).append((chunk.start, chunk.end, section.heading))
        effects = [fact for fact in content.facts if fact.relation in _EFFECT and fact.modality is Modality.ASSERTED]
        causes = [fact for fact in self._ordered(effects) if printable.is_cause(session, fact)]
        self.causes = [fact for fact in causes if not self._is_old(fact)]
        self.causes.sort(key=lambda fact: not self.is_of_head(fact))
        measured = [fact for fact in content.figures if not _VALUATION.search(fact.object)]
        figures = [fact for fact in self._ordered(measured) if printable.is_figure(session, fact)]
        figures.sort(key=lambda fact: (fact.subject.startswith(COMPANIES), not self.is_of_head(fact)))
        self.figures = [fact for fact in figures if fact.modality is Modality.ASSERTED]
        self.forecasts = [fact for fact in figures if fact.modality in _EXPECTED and self.is_ahead(fact)]
        self.statements = self._statements(parts)
        self.of_head = [
            fact for fact in self.statements if _names(printable.shown(fact).quote, (*self._called, *parts))
        ]

    def _ordered(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the first facts to look through: those of the last weeks lead, then the latest periods."""

        def key(fact: Fact) -> tuple[bool, int]:
            period = fact.valid.end if fact.valid and fact.valid.end else fact.last_published_on
            return self.day - fact.last_published_on >= _RECENT, -min(period, self.day).toordinal()

        return sorted(facts, key=key)[:_CONSIDERED]

    def _statements(self, parts: Sequence[str]) -> list[Fact]:
        """Return facts whose sentences say what happens to the theme: late ones first, then the head's, then causes."""
        topics = [self.session.name(each) for each in self.content.members if each.startswith(TOPIC_KINDS)]
        about = (*self._called, *parts, *(name for name in topics if len(name) > _SHORT))

        def key(fact: Fact) -> tuple[bool, bool, bool, int, int, int, str]:
            item = printable.shown(fact)
            age, day, other = (
                self.day - item.published_on,
                item.published_on.toordinal(),
                not _names(item.quote, self._called),
            )
            kind = 0 if fact.relation in _EFFECT else 1 if fact.value else 2
            return age >= LATEST, age >= _RECENT, other, kind, -day, -fact.witnesses, fact.id

        some = (*self.content.facts, *self.content.figures, *self.content.told)
        told = [fact for fact in some if fact.modality is Modality.ASSERTED]
        return sorted((fact for fact in told if printable.is_statement(self.session, fact, about)), key=key)

    def _is_old(self, fact: Fact) -> bool:
        """Whether what happened to a firm is no news any more."""
        return fact.object.startswith(COMPANIES) and self.day - fact.last_published_on >= _RECENT

    def is_of_head(self, fact: Fact) -> bool:
        """Whether a fact says how the head topic or a measure of it moves, not one firm of it."""
        firms = any(each.startswith(COMPANIES) for each in (fact.subject, fact.object))
        return not firms and self.head in self.session.name(fact.object)

    def section(self, fact: Fact) -> str:
        """Return the heading about the head topic below which a fact is quoted; "" for none."""
        item = printable.shown(fact)
        headings = self._sections.get(item.document, ())
        return next((heading for start, end, heading in headings if start <= item.start < end), "")

    def is_ahead(self, fact: Fact) -> bool:
        """Whether the period of a fact is still open."""
        return bool(fact.valid and fact.valid.end and fact.valid.end > self.day)

    def age(self, fact: Fact) -> str:
        """Return the label of what a fact says happened: of the last weeks or before."""
        return "近期" if fact.last_published_on > self.day - LATEST else "驱动"

    def say(self, facts: Iterable[Fact], most: int) -> list[Fact]:
        """Return the first facts whose sentences differ from what is said: one of a note, and more if these are few."""
        said: list[Fact] = []
        notes: set[str] = set()
        for least, each_note in ((most, True), (min(most, _LEAST_SAID), False)):
            for fact in facts:
                item = printable.shown(fact)
                other = (item.document, item.start) not in self._used and not (each_note and item.document in notes)
                if len(said) < least and other and not any(_alike(item.quote, each) for each in self._said):
                    said.append(fact)
                    notes.add(item.document)
                    self._said.append(item.quote)
                    self._used.add((item.document, item.start))
        return said

    def take(self, facts: Iterable[Fact], most: int, of_firms: int | None = None) -> list[Fact]:
        """Return the first facts whose subject and object, and whose sentence, no line has yet."""
        taken: list[Fact] = []
        ends: set[tuple[str, str]] = set()
        for fact in facts:
            item, pair = printable.shown(fact), (fact.subject, fact.object)
            firm = fact.subject.startswith(COMPANIES) and of_firms is not None
            free = pair not in ends and (item.document, item.start) not in self._used
            if len(taken) < most and free and not (firm and of_firms == 0):
                of_firms = of_firms - 1 if firm and of_firms else of_firms
                taken.append(fact)
                ends.add(pair)
                self._used.add((item.document, item.start))
        return taken

    @staticmethod
    def text(quote: str) -> str:
        """Return a sentence without its number and its full stop."""
        return printable.BULLET.sub("", quote.replace("*", "").strip()).rstrip("。；;")

    def quoted(self, label: str, fact: Fact) -> SummaryLine:
        """Return the sentence of a fact as a line, word for word, with its day."""
        item = printable.shown(fact)
        text = self.text(item.quote)
        says = fact.value or fact.relation in _EFFECT
        count = f"，{fact.witnesses} 个独立来源" if says and fact.witnesses > 1 else ""
        return SummaryLine(f"{label}：{text}（{item.published_on}{count}）", (fact.id,))

    def line(self, label: str, fact: Fact) -> SummaryLine:
        """Return a fact as a line, with the day it was last reported."""
        return SummaryLine(f"{label}：{claim_text(self.session, fact)}（{fact.last_published_on}）", (fact.id,))


def compose(session: QuerySession, content: Content, *, day: date, children: Sequence[Summary] = ()) -> Summary:
    """Return the summary of a theme; its id is a hash of its text and cited facts. Without facts it has no lines.

    Args:
        session: session on the week's view.
        content: members and facts.
        day: forecasts whose period ended by this day are left out.
        children: summaries of the sub-themes, largest first.
    """
    name = session.name(content.head)
    page = ThemePage(session, content, day, [child.title.partition("：")[0] for child in children])
    headline = _headline(session, content, day) or _short_statement(page)
    title = f"{name}：{headline}" if headline else name
    body = (*_gist(page), *_chain(page), *_makers(page), *_news(page), *exposed(page), *_expected(page))
    lines: tuple[SummaryLine, ...] = ()
    if len(body) >= _MIN_LINES or any(len(line.facts) >= _MIN_FIRMS for line in body):
        lines = (*body[:1], *_parts(children), *body[1:])
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


def _headline(session: QuerySession, content: Content, day: date) -> str:
    """Return what a heading of the last weeks says of the theme's own topic; "" for none."""
    name = session.name(content.head)
    late = {document for published, document in content.notes if published > day - _RECENT}
    own = [each for each in content.sections if each.alone and each.chunk.document in late]
    for section in own[:_HEADINGS_TRIED]:
        if text := _said(section.heading, name):
            return text
    return ""


def _short_statement(page: ThemePage) -> str:
    """Return the first late statement about the head topic that is short enough for a title; "" for none."""
    for fact in page.statements:
        item = printable.shown(fact)
        before, colon, after = page.text(item.quote).partition("：")
        text = after.strip() if colon and (page.head in before or len(before) <= _LABEL) else f"{before}{colon}{after}"
        late = item.published_on > page.day - _RECENT and page.head in item.quote
        late = late and all(int(year) >= item.published_on.year for year in _YEAR.findall(text))
        late = late and fact.qualifier("scope") in _WIDE and not _NO_HEADLINE.search(text)
        if late and len(text) in _TITLE and not printable.is_of_firm(page.session, text):
            return text
    return ""


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


def _gist(page: ThemePage) -> Iterator[SummaryLine]:
    """Yield what a source last said of the head topic, word for word; else what moved it most, and since when."""
    for fact in page.say(page.of_head, 1):
        yield page.quoted("概要", fact)
        return
    own = [fact for fact in (*page.causes, *page.figures) if page.is_of_head(fact)]
    moves = [fact for fact in own if fact.relation in _EFFECT or (fact.value and fact.value.change)]
    recent = [fact for fact in moves if fact.last_published_on > page.day - _RECENT]
    some = sorted(recent or moves or own, key=lambda fact: -fact.witnesses)
    for fact in page.take(some, 1):
        count = f"，{fact.witnesses} 个独立来源" if fact.witnesses > 1 else ""
        yield SummaryLine(f"概要：{claim_text(page.session, fact)}（{fact.published_on} 起{count}）", (fact.id,))


def _chain(page: ThemePage) -> Iterator[SummaryLine]:
    """Yield what is directly up and down the chain of the head, citing the facts that place it there."""
    for label, placed in zip(("上游", "下游"), neighbours(page.session, page.content), strict=True):
        chosen = dict(list(placed.items())[:_NAMES_EACH])
        if chosen:
            yield SummaryLine(f"{label}：{'、'.join(chosen)}", tuple(dict.fromkeys(chosen.values())))


def neighbours(session: QuerySession, content: Content) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names up and down the chain of the head that a quote names with it, each with its fact's id.

    What is on both sides is on neither.
    """
    head, sides = session.name(content.head), ({}, {})  # type: tuple[str, tuple[dict[str, str], dict[str, str]]]
    for fact in content.facts:
        if fact.relation not in _FLOWS or fact.modality is not Modality.ASSERTED:
            continue
        ends = (fact.subject, fact.object) if _FLOWS[fact.relation] else (fact.object, fact.subject)
        up, down = (session.name(end) for end in ends)
        quote = printable.shown(fact).quote
        topics = all(end.startswith(TOPIC_KINDS) for end in ends)
        if topics and printable.is_link(quote, up, down) and (head in up) != (head in down):
            sides[head in up].setdefault(down if head in up else up, fact.id)
    both = sides[0].keys() & sides[1].keys()
    above, below = ({name: fact for name, fact in side.items() if name not in both} for side in sides)
    return above, below


def _names(quote: str, names: Iterable[str]) -> bool:
    return any(name in quote for name in names)


def _alike(one: str, other: str) -> bool:
    """Whether two sentences have most of their pairs of letters in common."""
    first, second = ({each[at : at + 2] for at in range(len(each) - 1)} for each in (one, other))
    return 2 * len(first & second) > min(len(first), len(second))


def _makers(page: ThemePage) -> Iterator[SummaryLine]:
    """Yield one line with the companies of the theme, listed ones first, each with its code and what it makes."""
    session, makes = page.session, {}  # type: tuple[QuerySession, dict[str, Fact]]
    made_by = [fact for fact in page.content.facts if fact.relation in _MAKES and fact.subject.startswith(COMPANIES)]
    for fact in made_by:
        known = printable.makes_known(session, fact, section=page.section(fact))
        if fact.modality is Modality.ASSERTED and fact.subject not in makes and known:
            makes[fact.subject] = fact
    listed = tuple(session.name(each) for each in page.content.members if each.startswith("sec:"))
    firms = [each for each in page.content.members if each in makes]
    firms = [each for each in firms if each.startswith("sec:") or not _is_short(session.name(each), listed)]
    ranked = sorted(firms, key=lambda each: not each.startswith("sec:"))[:_COMPANIES]
    if ranked:
        made = {each: session.name(makes[each].object) for each in ranked}
        texts = [_coded(session, each) + ("" if made[each] == page.head else f"—{made[each]}") for each in ranked]
        yield SummaryLine(f"公司：{'、'.join(texts)}", tuple(dict.fromkeys(makes[each].id for each in ranked)))


def _is_short(name: str, listed: Iterable[str]) -> bool:
    """Whether a firm without a code goes by the beginning of a listed one's name: 中宠, 中宠股份."""
    return any(each.startswith(name) for each in listed)


def _coded(session: QuerySession, entity_id: str) -> str:
    known = session.known(entity_id)
    return coded(known, "zh") if known else session.name(entity_id)


def _news(page: ThemePage) -> Iterator[SummaryLine]:
    """Yield what moved the theme and the newest figures; valuations say nothing of a theme."""
    said = page.say(page.statements, _LINES_EACH)
    for fact in said:
        yield page.quoted(page.age(fact), fact)
    for fact in page.take(page.causes, _LINES_EACH - len(said)):
        yield page.line(page.age(fact), fact)
    for fact in page.take(page.figures, _LINES_EACH, of_firms=_OF_COMPANIES):
        yield page.line("数据", fact)


def exposed(page: ThemePage) -> Iterator[SummaryLine]:
    """Yield who gains and who pays as a sentence that names the firm states it, the latest word on each company."""
    session, latest = page.session, {}  # type: tuple[QuerySession, dict[str, tuple[int, Fact]]]
    for fact in page.causes:
        company, sign = _stated_effect(session, fact)
        if sign and company in page.members and printable.names(session, company, printable.shown(fact).quote):
            latest.setdefault(company, (sign, fact))
    for wanted, label in ((1, "受益"), (-1, "受损")):
        firms = {fact.id: company for company, (sign, fact) in latest.items() if sign == wanted}
        some = page.take((fact for sign, fact in latest.values() if sign == wanted), _NAMES_EACH)
        texts = [
            f"{_coded(session, firms[fact.id])}（{session.name(fact.subject)}{factor_moves(fact, 'cause')}）"
            for fact in some
        ]
        if texts:
            yield SummaryLine(f"{label}：{'、'.join(texts)}", tuple(fact.id for fact in some))


def _stated_effect(session: QuerySession, fact: Fact) -> tuple[str, int]:
    """Return the company that a causal fact is about and whether it gains; 0 where the fact does not say."""
    effect = _EFFECTS.get(fact.qualifier("effect_direction") or "", 0)
    if fact.object.startswith(COMPANIES):
        return fact.object, effect
    known = session.known(fact.object)
    about = known.about if known else ""
    return (about, effect * indicator_polarity(fact.object)) if about.startswith(COMPANIES) else ("", 0)


def _expected(page: ThemePage) -> Iterator[SummaryLine]:
    """Yield where sources disagree, what is planned in a period still open, the nearest first, and forecast figures."""
    session = page.session
    for one, other in page.content.opposed:
        if printable.disagree(session, one, other, within=_RECENT.days):
            sides = (f"{claim_text(session, fact)}（{fact.last_published_on}）" for fact in (one, other))
            yield SummaryLine(f"分歧：{'；另有：'.join(sides)}", (one.id, other.id))
    ahead = [fact for fact in page.content.facts if fact.modality in _EXPECTED and page.is_ahead(fact)]
    due = [fact for fact in ahead if printable.is_due(session, fact)]
    for fact in page.take(sorted(due, key=_nearest), _LINES_EACH):
        yield page.line("日程", fact)
    for fact in page.take(page.forecasts, _LINES_EACH, of_firms=_OF_COMPANIES):
        yield page.line("展望", fact)


def _nearest(fact: Fact) -> tuple[date, int, str]:
    assert fact.valid
    assert fact.valid.end
    return fact.valid.end, -fact.last_published_on.toordinal(), fact.id


def _parts(children: Sequence[Summary]) -> Iterator[SummaryLine]:
    """Yield one line that names the sub-themes, citing a fact of each."""
    some = [child for child in children if child.lines][:_CHILDREN]
    if some:
        names = "、".join(child.title.split("：", 1)[0] for child in some)
        yield SummaryLine(f"子主题：{names}", tuple(dict.fromkeys(child.lines[0].facts[0] for child in some)))


def _span(content: Content) -> Period | None:
    return Period(content.notes[0][0], content.notes[-1][0] + timedelta(days=1)) if content.notes else None
