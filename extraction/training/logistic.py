"""Logistic regressions on hashed features: rows, weights, and the log-odds of a row. Needs the extra `train`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def matrix(columns: Sequence[NDArray[np.int64]], width: int) -> Any:
    """Return a sparse matrix, (rows, width), with a one in each column of a row."""
    indptr = np.concatenate(([0], np.cumsum([each.size for each in columns])))
    indices = np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
    ones = np.ones(indices.size, dtype=np.float64)
    return import_module("scipy.sparse").csr_matrix((ones, indices, indptr), shape=(len(columns), width))


def weights(rows: Any, labels: NDArray[np.bool_], strength: float) -> NDArray[np.float32]:
    """Return the weights of a logistic regression, the intercept last; `strength` is its inverse regularisation."""
    linear = import_module("sklearn.linear_model")
    model = linear.LogisticRegression(C=strength, solver="liblinear", random_state=0).fit(rows, labels)
    return np.concatenate((model.coef_[0], model.intercept_)).astype(np.float32)


def log_odds(fitted: NDArray[np.float32], columns: NDArray[np.int64]) -> float:
    """Return the log-odds of a row of these columns."""
    return float(fitted[columns].sum(dtype=np.float64) + fitted[-1])
