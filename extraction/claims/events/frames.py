"""Parse company and shareholder events into frames: trigger, agents, counterparties, targets and amounts.

Roles are assigned by markers (将, 向, 给, 被, 持有的, 原告 …), then by position: the nearest name to the left is the
agent, the first to the right the target. The trigger words of each event are in lexicon/event_frames.yaml.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from extraction.claims.events.role_names import role_names
from extraction.text.clauses import clause_start
from extraction.text.lexicon import phrases, table
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention

_PARTICIPANTS = frozenset({Kind.COMPANY, Kind.INSTITUTION, Kind.PERSON})
_PHRASES = phrases("events/frames")
_JOINED = _PHRASES["joined"]
_NOT_A_PARTY = _PHRASES["not_a_party"]
_REPORTER = re.compile(r"(?:APP)?(?:网|报)?(?:讯|消息|获悉|报道|记者|数据|统计|显示)")
_COURT_KINDS = frozenset({"lawsuit", "judgement"})
_STAKE_KINDS = frozenset({"acquisition", "stake_rise", "stake_cut", "stake_sale", "funding", "buyback", "pledge"})

_HELD_BEFORE = _PHRASES["held_before"]
_HOLDS_AFTER = _PHRASES["holds_after"]
_TO = _PHRASES["to"]
_FOR = _PHRASES["for"]
_FROM = _PHRASES["from"]
_AT = re.compile(r"在$")
_PASSIVE = _PHRASES["passive"]
_AGAINST = _PHRASES["against"]
_ACCUSED = re.compile(r"(?:被告人?[一二三四五]?|被上诉人|被申请人|败诉方)(?:为|是|：|、|公司|单位)*$")
_PLAINTIFF = re.compile(r"(?<!被)(?:原告人?|上诉人|申请人|公诉机关)(?:为|是|：|公司|单位)*$")
_ISSUER = _PHRASES["issuer"]
_OF_ISSUER = re.compile(r"[^，。；]{0,16}?(?:公司|股份|股票|股权|[A-Z]?股|不超过|合计)")
_PER_SHARE = re.compile(r"(?:每股|收盘价|均价|股价|价格区间)[^，。；]{0,6}$")
_GOODS = _PHRASES["goods"]
_NEW_CLAUSE = re.compile(r"[；、]|，.*，|，(?!以|分别为|包括)")
_NEAR = 14


@dataclass(frozen=True, slots=True)
class FrameKind:
    """One event type; its fields are documented in lexicon/event_frames.yaml."""

    name: str
    event: str
    relation: str
    to: str
    triggers: re.Pattern[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class EventFrame:
    """One event in one sentence; `start` and `end` are the sentence offsets of its trigger.

    `agents` are the actors (the buyer of 收购, the seller of 减持, the plaintiff), `parties` the counterparties
    (seller, buyer, pledgee, defendant), `targets` the assets transferred.
    """

    kind: str
    start: int
    end: int
    agents: tuple[EntityMention, ...] = ()
    parties: tuple[EntityMention, ...] = ()
    targets: tuple[EntityMention, ...] = ()
    money: Quantity | None = None
    number: Quantity | None = None
    share: Quantity | None = None


@cache
def frame_kinds() -> dict[str, FrameKind]:
    """Return the supported event types by name, in file order."""
    return {name: _kind(name, entry) for name, entry in _entries().items()}


@cache
def _entries() -> dict[str, dict[str, str]]:
    return table("event_frames")


def _kind(name: str, entry: dict[str, str]) -> FrameKind:
    left = f"(?<!{')(?<!'.join(entry['not_left'].split('|'))})" if "not_left" in entry else ""
    right = f"(?!{entry['not_right']})" if "not_right" in entry else ""
    pattern = re.compile(f"{left}(?:{entry['triggers']}){right}")
    return FrameKind(name, entry["event"], entry.get("relation", ""), entry.get("to", "target"), pattern)


@cache
def _any_trigger() -> re.Pattern[str]:
    """Return one pattern for all triggers, without context checks, to skip sentences that have none."""
    return re.compile("|".join(entry["triggers"] for entry in _entries().values()))


def read_frames(annotated: AnnotatedSentence) -> Iterator[EventFrame]:
    """Yield the events of one sentence, ordered by trigger."""
    if not (all_triggers := _find_triggers(annotated.text)):
        return
    named, parties = _participants(annotated)
    triggers = [each for each in all_triggers if not any(ref.start <= each[0] and each[1] <= ref.end for ref in named)]
    previous: EventFrame | None = None
    for index, (start, end, kind) in enumerate(triggers):
        roof = triggers[index + 1][0] if index + 1 < len(triggers) else len(annotated.text)
        frame = _RoleReader(annotated, parties, kind, start, end).read(previous.end if previous else 0, roof)
        if previous and _continues_previous(annotated.text, previous, frame):
            frame = replace(frame, agents=previous.agents)
        yield frame
        previous = frame


def _continues_previous(text: str, previous: EventFrame, frame: EventFrame) -> bool:
    """Whether a clause without an agent continues the previous event's: 「南向资金增持甲、乙，减持丙」."""
    clause = max(clause_start(text, frame.start, previous.end), text.rfind("、", previous.end, frame.start) + 1)
    between = [ref for ref in frame.agents if previous.end <= ref.start and ref.end <= frame.start]
    return clause > previous.end and bool(between) and not any(ref.start >= clause for ref in between)


def _find_triggers(text: str) -> list[tuple[int, int, str]]:
    """Return the triggers in a text as (start, end, kind); where they overlap, the longest wins."""
    if not _any_trigger().search(text):
        return []
    found = [
        (match.start(), match.end(), kind.name)
        for kind in frame_kinds().values()
        for match in kind.triggers.finditer(text)
    ]
    kept: list[tuple[int, int, str]] = []
    for start, end, kind_name in sorted(found, key=lambda item: (item[0] - item[1], item[0])):
        if not any(start < other[1] and other[0] < end for other in kept):
            kept.append((start, end, kind_name))
    return sorted(kept)


def _participants(annotated: AnnotatedSentence) -> tuple[list[EntityMention], list[EntityMention]]:
    """Return all companies, institutions and persons of a sentence, and those that can take part in an event."""
    in_sentence = [ref for ref in annotated.refs if ref.start >= 0]
    named = [ref for ref in in_sentence if ref.kind in _PARTICIPANTS] + role_names(annotated.text, in_sentence)
    named.sort(key=lambda ref: ref.start)
    return named, [
        ref
        for ref in named
        if not _NOT_A_PARTY.search(annotated.text[ref.start : ref.end]) and not _REPORTER.match(annotated.text, ref.end)
    ]


class _RoleReader:
    """Assign the roles of one trigger."""

    def __init__(
        self, annotated: AnnotatedSentence, parties: Sequence[EntityMention], kind: str, start: int, end: int
    ) -> None:
        self.annotated, self.text, self.kind = annotated, annotated.text, kind
        self.start, self.end = start, end
        self.left = [ref for ref in parties if ref.end <= start]
        self.right = [ref for ref in parties if ref.start >= end]

    def read(self, floor: int, roof: int) -> EventFrame:
        """Return the frame; amounts are searched in text[floor:roof], between the neighbouring triggers."""
        agents, parties, targets = (
            self._litigation_roles() if self.kind in _COURT_KINDS else self._transaction_roles(roof)
        )
        amounts = [q for q in self.annotated.quantities if floor <= q.start and q.end <= roof]
        return EventFrame(
            self.kind,
            self.start,
            self.end,
            agents=tuple(agents),
            parties=tuple(parties),
            targets=tuple(targets),
            money=self._nearest(amounts, "元"),
            number=self._nearest(amounts, "股"),
            share=self._nearest(amounts, "%"),
        )

    def _litigation_roles(self) -> tuple[list[EntityMention], list[EntityMention], list[EntityMention]]:
        """Return plaintiffs and defendants; a court case has no targets."""
        near = [*self.left, *self.right]
        accused = [ref for ref in near if self._marked(ref, _ACCUSED)]
        plaintiffs = [ref for ref in near if self._marked(ref, _PLAINTIFF)]
        passive = [ref for ref in self.left if self._marked(ref, _PASSIVE)]
        against = [ref for ref in self.left if self._marked(ref, _AGAINST) or self._marked(ref, _TO)]
        plain = [ref for ref in self.left if ref not in (*accused, *plaintiffs, *passive, *against)]
        after_trigger = self._group(self.right) if self.right and self.right[0].start - self.end <= _NEAR else []
        if self.kind == "judgement":
            return plaintiffs, accused or against or self._group(plain[::-1]), []
        if passive and not plaintiffs:
            return self._with_joined(passive[-1:]), accused or self._group(plain[::-1]), []
        suing = plaintiffs or (self._group(plain[::-1]) if against or accused or after_trigger else [])
        sued = accused or self._with_joined(against[-1:]) or [ref for ref in after_trigger if ref not in suing]
        if not sued and not suing:
            sued = self._group(plain[::-1])
        return suing, sued, []

    def _transaction_roles(self, roof: int) -> tuple[list[EntityMention], list[EntityMention], list[EntityMention]]:
        """Return the agents, parties and targets of a transaction."""
        held = [ref for ref in (*self.left, *self.right) if self._marked(ref, _HELD_BEFORE) and ref.start < roof]
        mark = _FOR if self.kind == "guarantee" else _TO
        to = [ref for ref in (*self.left, *self.right) if self._marked(ref, mark) and ref.start < roof]
        source = [ref for ref in (*self.left, *self.right) if self._marked(ref, _FROM) and ref.start < roof]
        holders = self._holders(roof)
        passive = [ref for ref in self.left if self._marked(ref, _PASSIVE)]
        at = [ref for ref in self.left if self._marked(ref, _AT)] if self.kind == "pledge" else []
        marked = [*held, *to, *source, *passive, *at]
        plain = [ref for ref in self.left if ref not in marked]
        after_trigger = [ref for ref in self.right if ref not in (*marked, *holders) and ref.start < roof]
        if self.kind == "acquisition":  # a company whose goods are bought is not the target
            after_trigger = [ref for ref in after_trigger if not _GOODS.match(self.text, ref.end)]
        agents = self._with_joined(passive[-1:]) or self._group(plain[::-1])
        parties = self._with_joined([*to, *source, *holders, *at][:1])
        targets = held[:1]
        if not targets and self.kind in _STAKE_KINDS and self.kind != "pledge":
            targets = self._group(plain[::-1]) if passive else self._first_after_trigger(after_trigger)
        if not targets:
            targets = [ref for ref in self._issuer(plain, agents) if ref not in agents]
        if self.kind not in _STAKE_KINDS and not parties:
            parties = self._first_after_trigger(after_trigger)
        return agents, parties, targets

    def _holders(self, roof: int) -> list[EntityMention]:
        """Return the sellers whose holdings are bought: 「收购甲、乙持有的丙10%股权」 names two."""
        found = [ref for ref in self.right if _HOLDS_AFTER.match(self.text, ref.end) and ref.start < roof]
        before = [ref for ref in self.right if found and ref.start <= found[0].start]
        return self._group(before[::-1]) + found[1:]

    def _first_after_trigger(self, refs: list[EntityMention]) -> list[EntityMention]:
        """Return the first name after the trigger and names joined to it, unless a new clause starts before it."""
        if not refs or _NEW_CLAUSE.search(self.text[self.end : refs[0].start]):
            return []
        return self._group(refs)

    def _issuer(self, plain: list[EntityMention], agents: list[EntityMention]) -> list[EntityMention]:
        """Return the issuer of the shares: the announcing company, or the one whose shareholder acts."""
        if not _OF_ISSUER.match(self.text, self.end) and self.kind not in ("stake_cut", "pledge"):
            return []
        found = [ref for ref in plain if ref not in agents and _ISSUER.match(self.text, ref.end)]
        return found[-1:]

    def _marked(self, ref: EntityMention, mark: re.Pattern[str]) -> bool:
        return mark.search(self.text, max(0, ref.start - 16), ref.start) is not None

    def _group(self, refs: Sequence[EntityMention]) -> list[EntityMention]:
        """Return the first mention and those joined to it by 、 or 和."""
        group = list(refs[:1])
        for ref in refs[1:]:
            first, second = sorted((group[-1], ref), key=lambda each: each.start)
            if not _JOINED.fullmatch(self.text, first.end, second.start):
                break
            group.append(ref)
        return sorted(group, key=lambda each: each.start)

    def _with_joined(self, refs: list[EntityMention]) -> list[EntityMention]:
        mentions = [*self.left, *self.right]
        return self._group(mentions[mentions.index(refs[0]) :]) if refs else []

    def _nearest(self, amounts: list[Quantity], unit: str) -> Quantity | None:
        """Return the amount of this unit nearest to the trigger, ignoring changes."""
        fitting = [
            q
            for q in amounts
            if q.unit.endswith(unit)
            and "/" not in q.unit
            and q.change in ("", "share")
            and not _PER_SHARE.search(self.text, max(0, q.start - 12), q.start)
        ]
        return min(fitting, key=lambda q: (max(q.start - self.end, self.start - q.end), q.start), default=None)
