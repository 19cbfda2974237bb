"""Decode the scores of a unit into pairs of spans that may be joined by an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from extraction.models.scheme import LINKS, ROLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_SPAN_FLOOR, _FLOOR = -4.0, -4.0  # minimum scores of candidate spans and pairs
_MAX_SPANS = 48
_LONGEST_SPAN = 24  # tokens
_SUBJECT, _OBJECT, _SCOPE = range(len(ROLES))
_EDGE, _SCOPED = range(len(LINKS))
_SPAN_WEIGHT = 0.25


def pairs_of(scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the candidate pairs of a unit.

    Args:
        scores: (pointers, tokens, tokens), the output of the network.

    Returns:
        (pairs, 4) first and last token of subject and object, and (pairs, 4) scores of subject, object, first tokens
        and last tokens; scores above 0 are predictions.
    """
    subjects, objects = _spans(scores[_SUBJECT], _SPAN_FLOOR), _spans(scores[_OBJECT], _SPAN_FLOOR)
    first = scores[len(ROLES) + _EDGE][np.ix_(subjects[:, 0], objects[:, 0])]
    last = scores[len(ROLES) + len(LINKS) + _EDGE][np.ix_(subjects[:, 1], objects[:, 1])]
    alone = [scores[role][spans[:, 0], spans[:, 1]] for role, spans in ((_SUBJECT, subjects), (_OBJECT, objects))]
    apart = (subjects[:, None, 1] < objects[None, :, 0]) | (objects[None, :, 1] < subjects[:, None, 0])
    short = _SPAN_WEIGHT * (np.minimum(alone[0], 0)[:, None] + np.minimum(alone[1], 0)[None])
    left, right = np.nonzero(apart & ((first + last) / 2 + short > _FLOOR))
    ends = np.hstack([subjects[left], objects[right]])
    features = np.stack([alone[0][left], alone[1][right], first[left, right], last[left, right]], axis=1)
    return ends, features.astype(np.float64)


def scope_of(scores: Floats, core: tuple[int, int]) -> tuple[int, int] | None:
    """Return the span of the scope linked to a name's core and separate from it, or None."""
    scopes = _spans(scores[_SCOPE], 0.0)
    if not len(scopes):
        return None
    heads, tails = scores[len(ROLES) + _SCOPED], scores[len(ROLES) + len(LINKS) + _SCOPED]
    value = np.minimum(heads[scopes[:, 0], core[0]], tails[scopes[:, 1], core[1]])
    value = np.where((scopes[:, 1] < core[0]) | (scopes[:, 0] > core[1]), value, -1)
    best = int(value.argmax())
    return (int(scopes[best, 0]), int(scopes[best, 1])) if value[best] > 0 else None


def _spans(scores: Floats, floor: float) -> NDArray[np.int64]:
    """Return (first, last) tokens of the best spans above a floor, best first, without the begin and end markers."""
    tokens = scores.shape[0]
    position = np.arange(tokens)
    distance = position[None] - position[:, None]
    fits = (distance >= 0) & (distance < _LONGEST_SPAN) & (position > 0)[:, None] & (position < tokens - 1)[None]
    found = np.argwhere(fits & (scores > floor))
    order = np.argsort(-scores[found[:, 0], found[:, 1]], kind="stable")[:_MAX_SPANS]
    return found[order]
