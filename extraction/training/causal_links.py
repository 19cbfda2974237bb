"""Which pair of types a causal text tells: its links compete with one another, and with there being none.

A conditional logit (McFadden 1974) over the pairs of a text. A text is labelled with a pair of types, not with its
place: the score of a pair is the log-sum-exp over its links (latent variables as in Quattoni et al. 2007). A logistic
loss on each pair alone is added, so that a score says as well how likely a pair is in a text of its own.
Fitted by L-BFGS; needs the extra `train`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from extraction.training.causal_features import WIDTH, Candidates, pair_of
from extraction.training.logistic import log_odds, matrix
from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from extraction.patterns.move_pairs import Link
    from extraction.training.causal_examples import CausalExample, Pair

    Numbers = NDArray[np.float64]

# By a fifth of the train part of CCKS 2021 held out.
_RIDGE = 25.0
_ALONE = 0.3  # the weight of the logistic loss
_ROUNDS = 100
_SEEN = 2  # a feature of one link alone is none
_RARE = -2.0  # log-odds that a pair is told, to begin from


@dataclass(frozen=True, slots=True)
class Weighed:
    """A pair of a text, its likeliest link, its log-odds alone, and its share among the pairs and none, 0 … 1."""

    pair: Pair
    link: Link
    log_odds: float
    share: float


@dataclass(frozen=True, slots=True)
class LinkModel:
    """Weighs the pairs of a text; `weights` are those of the columns, then the intercept; `none` the score of none."""

    weights: NDArray[np.float32]
    none: float

    @classmethod
    def fit(cls, examples: Sequence[CausalExample]) -> LinkModel:
        """Fit a model.

        Raises:
            KgError: the reader finds no labelled pair in the texts, or no other.
        """
        task = _Task.of(examples)
        if not task.shares.any() or (task.shares > 0).all():
            raise KgError(
                "no causal pair of the labelled texts can be learned: are their types Liantu's kinds of factor?"
            )
        start = np.zeros(task.rows.shape[1] + 2)
        start[-2] = _RARE
        minimize = import_module("scipy.optimize").minimize
        found = minimize(task.loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS}).x
        weights = np.zeros(WIDTH + 1, dtype=np.float32)
        weights[task.columns] = found[:-2]
        weights[-1] = found[-2]
        return cls(weights, float(np.float32(found[-1])))

    def weigh(self, text: str) -> list[Weighed]:
        """Return the pairs of a text, the likeliest first."""
        candidates = Candidates.of(text)
        scores: dict[Pair, list[tuple[float, int]]] = {}
        for at, columns in enumerate(candidates.columns()):
            scores.setdefault(pair_of(candidates.links[at]), []).append((log_odds(self.weights, columns), at))
        sums = {pair: float(np.logaddexp.reduce([score for score, _ in each])) for pair, each in scores.items()}
        total = float(np.logaddexp.reduce([*sums.values(), self.none]))
        weighed = [
            Weighed(
                pair,
                candidates.links[-max((score, -at) for score, at in each)[1]],
                sums[pair],
                np.exp(sums[pair] - total),
            )
            for pair, each in scores.items()
        ]
        return sorted(weighed, key=lambda each: (-each.log_odds, each.pair))


@dataclass(frozen=True, slots=True)
class _Task:
    """What is minimised: links (rows) of pairs, pairs of texts; `shares` of a text's labels that are a pair."""

    columns: NDArray[np.int64]
    rows: Any
    columns_first: Any  # the rows transposed, for the gradient
    pair_of_link: NDArray[np.int64]
    text_of_pair: NDArray[np.int64]
    shares: Numbers

    @classmethod
    def of(cls, examples: Sequence[CausalExample]) -> _Task:
        columns: list[NDArray[np.int64]] = []
        links: list[int] = []
        numbers: dict[tuple[int, Pair], int] = {}
        texts: dict[int, int] = {}
        for at, example in enumerate(examples):
            candidates = Candidates.of(example.text)
            columns += candidates.columns()
            links += [numbers.setdefault((at, pair_of(link)), len(numbers)) for link in candidates.links]
            texts |= {at: len(texts)} if candidates.links else {}
        rows = matrix(columns, WIDTH)
        kept = np.flatnonzero(np.bincount(rows.indices, minlength=WIDTH) >= _SEEN)
        rows = rows[:, kept].tocsr()
        shares = [(pair in examples[at].pairs) / max(1, len(examples[at].pairs)) for at, pair in numbers]
        return cls(
            kept,
            rows,
            rows.T.tocsr(),
            np.array(links, dtype=np.int64),
            np.array([texts[at] for at, _ in numbers], dtype=np.int64),
            np.array(shares, dtype=np.float64),
        )

    def loss(self, point: Numbers) -> tuple[float, Numbers]:
        """Return the loss and its gradient at (weights of the columns, intercept, score of none)."""
        weights, intercept, none = point[:-2], point[-2], point[-1]
        scores = self.rows @ weights + intercept
        pairs = _log_sums(scores, self.pair_of_link, self.shares.size)
        texts = int(self.text_of_pair[-1]) + 1
        total = np.logaddexp(_log_sums(pairs, self.text_of_pair, texts), none)
        told, untold = np.exp(pairs - total[self.text_of_pair]), np.exp(none - total)
        no_share = 1 - np.bincount(self.text_of_pair, self.shares, texts)
        among = total.sum() - self.shares @ pairs - no_share.sum() * none
        gold = self.shares > 0
        alone = np.logaddexp(0, pairs).sum() - pairs[gold].sum()
        of_pairs = told - self.shares + _ALONE * (1 / (1 + np.exp(-pairs)) - gold)
        of_links = of_pairs[self.pair_of_link] * np.exp(scores - pairs[self.pair_of_link])
        gradient = np.concatenate(
            [self.columns_first @ of_links + _RIDGE * weights, [of_links.sum()], [(untold - no_share).sum()]]
        )
        return float(among + _ALONE * alone + _RIDGE / 2 * (weights @ weights)), gradient


def _log_sums(scores: Numbers, groups: NDArray[np.int64], count: int) -> Numbers:
    """Return the log-sum-exp of the scores of each group; every group has one."""
    most = np.full(count, -np.inf)
    np.maximum.at(most, groups, scores)
    sums: Numbers = most + np.log(np.bincount(groups, np.exp(scores - most[groups]), count))
    return sums
