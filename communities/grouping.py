"""Group the topics that notes are about: Leiden on three layers of similarity, settled over resamples of the notes.

Two topics are alike as far as the same parts of notes are about both, the same companies are named with both, shown
facts tie them, or one is a kind of the other (固态电池, 电池). Resamples leave out an eighth of the notes each, chosen
by a hash of the note, so that one more note changes few of them; what they agree on weighs more (consensus clustering,
Lancichinetti and Fortunato 2012), and the resolution is the one on which they agree best (adjusted Rand index).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import igraph
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from communities.evidence import TopicEvidence

    Labels = NDArray[np.int64]
    Matrix = NDArray[np.float64]

_COMPANIES, _TIES, _KIND_OF = 0.7, 0.5, 0.3  # weights of the layers, the first, shared notes, being 1
_FAINT = 0.12  # similarities below this are left out
_RESAMPLES = 8
_RESOLUTIONS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 13.0)
_FEWEST, _MOST, _TOPICS_EACH = 32, 55, 8  # top themes of a base, and topics for each where that makes fewer
_ENOUGH = 100  # topics from which the resolution is chosen
_MARGIN = 0.015  # modularity that a new partition must gain over last week's
_MOVE = 0.06  # gain, as a share of all of a topic's similarity, from which it moves to another of last week's groups
_BELONGS = 0.12  # least share of a topic's similarity that is inside its group
_SAME = 1.7  # similarity from which a topic is part of a larger one's sub-theme
_OWN = 1.5  # how like itself a topic is, when the head of a group is looked for
_ITERATIONS = 8
_SEED = 20260101
DETECTION = "topics/1"  # increment when the same notes would be grouped differently


class LastWeek(NamedTuple):
    """Last week's resolution, and how much modularity a new partition would have gained then."""

    resolution: float = 0.0
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Grouping:
    """Group (`top`) and leading topic (`part`) of each topic, as indices, with similarities and figures."""

    top: Labels
    part: Labels
    alike: Matrix
    weight: Matrix
    resolution: float
    modularity: float
    agreement: float
    gain: float

    def head(self, rows: Sequence[int]) -> int:
        """Return the topic of some that most notes share, as far as the others are like it."""
        weight = self.weight[list(rows)]
        alike = self.alike[np.ix_(rows, rows)] + _OWN * np.eye(len(rows))
        return rows[int(np.round(weight**0.25 * (alike @ weight), 6).argmax())]


def group(
    evidence: TopicEvidence, topics: Sequence[str], names: Sequence[str], *, before: Mapping[str, int], last: LastWeek
) -> Grouping:
    """Group topics, the most discussed first.

    Args:
        evidence: the evidence of the notes.
        topics: topic ids by falling weight.
        names: what they are called.
        before: last week's group of the topics that had one.
        last: last week's figures. The resolution is kept while it gives a readable number of groups; a new partition
            replaces last week's if it would have gained a margin then already, so that no single note decides.
    """
    if not topics:
        none = np.zeros(0, dtype=np.int64)
        empty = np.zeros((0, 0))
        return Grouping(none, none, empty, empty[0:0], last.resolution or _RESOLUTIONS[0], 0.0, 1.0, 0.0)
    parts_of = sorted({part for topic in topics for part in evidence.parts[topic]})
    fixed = _fixed_layers(evidence, topics, names)
    share = _focus(evidence, topics, parts_of)
    halves = np.array([crc32(document.encode()) % _RESAMPLES for document, _ in parts_of])
    whole = _layered(share, fixed)
    parts = [_layered(share[:, halves != number], fixed) for number in range(_RESAMPLES)]
    old = np.array([before.get(topic, -1) for topic in topics], dtype=np.int64)
    chosen, agreement, settled = _resolved(whole, parts, last.resolution)
    labels = leiden(settled, chosen, _placed(settled, old) if before else None)
    gain = 0.0
    if before:
        kept = _moved(settled, _placed(settled, old), chosen)
        gain = _modularity(settled, labels, chosen) - _modularity(settled, kept, chosen)
        labels = labels if min(gain, last.gain) > _MARGIN else kept
    labels = _without_strangers(whole, labels)
    weight = np.array([sum(evidence.focus[topic].values()) for topic in topics])
    return Grouping(
        labels, _led(whole, labels), whole, weight, chosen, _modularity(whole, labels, 1.0), agreement, gain
    )


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
    alike = np.round(_cosine(share) + fixed, 6)  # equal on every processor
    np.fill_diagonal(alike, 0.0)
    alike[alike < _FAINT] = 0.0
    return np.asarray(alike)


def _resolved(whole: Matrix, parts: Sequence[Matrix], last: float) -> tuple[float, float, Matrix]:
    """Return the resolution, how well resamples agree at it, and similarities weighted by their agreement."""
    tried: dict[float, tuple[float, Matrix]] = {}

    def agreement(resolution: float) -> float:
        runs = [leiden(part, resolution) for part in parts]
        together = np.mean([run[:, None] == run[None, :] for run in runs], axis=0)
        labels = leiden(whole, resolution)
        tried[resolution] = (
            float(np.mean([rand_index(labels, run) for run in runs])),
            np.asarray(whole * (0.2 + 0.8 * together)),
        )
        return tried[resolution][0]

    def readable(resolution: float) -> bool:
        groups = 1 + int(leiden(whole, resolution).max())
        return min(_FEWEST, len(whole) // _TOPICS_EACH) <= groups <= _MOST

    if last and readable(last):
        agreement(last)
        return last, *tried[last]
    tries = _RESOLUTIONS if len(whole) >= _ENOUGH else ()  # few topics: modularity as it is
    good = [each for each in tries if readable(each)] or [_RESOLUTIONS[0]]
    best = max(good, key=lambda each: (round(agreement(each), 3), -each))
    return best, *tried[best]


def leiden(alike: Matrix, resolution: float, start: Labels | None = None) -> Labels:
    """Return the groups of a symmetric matrix of similarities (Traag, Waltman and van Eck 2019), with a fixed seed."""
    one, other = np.nonzero(np.triu(alike))
    igraph.set_random_number_generator(random.Random(_SEED))  # noqa: S311 -- a seed for repeatable groups, not a secret
    try:
        found = igraph.Graph(n=len(alike), edges=np.stack([one, other], axis=1)).community_leiden(
            objective_function="modularity",
            weights=alike[one, other].tolist(),
            resolution=resolution,
            initial_membership=None if start is None else start.tolist(),
            n_iterations=_ITERATIONS,
        )
    finally:
        igraph.set_random_number_generator(random)  # igraph has one generator per process
    return np.array(found.membership, dtype=np.int64)


def _placed(alike: Matrix, old: Labels) -> Labels:
    """Return last week's groups with each new topic in the one it is most alike on average, else in its own."""
    labels = np.unique(np.where(old < 0, old.max() + 1 + np.arange(len(old)), old), return_inverse=True)[1]
    for row in np.flatnonzero(old < 0):
        others = np.arange(len(labels)) != row
        sizes = np.bincount(labels[others], minlength=labels.max() + 1)
        mean = np.bincount(labels[others], weights=alike[row, others], minlength=len(sizes)) / np.sqrt(
            np.maximum(sizes, 1)
        )
        if mean.max() > _FAINT:
            labels[row] = int(mean.argmax())
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _moved(alike: Matrix, labels: Labels, resolution: float) -> Labels:
    """Move single topics to the group where modularity gains clearly, the most discussed first."""
    labels, strength = labels.copy(), alike.sum(axis=1)
    for row in np.flatnonzero(strength):
        near = np.bincount(labels, weights=alike[row], minlength=len(labels))
        size = np.bincount(labels, weights=strength, minlength=len(labels))
        size[labels[row]] -= strength[row]
        gain = near - resolution * strength[row] * size / strength.sum()
        best = int(gain.argmax())
        if gain[best] - gain[labels[row]] > _MOVE * strength[row]:
            labels[row] = best
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _without_strangers(alike: Matrix, labels: Labels) -> Labels:
    """Put each topic that is mostly like topics of other groups in a group of its own."""
    same = labels[:, None] == labels[None, :]
    inside, total = (alike * same).sum(axis=1), alike.sum(axis=1)
    strange = (same.sum(axis=1) > 1) & (inside < _BELONGS * total)
    return np.unique(np.where(strange, labels.max() + 1 + np.arange(len(labels)), labels), return_inverse=True)[
        1
    ].astype(np.int64)


def _led(alike: Matrix, labels: Labels) -> Labels:
    """Return the leading topic of each: a larger one of its group that it nearly equals, else itself."""
    leader = np.arange(len(labels), dtype=np.int64)
    for row in range(1, len(labels)):
        likes = np.where((labels[:row] == labels[row]) & (leader[:row] == np.arange(row)), alike[row, :row], 0.0)
        if likes.max() >= _SAME:
            leader[row] = int(likes.argmax())
    return leader


def _modularity(alike: Matrix, labels: Labels, resolution: float) -> float:
    """Return the weighted modularity (Newman 2004; with a resolution, Reichardt and Bornholdt 2006)."""
    total = alike.sum()
    if not total:
        return 0.0
    strength = np.bincount(labels, weights=alike.sum(axis=1))
    inside = (alike * (labels[:, None] == labels[None, :])).sum()
    return float(inside / total - resolution * (strength**2).sum() / total**2)


def rand_index(one: Labels, other: Labels) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985) of two partitions; 1 for equal ones."""
    pairs: Callable[[Labels], float] = lambda counts: float((counts * (counts - 1) / 2).sum())  # noqa: E731
    _, joint = np.unique(one * (other.max() + 1) + other, return_counts=True)
    both, first, second = pairs(joint), pairs(np.bincount(one)), pairs(np.bincount(other))
    expected = first * second / max(pairs(np.array([len(one)])), 1.0)
    most = (first + second) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)
