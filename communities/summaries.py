"""What a theme is about, composed from its facts with no model; every line carries the ids of the facts it rests on."""

from __future__ import annotations

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

TEMPLATE = "composed/3"  # raise it whenever the same facts would read differently
_TITLE_NAMES = 3
_TITLE_FROM = 12  # a title is made of the strongest members only
_TITLE_FIRST = frozenset({Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME, Kind.BUSINESS, Kind.EVENT, Kind.POLICY})
_JOINT = "·"
_LINES_EACH = 4
_NAMES_EACH = 6
_FAMILIES = (("产业链", ("chain",)), ("因果", ("causal",)), ("关系", ("structure",)))
_PLAIN = frozenset({"belongs_to", "operates", "produces"})  # told by the roles already
_CHILDREN = 8
_OPEN = frozenset({Modality.FORECAST, Modality.PLANNED, Modality.CONDITIONAL})


def compose(
    session: QuerySession, content: Content, *, title: str, day: date, children: Sequence[Summary] = ()
) -> Summary:
    """Return the summary of a community; its id is the hash of what it says and rests on.

    Args:
        session: of the week's view.
        content: members and chosen facts.
        title: the theme's name.
        day: a forecast whose period is over by then is open no longer.
        children: summaries of the parts of a higher level, largest first.
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
    """Return a name made of the strongest members (given strongest first), what is sold before who sells it.

    The name that a theme had `before` stays while most of what it names is still among the members.
    """
    if before:
        known = {session.name(member) for member in members}
        parts = before.split(_JOINT)
        if 2 * sum(part in known for part in parts) > len(parts):
            return before
    named = sorted(members[:_TITLE_FROM], key=lambda member: kind_of(member) not in _TITLE_FIRST)
    names: list[str] = []
    for name in map(session.name, named):
        if not any(name in other or other in name for other in names):  # 锂电池 says 锂 already
            names.append(name)
    return _JOINT.join(names[:_TITLE_NAMES]) or "未命名主题"


def name_givers(session: QuerySession, members: Sequence[str], title: str) -> frozenset[str]:
    """Return the members that a theme is named after."""
    parts = set(title.split(_JOINT))
    return frozenset(member for member in members if session.name(member) in parts)


def kind_of(entity_id: str) -> Kind:
    """Return the kind that an id's prefix tells."""
    prefix = entity_id.split(":", 1)[0]
    return Kind.COMPANY if prefix in ("sec", "org") else Kind(prefix)


def changes(session: QuerySession, content: Content, *, first: bool) -> tuple[SummaryLine, ...]:
    """Return what was first said since the run before; nothing in a theme's first week, when all is new."""
    if first or not content.fresh:
        return ()
    head = SummaryLine(f"新增 {content.fresh_count} 条事实", tuple(fact.id for fact in content.fresh))
    return (head, *(SummaryLine(claim_text(session, fact), (fact.id,)) for fact in content.fresh))


def _gist(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Say in one line what the theme trades in, who stands for it, and the strongest cause."""
    held = _best_facts((*content.facts, *content.figures))
    things = [member for member in content.members if member in held and kind_of(member) in _TITLE_FIRST][:3]
    firms = [member for member in content.members if member in held and kind_of(member) is Kind.COMPANY][:3]
    cause = next((fact for fact in content.facts if fact.relation == "affects"), None)
    parts = [
        f"{'、'.join(map(session.name, things))}" if things else "",
        f"代表公司 {'、'.join(map(session.name, firms))}" if firms else "",
        f"{claim_text(session, cause)}" if cause else "",
    ]
    support = [held[member].id for member in (*things, *firms)] + ([cause.id] if cause else [])
    if support:
        yield SummaryLine(f"概要：{'；'.join(part for part in parts if part)}", tuple(dict.fromkeys(support)))


def _best_facts(facts: Iterable[Fact]) -> dict[str, Fact]:
    """Return for each entity the strongest fact that has it at an end."""
    best: dict[str, Fact] = {}
    for fact in facts:
        best.setdefault(fact.subject, fact)
        best.setdefault(fact.object, fact)
    return best


def _roles(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    """Name the members by the part they play, each with the fact that gives it that part."""
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
        told = [
            fact
            for fact in content.facts
            if fact.modality is Modality.ASSERTED
            and fact.relation not in _PLAIN
            and session.words[fact.relation].family in families
        ]
        for fact in told[:_LINES_EACH]:
            yield SummaryLine(f"{label}：{claim_text(session, fact)}", (fact.id,))


def _figures(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    told = [fact for fact in content.figures if fact.modality is Modality.ASSERTED]
    for fact in told[:_LINES_EACH]:
        yield SummaryLine(f"数据：{claim_text(session, fact)}", (fact.id,))


def _disagreements(session: QuerySession, content: Content) -> Iterator[SummaryLine]:
    for one, other in content.opposed:
        text = f"分歧：{claim_text(session, one)}；另有：{claim_text(session, other)}"
        yield SummaryLine(text, (one.id, other.id))


def _outlook(session: QuerySession, content: Content, day: date) -> Iterator[SummaryLine]:
    """Tell what is forecast, planned or conditional and not yet over."""
    told = [fact for fact in (*content.facts, *content.figures) if fact.modality in _OPEN and _is_open(fact, day)]
    for fact in told[:_LINES_EACH]:
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
