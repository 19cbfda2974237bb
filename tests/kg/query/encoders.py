"""An encoder for tests: the pairs of characters of a text, so that near texts have near vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.llm.embeddings import Vectors


class PairEncoder:
    """Counts what it is asked; `breaks_after` that many passages it fails."""

    def __init__(self, dimension: int = 64, *, name: str = "pairs", breaks_after: int | None = None) -> None:
        self.name, self.dimension, self.encoded, self._breaks_after = name, dimension, 0, breaks_after

    def question(self, text: str) -> Vectors:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for at in range(len(text)):
            vector[crc32(text[at : at + 2].encode()) % self.dimension] += 1
        return vector / max(float(np.linalg.norm(vector)), 1.0)

    def passages(self, texts: Sequence[str]) -> Vectors:
        if self._breaks_after is not None and self.encoded + len(texts) > self._breaks_after:
            raise KeyboardInterrupt
        self.encoded += len(texts)
        return np.stack([self.question(text) for text in texts])

    def close(self) -> None:
        """Nothing to close."""
