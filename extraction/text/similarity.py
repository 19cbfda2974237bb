"""Measure sentence similarity by character n-grams, the baseline that needs no model.

Characters, not words: Chinese needs no segmenter for this, and two sentences on 碳酸锂价格 share the relevant n-grams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_GRAM_SIZES = (1, 2, 3)
_DIGITS = str.maketrans("123456789", "000000000")  # 12% and 34% are alike: the number is no evidence of the theme


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """Sparse TF-IDF rows of one document's sentences, of unit length; row i owns entries `starts[i] : starts[i + 1]`.

    Grams that occur in only one sentence count for its length but are not stored, since they match no other row.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float32]

    def cosine(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return the pairwise cosines of the sentences [start, stop), 0 … 1, shape (stop-start, stop-start).

        The diagonal counts only shared grams, so it is at most 1.
        """
        first, last = self.starts[start], self.starts[stop]
        columns = self.columns[first:last]
        present = np.zeros(columns.max(initial=-1) + 1, dtype=bool)
        present[columns] = True
        place = present.cumsum() - 1  # dense column of each gram in these sentences
        counts = np.diff(self.starts[start : stop + 1])
        dense = np.zeros((stop - start, np.count_nonzero(present)), dtype=np.float32)
        dense[np.repeat(np.arange(stop - start), counts), place[columns]] = self.weights[first:last]
        product = dense @ dense.T
        # rounded to four digits so that BLAS summation order does not change the chunks
        rounded: NDArray[np.float32] = np.round(product, 4)
        return rounded


def vectorise(texts: Sequence[str]) -> SentenceVectors:
    """Compute TF-IDF vectors over the character 1- to 3-grams of a document's sentences.

    Weights are (1 + log tf) · log((1 + n) / df) with the document's own sentences as the collection (Salton & Buckley
    1988), so the topic of the whole document links no two of its sentences.
    """
    rows, grams = _grams([fold(text) for text in texts])
    _, column = np.unique(grams, return_inverse=True)
    width = int(column.max()) + 1 if column.size else 1
    cells, counts = np.unique(rows * width + column, return_counts=True)
    rows, column = np.divmod(cells, width)
    spread = np.bincount(column, minlength=width)
    weights = (1 + np.log(counts)) * np.log((1 + len(texts)) / spread[column])
    norms = np.sqrt(np.bincount(rows, weights * weights, minlength=len(texts)))
    shared = spread[column] > 1
    rows, column = rows[shared], column[shared]
    unit = weights[shared] / np.maximum(norms[rows], 1e-12)
    starts = np.searchsorted(rows, np.arange(len(texts) + 1))
    return SentenceVectors(starts.astype(np.int64), column.astype(np.int64), unit.astype(np.float32))


def fold(text: str) -> str:
    """Reduce text to what distinguishes themes: lower-case letters, all digits alike, no punctuation."""
    return letters_of(text.lower()).translate(_DIGITS)


def letters_of(text: str) -> str:
    """Return a text without punctuation and blanks."""
    return "".join(filter(str.isalnum, text))


def code_points(text: str) -> NDArray[np.uint64]:
    """Return a text's code points."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)


def hash_grams(codes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Hash every run of `size` code points to 64 bits, machine-independent (SplitMix64 mixing, Steele 2014)."""
    count = max(codes.size - size + 1, 0)
    state = np.full(count, size, dtype=np.uint64)
    for place in range(size):
        state = (state ^ codes[place : place + count]) * np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(29)
    return mix(state)


def mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each 64-bit number (SplitMix64 finaliser)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = state ^ (state >> np.uint64(31))
    return mixed


def _grams(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the sentence index and hash of every gram; no gram spans two sentences."""
    codes = code_points("".join(texts))
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    rows, grams = [], []
    for size in _GRAM_SIZES:
        count = max(codes.size - size + 1, 0)
        whole = owner[:count] == owner[size - 1 : size - 1 + count]
        rows.append(owner[:count][whole])
        grams.append(hash_grams(codes, size)[whole])
    return np.concatenate(rows), np.concatenate(grams)
