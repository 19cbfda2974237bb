"""Which movement brings about which: words of cause between and before two movements, distance, economic sense."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.patterns.moves import Move

_FORWARD = re.compile(
    "导致|致使|使得|促使|带动|推动|拉动|支撑|刺激|引发|引起|造成|拖累|压制|抑制|打压|提振|推升|推高|助推|助涨|抬升|驱动|"
    "从而|进而|因此|因而|所以|故而|影响|令(?!人)|使(?!用)|促进?(?!销)|传导|共同|背景下|下，|加剧|压缩|利好|利空|制约|限制"
)
_BACKWARD = re.compile(
    "主要(?:是|系|因|由于|受|原因|得益|源)|由于|因为|原因|得益于|受益于|受累于|源于|缘于|主因|系(?!列|统)|归因|来自|是因|受(?!理|让)|因(?![此而素])"
)
_LEAD = re.compile("由于|因为|受(?!理|让|益)|随着|伴随|因(?![此而素])|在|受益|得益|鉴于|受累|面对|考虑到|预计")
_STOP = re.compile("[。；;#]")
_CONCESSION = re.compile("但|然而|虽然|尽管|不过|相比|而(?!且)")
_LEAD_REACH = 14
# Cause kind, effect kind → the sign that economics gives them: a rise of supply lowers the price.
_SENSE = {
    ("supply", "price"): -1,
    ("demand", "price"): 1,
    ("sales", "price"): 1,
    ("price", "price"): 1,
    ("cost", "price"): 1,
    ("import", "price"): -1,
    ("export", "price"): 1,
    ("price", "cost"): 1,
    ("cost", "profit"): -1,
    ("price", "profit"): 0,
    ("sales", "profit"): 1,
    ("demand", "profit"): 1,
    ("demand", "sales"): 1,
    ("supply", "sales"): 1,
    ("supply", "supply"): 1,
    ("demand", "demand"): 1,
    ("supply", "demand"): 1,
    ("price", "supply"): 1,
    ("import", "supply"): 1,
    ("price", "demand"): -1,
    ("price", "sales"): -1,
    ("demand", "supply"): 0,
    ("demand", "import"): 1,
    ("supply", "import"): -1,
    ("price", "condition"): 0,
    ("condition", "demand"): 1,
    ("condition", "price"): 1,
    ("condition", "sales"): 1,
    ("cost", "condition"): -1,
    ("demand", "condition"): 1,
    ("supply", "condition"): 0,
    ("condition", "profit"): 1,
}
_VAGUE = 1.0  # points off for 利好, 疲软 and their like where something that is measured could be meant
_HARM_TO = frozenset({("supply", -1), ("price", 1), ("demand", -1), ("sales", -1), ("export", -1), ("condition", -1)})


@dataclass(frozen=True, slots=True)
class Link:
    """A cause, its effect and how well the text ties them (points; below 0 it does not)."""

    cause: Move
    effect: Move
    score: float
    trigger: str


def link_moves(text: str, moves: Sequence[Move]) -> list[Link]:
    """Weigh every ordered pair of movements that do not overlap; the best tied first."""
    marks = _Marks.of(text)
    links = [
        _weighed(marks, moves, cause, effect)
        for cause in moves
        for effect in moves
        if cause.end <= effect.start or effect.end <= cause.start
    ]
    return sorted(links, key=lambda link: (-link.score, link.cause, link.effect))


@dataclass(frozen=True, slots=True)
class _Marks:
    """The words of a text that tie or part its movements, found once: (start, end) in order."""

    text: str
    spans: dict[str, tuple[list[int], list[int]]]

    @classmethod
    def of(cls, text: str) -> _Marks:
        patterns = {"forward": _FORWARD, "backward": _BACKWARD, "lead": _LEAD, "stop": _STOP, "but": _CONCESSION}
        found = {name: [match.span() for match in pattern.finditer(text)] for name, pattern in patterns.items()}
        return cls(text, {name: ([s for s, _ in spans], [e for _, e in spans]) for name, spans in found.items()})

    def within(self, name: str, start: int, end: int) -> int:
        """Return how many marks of a name stand in text[start:end]."""
        starts, ends = self.spans[name]
        return max(0, bisect_right(ends, end) - bisect_left(starts, start))

    def first(self, name: str, start: int, end: int) -> str:
        """Return the first mark of a name in text[start:end], or nothing."""
        starts, ends = self.spans[name]
        at = bisect_left(starts, start)
        return self.text[starts[at] : ends[at]] if at < len(starts) and ends[at] <= end else ""


def _weighed(marks: _Marks, moves: Sequence[Move], cause: Move, effect: Move) -> Link:
    forward = cause.start < effect.start
    first, second = (cause, effect) if forward else (effect, cause)
    gap = (first.end, second.start)
    word = marks.first("forward" if forward else "backward", *gap)
    lead = marks.first("lead", max(0, first.start - _LEAD_REACH), first.start) if forward else ""
    score = 2.5 * bool(word) - 1.5 * (marks.within("backward" if forward else "forward", *gap) > 0)
    score += 1.5 if lead else 0.0
    score -= 2.0 * marks.within("stop", *gap) + (gap[1] - gap[0]) / 30 + (marks.within("but", *gap) > 0)
    score -= 0.5 * sum(first.start < move.start < second.start for move in moves)
    score += _sense(cause, effect) - (0.0 if forward else 1.0) - _VAGUE * ("condition" in (cause.kind, effect.kind))
    if effect.kind == "price" and cause.kind in ("supply", "demand"):
        score += 0.7  # of a chain 限产 → 供给减少 → 价格上涨 its end is what the sentence is about
    if cause.kind == "profit" or effect.direction == 0:
        score -= 3.0
    if cause.kind == effect.kind and _owner(marks.text, cause) == _owner(marks.text, effect):
        score -= 2.0  # a price is no cause of itself
    return Link(cause, effect, score, word or lead)


def _owner(text: str, move: Move) -> str:
    """Return the two characters before a factor's word, enough to tell whose it is."""
    return text[max(0, move.head[0] - 2) : move.head[0]]


def _sense(cause: Move, effect: Move) -> float:
    if cause.direction == 0:
        return 1.5 if effect.type in _HARM_TO else 0.0
    sign = _SENSE.get((cause.kind, effect.kind))
    if sign is None:
        return -1.0
    if sign == 0:
        return 0.5
    return 1.5 if sign * cause.direction == effect.direction else -1.5
