"""Group the topics that notes are about around the topics that stand for most of them, on three layers of similarity.

Two topics are alike as far as the same parts of notes are about both, the same companies are named with both, shown
facts tie them, or one is a kind of the other (固态电池, 电池). Heads are chosen greedily so that all topics are covered
(facility location; Gomes and Krause 2010), and each topic joins the head that it is most like, or none. So a theme is
called after what its members have in common, and two industries do not meet in one through a third.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from communities.evidence import TopicEvidence

    Labels = NDArray[np.int64]
    Matrix = NDArray[np.float64]

_COMPANIES, _TIES, _KIND_OF = 0.7, 0.5, 0.3  # weights of the layers, the first, shared notes, being 1
_FAINT = 0.12  # similarities below this are left out
_NEAR = 0.42  # least similarity to a head
_LINKED, _NOTES_ALONE = 0.08, 0.7  # least similarity by companies, facts and names, and what notes count below it
_OWN, _FULL = 2.0, 1.5  # how well a head covers itself, and another topic at most
_TWICE, _NEW = 1.3, 0.6  # similarity from which two topics are not both heads, and how much less counts against it
_CALLED = 1.2  # similarity to the head from which a larger topic gives the group its name
_GAIN, _MOST, _EACH = 1.5, 66, 5  # least coverage that a head adds, most heads, and topics for each of a small base
_KEPT = 1.5  # advantage of last week's heads
_MOVE = 0.15  # similarity that a topic must gain to leave last week's head
_SAME = 1.7  # similarity from which a topic is part of a larger one's sub-theme
DETECTION = "topics/3"  # increment when the same notes would be grouped differently


@dataclass(frozen=True, slots=True)
class Grouping:
    """Head (`top`, −1 for none) and leading topic (`part`) of each topic, as indices; `heads` in order of choice."""

    heads: tuple[int, ...]
    top: Labels
    part: Labels
    modularity: float


def group(
    evidence: TopicEvidence, topics: Sequence[str], names: Sequence[str], *, before: Mapping[str, str]
) -> Grouping:
    """Group topics, the most discussed first.

    Args:
        evidence: the evidence of the notes.
        topics: topic ids by falling weight.
        names: what they are called.
        before: last week's head of the topics that had one. It is kept unless another gains clearly, so that no
            single note decides.
    """
    if not topics:
        none = np.zeros(0, dtype=np.int64)
        return Grouping((), none, none, 0.0)
    parts_of = sorted({part for topic in topics for part in evidence.parts[topic]})
    alike = _layered(_focus(evidence, topics, parts_of), _fixed_layers(evidence, topics, names))
    weight = np.array([sum(evidence.focus[topic].values()) for topic in topics])
    place = {topic: number for number, topic in enumerate(topics)}
    old = np.array([place.get(before.get(topic, ""), -1) for topic in topics], dtype=np.int64)
    happens = np.array([topic.startswith("policy:") for topic in topics])
    heads = _heads(alike, weight, set(old.tolist()), free=~happens)
    if not heads:
        return Grouping((), np.full(len(topics), -1), np.arange(len(topics)), 0.0)
    near = alike[heads]
    near[range(len(heads)), heads] = _OWN
    near[old[None, :] == np.array(heads)[:, None]] += _MOVE
    labels = np.where(near.max(axis=0) >= _NEAR, np.array(heads)[near.argmax(axis=0)], -1)
    for number, head in enumerate(heads):  # a group goes by its largest topic that is much like the head
        like = np.flatnonzero((labels == head) & ((alike[head] >= _CALLED) | (np.arange(len(labels)) == head)))
        heads[number] = int(like[np.round(weight[like], 6).argmax()]) if len(like) else head
        labels[labels == head] = heads[number]
    return Grouping(tuple(heads), labels, _led(alike, labels, heads), _modularity(alike, labels))


def _heads(alike: Matrix, weight: Matrix, old: set[int], *, free: NDArray[np.bool_]) -> list[int]:
    """Return the topics that cover the others best, each chosen for what it adds."""
    cover = np.minimum(alike, _FULL)
    np.fill_diagonal(cover, _OWN)
    advantage = weight**0.3 * np.where([row in old for row in range(len(weight))], _KEPT, 1.0)
    best = np.full(len(weight), _NEAR)
    near = np.zeros(len(weight))
    heads: list[int] = []
    while len(heads) < min(_MOST, max(3, len(weight) // _EACH)):
        gain = free * advantage * (np.maximum(cover - best, 0.0) @ weight**0.5) / (1 + _NEW * near)
        head = int(np.round(gain, 6).argmax())
        if gain[head] < _GAIN:
            break
        heads.append(head)
        near = np.maximum(near, alike[head])
        free = free & (near < _TWICE)
        free[head] = False
        best = np.maximum(best, cover[head])
    return heads


def _focus(evidence: TopicEvidence, topics: Sequence[str], parts: Sequence[tuple[str, int]]) -> Matrix:
    column = {part: number for number, part in enumerate(parts)}
    share = np.zeros((len(topics), len(parts)))
    for row, topic in enumerate(topics):
        for part, value in evidence.parts[topic].items():
            share[row, column[part]] = value
    return share


def _fixed_layers(evidence: TopicEvidence, topics: Sequence[str], names: Sequence[str]) -> Matrix:
    """Return the similarity by companies, shown facts and names."""
    size = len(topics)
    companies = {each: n for n, each in enumerate(sorted({c for topic in topics for c in evidence.companies[topic]}))}
    named = np.zeros((size, len(companies)))
    for row, topic in enumerate(topics):
        for company, documents in evidence.companies[topic].items():
            named[row, companies[company]] = sum(documents.values()) ** 0.5
    named *= np.log1p(size / np.maximum((named > 0).sum(axis=0), 1))  # a company with many businesses is weak evidence
    place = {topic: number for number, topic in enumerate(topics)}
    ties = np.zeros((size, size))
    for (one, other), weight in evidence.ties.items():
        if one in place and other in place:
            ties[place[one], place[other]] = ties[place[other], place[one]] = weight
    spoken = np.sqrt([max(sum(evidence.spoken[topic].values()), 1) for topic in topics])
    ties = np.minimum(1.0, 2 * ties / np.sqrt(np.outer(spoken, spoken)))
    kinds = np.array([[one != other and one.endswith(other) for other in names] for one in names], dtype=np.float64)
    return np.asarray(_COMPANIES * _cosine(named) + _TIES * ties + _KIND_OF * np.maximum(kinds, kinds.T))


def _cosine(rows: Matrix) -> Matrix:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.asarray(unit @ unit.T)


def _layered(share: Matrix, fixed: Matrix) -> Matrix:
    """Return the sum of the layers.

    Shared notes alone count less between two topics that companies, facts or names tie to others: a weekly of ten
    trades ties none.
    """
    noted, tied = _cosine(share), np.where(np.eye(len(fixed)), 0.0, fixed).max(axis=1) >= _LINKED
    apart = (fixed < _LINKED) & np.outer(tied, tied)
    alike = np.round(np.where(apart, _NOTES_ALONE * noted, noted) + fixed, 6)  # equal on every processor
    np.fill_diagonal(alike, 0.0)
    alike[alike < _FAINT] = 0.0
    return np.asarray(alike)


def _led(alike: Matrix, labels: Labels, heads: Sequence[int]) -> Labels:
    """Return the leading topic of each: a larger one of its group that it nearly equals, else itself."""
    leader = np.arange(len(labels), dtype=np.int64)
    for row in range(1, len(labels)):
        likes = np.where((labels[:row] == labels[row]) & (leader[:row] == np.arange(row)), alike[row, :row], 0.0)
        if likes.max() >= _SAME and row not in heads:
            leader[row] = int(likes.argmax())
    return leader


def _modularity(alike: Matrix, labels: Labels) -> float:
    """Return the weighted modularity (Newman 2004); a topic of no group is one of its own."""
    total = alike.sum()
    if not total:
        return 0.0
    alone = np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)
    strength = np.bincount(alone, weights=alike.sum(axis=1))
    inside = (alike * (alone[:, None] == alone[None, :])).sum()
    return float(inside / total - (strength**2).sum() / total**2)
