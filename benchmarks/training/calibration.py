"""Fit the two logistic regressions besides the network: the probability of a candidate, and the kind of a name.

The first is fitted on notes that the network was not trained on.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.training.gold import fold
from extraction.models.edges import name_features
from extraction.models.scheme import GROUP_NAMES, GROUP_OF, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

KIND_SLOTS = 1 << 14
_MIN_OVERLAP = 0.6


def matched(found: Sequence[dict[str, Any]], gold: Sequence[dict[str, Any]]) -> list[bool]:
    """Return which of a note's candidates, best first, match an annotated edge; each edge matches at most one."""
    wanted = [(GROUP_OF[edge["r"]], fold(edge["s"]), fold(edge["o"])) for edge in gold if edge["r"] in GROUP_OF]
    out = []
    for each in found:
        at = next(
            (
                number
                for number, (group, subject, object_) in enumerate(wanted)
                if group == each["group"] and alike(each["subject"], subject) and alike(each["object"], object_)
            ),
            None,
        )
        out.append(at is not None)
        if at is not None:
            wanted.pop(at)
    return out


def alike(left: str, right: str) -> bool:
    """Whether two folded names may denote the same thing: one contains the other, or their character pairs overlap."""
    if not set(left) & set(right):
        return False
    short, long = sorted((left, right), key=len)
    if left == right or (short in long and len(short) > 1 and 2 * len(short) >= len(long)):
        return True
    if len(short) < 3:
        return False
    pairs = [Counter(name[at : at + 2] for at in range(len(name) - 1)) for name in (left, right)]
    return 2 * sum((pairs[0] & pairs[1]).values()) / sum(map(len, (left, right)), -2) >= _MIN_OVERLAP


def fit_probability(features: NDArray[np.float64], groups: Sequence[int], right: Sequence[bool]) -> list[list[float]]:
    """Fit probabilities of candidates; return one row of weights and an offset per group.

    Args:
        features: (candidates, features), the output of `edges.features_of`.
        groups: the group of each candidate.
        right: whether each candidate matches an annotated edge.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 -- the extra `train`

    each = np.eye(len(GROUP_NAMES))[list(groups)]
    model = LogisticRegression(C=1.0, max_iter=2000).fit(np.hstack([features, each]), right)
    weights, width = model.coef_[0], features.shape[1]
    return [
        [*map(float, weights[:width]), float(weights[width + at] + model.intercept_[0])]
        for at in range(len(GROUP_NAMES))
    ]


def fit_scale(probabilities: Sequence[float], right: Sequence[bool]) -> tuple[float, float]:
    """Return the factor and offset that turn the log-odds of predictions into calibrated ones (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 -- the extra `train`

    given = np.clip(np.array(probabilities), 1e-3, 1 - 1e-3)
    model = LogisticRegression(C=100.0).fit(np.log(given / (1 - given))[:, None], right)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def fit_kinds(names: Iterable[tuple[str, str]]) -> NDArray[np.float16]:
    """Fit the kind of a name on its characters; return (KIND_SLOTS, kinds) weights."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 -- the extra `train`
    from sklearn.linear_model import SGDClassifier  # noqa: PLC0415

    counted = sorted(Counter((name, kind) for name, kind in names if kind in KINDS and name).items())
    slots = [name_features(name, KIND_SLOTS) for (name, _), _ in counted]
    rows = np.repeat(np.arange(len(slots)), [len(each) for each in slots])
    columns = np.concatenate([np.array(each) for each in slots])
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(slots), KIND_SLOTS))
    labels = [KINDS.index(kind) for (_, kind), _ in counted]
    model = SGDClassifier(loss="log_loss", alpha=3e-6, max_iter=20, tol=None, random_state=1, average=True)
    model.fit(matrix, labels, sample_weight=[min(count, 5) for _, count in counted])
    weights = np.full((KIND_SLOTS, len(KINDS)), 0.0)
    weights[:, model.classes_] = model.coef_.T
    return weights.astype(np.float16)
