"""Compose a theme's summary from its facts without a language model; every line cites its facts by id."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from communities.roles import ROLES, roles_of
from kg.ids import digest
from kg.model import Kind, Modality, Summary, SummaryLine
from kg.period import Period
from kg.query.wording import claim_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from communities.theme_facts import Content
    from kg.model import Fact
    from kg.query.session import QuerySession

TEMPLATE = "composed/3"  # increment when the same facts would be worded differently
_TITLE_NAMES = 3
_TITLE_FROM = 12  # strongest members considered for a title
_TITLE_FIRST = frozenset({Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME, Kind.BUSINESS, Kind.EVENT, Kind.POLICY})
_PARTS = re.compile("[：、·]")  # of a title
_LINES_EACH = 4
_NAMES_EACH = 6
_FAMILIES = (("产业链", ("chain",)), ("因果", ("causal",)), ("关系", ("structure",)))
_ROLE_RELATIONS = frozenset({"belongs_to", "operates", "produces"})  # already covered by the role lines
_CHILDREN = 8
_OPEN = frozenset({Modality.FORECAST, Modality.PLANNED, Modality.CONDITIONAL})


def compose(
    session: QuerySession, content: Content, *, title: str, day: date, children: Sequence[Summary] = ()
) -> Summary:
    """Return the summary of a community; its id is a hash of its text and cited facts.

    Args:
        session: session on the week's view.
        content: members and selected facts.
        title: the theme's title.
        day: forecasts whose period ended by this day are left out.
        children: summaries of the sub-themes, largest first.
    """
    lines = (
        *_gist(session, content),
        *_roles(session, content),
        *_parts(children),
        *_claims(session, content),
        *_figures(session, content),
        *_disagreements(session, content),
        *_outlook(session, content, day),
    )
    key = digest((TEMPLATE, title, *(part for line in lines for part in (line.text, *line.facts))))
    return Summary(f"summary:{key}", title, lines, _span(content))


def title_of(session: QuerySession, members: Sequence[str], before: str = "") -> str:
    """Return a title: the strongest member, products before companies, and what it is about: 储能：逆变器、大储.

    The previous title `before` is kept while more than half of its parts are still members.
    """
    if before:
        known = {session.name(member) for member in members}
        parts = _PARTS.split(before)
        if 2 * sum(part in known for part in parts) > len(parts):
            return before
    named = sorted(members[:_TITLE_FROM], key=lambda member: kind_of(member) not in _TITLE_FIRST)
    names: list[str] = []
    for name in map(session.name, named):
        if not any(name in other or other in name for other in names):  # 锂电池 already contains 锂
            names.append(name)
    head, *about = names[:_TITLE_NAMES] or ["未命名主题"]
    return f"{head}：{'、'.join(about)}" if about else head


def name_givers(session: QuerySession, members: Sequence[str], title: str) -> frozenset[str]:
    """Return the members that occur in a theme's title."""
    parts = set(_PARTS.split(title))
    return frozenset(member for member in members if session.name(member) in parts)


def kind_of(entity_id: str) -> Kind:
    """Return the kind encoded in an id's prefix."""
    prefix = entity_id.split(":", 1)[0]
    return Kind.COMPANY if prefix in ("sec", "org") else Kind(prefix)


def changes(session: QuerySession, content: Content, *, first: bool) -> tuple[SummaryLine, ...]:
    """Return the facts first reported since the previous run; empty in a theme's first week."""
    if first or not content.fresh:
        return ()
    head = SummaryLine(f"新增 {content.fresh_count} 条事实", tuple(fact.id for fact in content.fresh))
    return (head, *(SummaryLine(claim_text(session, fact), (fact.id,)) for fact in content.fresh))


def _gist(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Yield one line: main products, leading companies, and the strongest causal fact."""
    best_fact = _best_facts((*content.facts, *content.figures))
    named: dict[str, str] = {}  # the first product or industry of each name
    for member in content.members:
        if member in best_fact and kind_of(member) in _TITLE_FIRST:
            named.setdefault(session.name(member), member)
    products = list(named.values())[:3]
    companies = [member for member in content.members if member in best_fact and kind_of(member) is Kind.COMPANY][:3]
    cause = next((fact for fact in content.facts if fact.relation == "affects"), None)
    parts = [
        f"{'、'.join(map(session.name, products))}" if products else "",
        f"代表公司 {'、'.join(map(session.name, companies))}" if companies else "",
        f"{claim_text(session, cause)}" if cause else "",
    ]
    support = [best_fact[member].id for member in (*products, *companies)] + ([cause.id] if cause else [])
    if support:
        yield SummaryLine(f"概要：{'；'.join(part for part in parts if part)}", tuple(dict.fromkeys(support)))


def _best_facts(facts: Iterable[Fact]) -> dict[str, Fact]:
    """Return the strongest fact of each entity, as subject or object."""
    best: dict[str, Fact] = {}
    for fact in facts:
        best.setdefault(fact.subject, fact)
        best.setdefault(fact.object, fact)
    return best


def _roles(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Yield one line per role with its members, citing the facts that assign the role."""
    placed = roles_of(content.facts)
    for role, label in ROLES.items():
        named = [member for member in content.members if placed.get(member, ("", ""))[0] == role][:_NAMES_EACH]
        if named:
            support = tuple(dict.fromkeys(placed[member][1] for member in named))
            yield SummaryLine(f"{label}：{'、'.join(map(session.name, named))}", support)


def _parts(children: Sequence[Summary]) -> Iterator[SummaryLine]:
    for child in children[:_CHILDREN]:
        if child.lines:
            yield SummaryLine(f"子主题：{child.title}", child.lines[0].facts)


def _claims(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    for label, families in _FAMILIES:
        selected = [
            fact
            for fact in content.facts
            if fact.modality is Modality.ASSERTED
            and fact.relation not in _ROLE_RELATIONS
            and session.words[fact.relation].family in families
        ]
        for fact in selected[:_LINES_EACH]:
            yield SummaryLine(f"{label}：{claim_text(session, fact)}", (fact.id,))


def _figures(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    asserted = [fact for fact in content.figures if fact.modality is Modality.ASSERTED]
    for fact in asserted[:_LINES_EACH]:
        yield SummaryLine(f"数据：{claim_text(session, fact)}", (fact.id,))


def _disagreements(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    for one, other in content.opposed:
        text = f"分歧：{claim_text(session, one)}；另有：{claim_text(session, other)}"
        yield SummaryLine(text, (one.id, other.id))


def _outlook(session: QuerySession, content: Content, day: date) -> Iterator[SummaryLine]:
    """Yield forecast, planned or conditional facts that are still open."""
    upcoming = [fact for fact in (*content.facts, *content.figures) if fact.modality in _OPEN and _is_open(fact, day)]
    for fact in upcoming[:_LINES_EACH]:
        yield SummaryLine(f"展望：{claim_text(session, fact)}", (fact.id,))


def _is_open(fact: Fact, day: date) -> bool:
    return fact.valid is None or fact.valid.end is None or fact.valid.end > day


def _span(content: Content) -> Period | None:
    facts = (*content.facts, *content.figures)
    if not facts:
        return None
    first = min(fact.published_on for fact in facts)
    last = max(fact.last_published_on for fact in facts)
    return Period(first, last + timedelta(days=1))
