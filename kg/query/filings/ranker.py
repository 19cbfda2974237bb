"""The page scorer: features of a page → how likely the page answers, by weights that ship with Liantu.

A linear part and a small hidden layer, trained with a softmax over the pages of a filing
(`python -m benchmarks.filings.train`; ListNet, Cao et al. 2007).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.query.filings.features import FEATURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PageRanker:
    """Weights of the scorer; rows of `hidden` and entries of `linear` are in the order of `FEATURES`."""

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    linear: NDArray[np.float32]
    hidden: NDArray[np.float32]
    bias: NDArray[np.float32]
    out: NDArray[np.float32]

    def score(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the score of each page; only differences within one question mean anything."""
        plain = np.clip((features - self.mean) / self.scale, -5, 5)
        inner = np.maximum(plain @ self.hidden + self.bias, 0)
        scores: NDArray[np.float32] = plain @ self.linear + inner @ self.out
        return scores

    def to_json(self) -> dict[str, Any]:
        """Return the weights with the names of their features."""
        rounded = {name: np.round(getattr(self, name), 4).tolist() for name in self.__slots__}
        return {"features": list(FEATURES), **rounded}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PageRanker:
        """Read weights.

        Raises:
            ValueError: when they were trained for other features.
        """
        if tuple(data["features"]) != FEATURES:
            raise ValueError("the weights of the page scorer are those of other features; train it again")
        return cls(*(np.array(data[name], np.float32) for name in cls.__slots__))

    @classmethod
    @cache
    def shipped(cls) -> PageRanker:
        """Return the weights that ship with Liantu."""
        return cls.from_json(json.loads(resources.files(__package__).joinpath("ranker.json").read_text("utf-8")))
