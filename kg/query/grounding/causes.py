"""Whether a sentence exchanges the cause and the effect that its source states."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg.query.grounding.statements import SourceStatement

_BY = re.compile(
    r"受(?:到|益于)?(?P<a>[^，,。;]{1,40}?)(?:影响|拖累|带动|推动|提振|压制|支撑|驱动|抑制|催化|刺激|冲击|扰动|制约)"
    r"|[由被是](?P<b>[^，,。;]{1,40}?)(?:推动|带动|驱动|导致|引发|引起|造成|催生|催化|拖累)的?"
)
_BECAUSE = re.compile(
    r"(?:主要?|正)?(?:是|系)?(?:由于|因为|源于|缘于|得益于|受益于|归因于|(?<![原成起基诱])因(?![此而素子应地])|原因(?:在于|[是为]))"
    r"|\b(?:because(?: of)?|due to|owing to|as a result of|on the back of|thanks to"
    r"|(?:driven|caused|pushed up|dragged down|hurt) by)\b"
)
_THEN = re.compile(
    r"导致|解决|致使|引发|引起|造成|带动|推动|推高|推升|拉动|提振|促使|促进|使得?|令|让|带来|催生|刺激|压制|拖累|抑制|压低|加剧|加速"
    r"|缓解|减轻|降低|增厚|支撑|打压|削弱|抬高|从而|因此|因而|所以|进而|(?:格局|背景|影响|压力|预期|带动|推动|驱动)下|后(?=[，,])|→"
    r"|\b(?:led to|leads? to|cause[ds]?|drove|drives?|push(?:ed|es)? up|boost(?:ed|s)?|lift(?:ed|s)?|made"
    r"|makes|eased|triggered|resulted in|weighed on|dragged|forced|prompted)\b"
)
_ALONE = frozenset(("加剧", "加速", "缓解", "减轻", "降低"))  # 竞争加剧 has no effect behind it
_CLAUSE = re.compile(r"[^，,;。:：]+")
_NO_TERM = re.compile(r"[\d.%+\-\s()（）“”、的了]+")
_EMPTY = re.compile(r"^(?:主要|部分|[这也其是])+|(?:主要|部分|[这也均其正是])+$")
_MARGIN = 0.2
_PLAIN = 0.4  # of both sides, where the source has no word for a cause
_CONTRAST = ("但", "而", "不过")


class CausalPair(NamedTuple):
    """What causes, and what it has as an effect, in the words of a text."""

    cause: str
    effect: str


def causal_pairs(text: str) -> list[CausalPair]:
    """Return the causes and effects that a sentence states."""
    return list(_pairs(text))


def exchanged(sentence: str, statements: Iterable[SourceStatement]) -> bool:
    """Whether the statement that is nearest to a causal sentence states it the other way round."""
    claimed = tuple(_pairs(sentence))
    best, wrong = 0.0, False
    for statement in statements:
        for pair in claimed:
            straight, turned = _fit(pair, statement.text)
            if max(straight, turned) > best:
                best, wrong = max(straight, turned), turned > straight + _MARGIN
    return wrong


def _fit(claimed: CausalPair, source: str) -> tuple[float, float]:
    """Return how well a source states a pair as it is, and how well it states its reverse."""
    found = list(_pairs(source, wide=True))
    straight = max((_both(claimed.cause, each.cause, claimed.effect, each.effect) for each in found), default=0.0)
    turned = max((_both(claimed.cause, each.effect, claimed.effect, each.cause) for each in found), default=0.0)
    if straight or turned:
        return straight, turned
    label, _, rest = source.partition(":")  # 甲(-9%):需求放缓 may have the effect first
    straight = _both(claimed.cause, rest, claimed.effect, label)
    clauses = _CLAUSE.findall(source)  # without a word for it the cause comes first
    for at in range(1, len(clauses)):
        first, second = "，".join(clauses[:at]), "，".join(clauses[at:])
        straight = max(straight, _both(claimed.cause, first, claimed.effect, second))
        if not second.startswith(_CONTRAST):
            turned = max(turned, _both(claimed.cause, second, claimed.effect, first, least=_PLAIN))
    return straight, turned


def _both(one: str, there: str, other: str, beside: str, *, least: float = 0.0) -> float:
    """Return how much of two texts is in two others, 0 where one of them is not there, up to a share."""
    shares = _share(one, there), _share(other, beside)
    return sum(shares) if min(shares) > least else 0.0


def _share(text: str, other: str) -> float:
    """Return which share of the terms of a text another one has."""
    groups = list(_terms(text))
    return sum(any(term in other for term in group) for group in groups) / len(groups) if groups else 0.0


def _terms(text: str) -> Iterator[tuple[str, ...]]:
    """Yield pairs of Chinese characters, and English words with what means the same."""
    same = claim_words().same
    for part in _NO_TERM.split(text):
        yield from (() if part.isascii() else ((part[at : at + 2],) for at in range(len(part) - 1)))
    for word, group in same.items():
        if word.isascii() and re.search(rf"\b{re.escape(word)}\b", text):
            yield group


def _pairs(text: str, *, wide: bool = False) -> Iterator[CausalPair]:
    """Yield causes and effects of a folded sentence; `wide` ones take what comes before with them."""
    spans = [match.span() for match in _CLAUSE.finditer(text)]
    for number, (start, end) in enumerate(spans):
        clause, above = text[start:end], text[spans[number - 1][0] : start] if number else ""
        below = text[end : spans[number + 1][1]] if number + 1 < len(spans) else ""
        if match := _BY.search(clause):
            own = _EMPTY.sub("", clause[: match.start()] + clause[match.end() :])
            yield CausalPair(match["a"] or match["b"], own if own.strip() else above or below)
        elif match := _BECAUSE.search(clause):
            before, (cause, _, rest) = clause[: match.start()], clause[match.end() :].partition("而")
            own = _EMPTY.sub("", before + rest)
            if len(own.strip()) > 1:
                yield CausalPair(cause, above + own if wide else own)
            else:
                yield CausalPair(cause, above or below)
        elif (match := _THEN.search(clause)) and not (match[0] in _ALONE and match.end() == len(clause)):
            before, after = clause[: match.start()], clause[match.end() :] or below
            yield CausalPair(above + before if wide or len(before.strip()) < 2 else before, after)  # noqa: PLR2004
