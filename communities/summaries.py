"""What a theme is about, composed from its facts with no model; every line carries the ids of the facts it rests on."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from kg.ids import digest
from kg.model import Kind, Modality, Summary, SummaryLine
from kg.period import Period
from kg.query.wording import claim_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.model import Entity, Fact
    from kg.query.lens import Lens

TEMPLATE = "composed/2"  # raise it whenever the same facts would read differently
_TITLE_NAMES = 3
_TITLE_FROM = 12  # a title is made of the strongest members only
_OTHER_LINES = 3
_NAMES_EACH = 6
_TITLE_KINDS = (Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME, Kind.COMPANY, Kind.INDICATOR, Kind.EVENT, Kind.POLICY)
_TITLE_LAST = frozenset({Kind.COMPANY, Kind.INDICATOR})
_ROLES = (
    (Kind.COMPANY, "公司"),
    (Kind.PRODUCT, "产品"),
    (Kind.INDUSTRY, "行业"),
    (Kind.INDICATOR, "指标"),
    (Kind.POLICY, "政策"),
    (Kind.EVENT, "事件"),
)
_FAMILIES = (("产业链", "chain", 4), ("因果", "causal", 4), ("关系", "structure", _OTHER_LINES))


def compose(lens: Lens, members: Sequence[Entity], facts: Sequence[Fact]) -> Summary:
    """Return the summary of a community from the live facts that join two of its members, the strongest first."""
    ranked = sorted(facts, key=_rank)
    strength: dict[str, float] = defaultdict(float)
    for fact in ranked:
        for end in (fact.subject, fact.object):
            strength[end] += _force(fact)
    strongest = sorted(members, key=lambda entity: (-strength[entity.id], entity.id))
    lines = [*_members(strongest, ranked), *_claims(lens, ranked), *_disagreements(lens, ranked)]
    return Summary(summary_key(members, facts), title_of(strongest), tuple(lines), _span(ranked))


def summary_key(members: Sequence[Entity], facts: Sequence[Fact]) -> str:
    """Return the hash of all that a summary is made of: what would come out the same is never paid for twice."""
    rows = sorted(
        f"{fact.id}|{fact.witnesses}|{fact.confidence}|{fact.published_on}|{fact.last_published_on}" for fact in facts
    )
    names = sorted(f"{entity.id}|{entity.kind}|{entity.name}" for entity in members)
    return "summary:" + digest((TEMPLATE, *names, "|facts", *rows))


def title_of(members: Sequence[Entity]) -> str:
    """Return a name made of the strongest members (given strongest first), what is sold before who sells it."""
    named = [entity for entity in members[:_TITLE_FROM] if entity.kind in _TITLE_KINDS]
    named.sort(key=lambda entity: entity.kind in _TITLE_LAST)
    names = list(dict.fromkeys(entity.name for entity in named))  # 稀土 is a product and a trade
    return "·".join(names[:_TITLE_NAMES]) or "未命名主题"


def _force(fact: Fact) -> float:
    return fact.witnesses * fact.confidence


def _rank(fact: Fact) -> tuple[float, int, str]:
    return -_force(fact), -fact.last_published_on.toordinal(), fact.id


def _members(members: Sequence[Entity], facts: Sequence[Fact]) -> list[SummaryLine]:
    """Name the strongest members of each kind, each with the strongest fact that makes it one."""
    best: dict[str, str] = {}
    for fact in facts:
        best.setdefault(fact.subject, fact.id)
        best.setdefault(fact.object, fact.id)
    lines = []
    for kind, role in _ROLES:
        named = [entity for entity in members if entity.kind == kind and entity.id in best][:_NAMES_EACH]
        if named:
            support = tuple(dict.fromkeys(best[entity.id] for entity in named))
            lines.append(SummaryLine(f"{role}：{'、'.join(entity.name for entity in named)}", support))
    return lines


def _claims(lens: Lens, facts: Sequence[Fact]) -> list[SummaryLine]:
    chosen: list[tuple[str, Fact]] = []
    asserted = [fact for fact in facts if fact.modality is Modality.ASSERTED]
    for label, family, count in _FAMILIES:
        chosen += [(label, fact) for fact in asserted if lens.words[fact.relation].family == family][:count]
    outlook = [fact for fact in facts if fact.modality is Modality.FORECAST and fact.relation == "affects"]
    chosen += [("展望", fact) for fact in outlook[:_OTHER_LINES]]
    return [SummaryLine(f"{label}：{claim_text(lens, fact)}", (fact.id,)) for label, fact in chosen]


def _disagreements(lens: Lens, facts: Sequence[Fact]) -> list[SummaryLine]:
    """Set side by side the strongest claims that two things move together and that they move oppositely."""
    signs: dict[tuple[str, str], dict[int, Fact]] = {}
    for fact in facts:
        if fact.relation == "affects" and fact.sign:
            signs.setdefault((fact.subject, fact.object), {}).setdefault(fact.sign, fact)
    opposed = [(pair[1], pair[-1]) for pair in signs.values() if len(pair) > 1]
    return [
        SummaryLine(f"分歧：{claim_text(lens, one)}；另有：{claim_text(lens, other)}", (one.id, other.id))
        for one, other in opposed[:_OTHER_LINES]
    ]


def _span(facts: Sequence[Fact]) -> Period | None:
    if not facts:
        return None
    first = min(fact.published_on for fact in facts)
    last = max(fact.last_published_on for fact in facts)
    return Period(first, last + timedelta(days=1))
