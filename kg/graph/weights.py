"""Weights of facts in traversal and themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kg.model import Modality

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from numpy.typing import NDArray

    from kg.model import Fact
    from kg.relations import Vocabulary

# The less certain the source, the lower the factor. Set by judgement, not measured: a beam search needs only the order.
MODALITY_FACTORS: Mapping[Modality, float] = {
    Modality.ASSERTED: 1.0,
    Modality.FORECAST: 0.7,
    Modality.PLANNED: 0.6,
    Modality.CONDITIONAL: 0.5,
    Modality.RUMOURED: 0.3,
}


def strength(fact: Fact, vocabulary: Vocabulary) -> float:
    """Return witnesses × confidence × relation weight × modality factor, the weight of a fresh fact."""
    weight = vocabulary[fact.relation].weight
    return fact.witnesses * fact.confidence * weight * MODALITY_FACTORS[fact.modality]


def fresh_until(fact: Fact) -> date:
    """Return the day from which a fact fades: its last publication or the end of its stated period, if later."""
    last = fact.last_published_on
    end = fact.valid.end if fact.valid else None
    return last if end is None else max(last, end)


def faded(
    strengths: NDArray[np.float64], age: NDArray[np.integer], relation: NDArray[np.int16], *, vocabulary: Vocabulary
) -> NDArray[np.float32]:
    """Return strengths after exponential decay by the half-life of their relation.

    Args:
        strengths: weights of fresh facts, shape (n,).
        age: days since fading began, shape (n,); at most 0 when it has not begun.
        relation: positions in the vocabulary, shape (n,).
        vocabulary: provides the half-lives.
    """
    half_lives = np.array([item.half_life for item in vocabulary.relations.values()], dtype=np.float64)
    weights: NDArray[np.float32] = (strengths * 0.5 ** (np.maximum(age, 0) / half_lives[relation])).astype(np.float32)
    return weights
