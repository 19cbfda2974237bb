"""What a theme is about, composed from its facts with no model; every line carries the ids of the facts it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.ids import digest
from kg.model import Kind, Modality, Polarity, Summary, SummaryLine
from kg.period import Period
from kg.query.wording import claim_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kg.model import Community, Entity, Fact
    from kg.query.lens import Lens

TEMPLATE = "composed/1"
_TITLE_NAMES = 3
_CHAIN_LINES = _CAUSAL_LINES = 4
_OTHER_LINES = 3
_NAMES_EACH = 6
_TITLE_KINDS = (Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME, Kind.COMPANY, Kind.INDICATOR, Kind.EVENT, Kind.POLICY)
_ROLES = ((Kind.COMPANY, "公司"), (Kind.PRODUCT, "产品"), (Kind.INDUSTRY, "行业"), (Kind.INDICATOR, "指标"), (Kind.POLICY, "政策"), (Kind.EVENT, "事件"))


def compose(lens: Lens, community: Community, facts: Sequence[Fact], strength: Mapping[str, float]) -> Summary:
    """Return the summary of a community from the facts among its members, strongest first."""
    members = [entity for member in community.members if (entity := lens.view.entity(member))]
    members.sort(key=lambda entity: (-strength.get(entity.id, 0.0), entity.id))
    ranked = sorted(facts, key=lambda fact: (-fact.witnesses * fact.confidence, -fact.last_published_on.toordinal(), fact.id))
    lines = [*_members(members, ranked), *_claims(lens, ranked)]
    return Summary(summary_key(ranked), title_of(members), tuple(lines), _span(ranked))


def summary_key(facts: Sequence[Fact]) -> str:
    """Return the hash of the fact set, its witnesses and the template: an unchanged one is never paid for twice."""
    rows = sorted(f"{fact.id}:{fact.witnesses}:{fact.superseded_by}" for fact in facts)
    return "summary:" + digest((TEMPLATE, *rows))


def title_of(members: Sequence[Entity]) -> str:
    """Return a name made of the strongest members, what is sold before who sells it."""
    named = sorted(enumerate(members[: 4 * _TITLE_NAMES]), key=lambda item: (item[1].kind in (Kind.COMPANY, Kind.INDICATOR), item[0]))
    chosen = [entity.name for _, entity in named if entity.kind in _TITLE_KINDS][:_TITLE_NAMES]
    return "·".join(chosen) or "未命名主题"


def _members(members: Sequence[Entity], facts: Sequence[Fact]) -> list[SummaryLine]:
    lines = []
    for kind, role in _ROLES:
        named = [entity for entity in members if entity.kind == kind][:_NAMES_EACH]
        if named:
            ids = {entity.id for entity in named}
            support = [fact.id for fact in facts if fact.subject in ids or fact.object in ids][:_NAMES_EACH]
            lines.append(SummaryLine(f"{role}：{'、'.join(entity.name for entity in named)}", tuple(support)))
    return lines


def _claims(lens: Lens, facts: Sequence[Fact]) -> list[SummaryLine]:
    chosen: list[tuple[str, Fact]] = []
    firm = [fact for fact in facts if fact.polarity == Polarity.POSITIVE and not fact.superseded_by]
    for label, family, count in (("产业链", ("chain",), _CHAIN_LINES), ("因果", ("causal",), _CAUSAL_LINES), ("关系", ("structure",), _OTHER_LINES)):
        rows = [fact for fact in firm if lens.words[fact.relation].family in family and fact.modality == Modality.ASSERTED]
        chosen += [(label, fact) for fact in rows[:count]]
    chosen += [("展望", fact) for fact in firm if fact.modality == Modality.FORECAST and fact.relation == "affects"][:_OTHER_LINES]
    lines = [SummaryLine(f"{label}：{claim_text(lens, fact)}", (fact.id,)) for label, fact in chosen]
    return lines + _disagreements(lens, firm)


def _disagreements(lens: Lens, facts: Sequence[Fact]) -> list[SummaryLine]:
    signs: dict[tuple[str, str], dict[int, Fact]] = {}
    for fact in facts:
        if fact.relation == "affects":
            signs.setdefault((fact.subject, fact.object), {}).setdefault(fact.sign, fact)
    opposed = [pair for pair in signs.values() if len(pair) > 1]
    return [
        SummaryLine(f"分歧：{claim_text(lens, pair[1])}；另有：{claim_text(lens, pair[-1])}", (pair[1].id, pair[-1].id))
        for pair in opposed[:_OTHER_LINES]
    ]


def _span(facts: Sequence[Fact]) -> Period | None:
    if not facts:
        return None
    first = min(fact.published_on for fact in facts)
    last = max(fact.last_published_on for fact in facts)
    return Period(first, type(last).fromordinal(last.toordinal() + 1))
