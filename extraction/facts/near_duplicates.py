"""Detect near-duplicate documents, so that copies of one report count as one source.

A signature is a MinHash (Broder 1997) of a text's character shingles; the index finds candidates by bands of equal
values (Indyk & Motwani 1998) and then compares whole signatures. Digits stay in the shingles: two weeklies from one
template with different figures are two reports.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from extraction.text.similarity import code_points, hash_grams, letters_of, mix

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Estimated Jaccard from which two documents are one source. On 699 real notes, the pairs above it are one report
# condensed twice (0.74, 0.61); the highest pair below it, 0.51, is two weekly issues with different figures.
SAME = 0.6

_PERMUTATIONS = 126
_ROWS = 3  # 42 bands of 3: a pair at 0.6 is missed once in 25,000 times, one at 0.1 is compared once in 25
_SHINGLE = 5  # characters
_BLOCK = 1 << 14  # shingles hashed at once, to fit in the processor cache
_MULTIPLIERS = mix(np.arange(1, _PERMUTATIONS + 1, dtype=np.uint64)) | np.uint64(1)
_OFFSETS = mix(np.arange(1001, _PERMUTATIONS + 1001, dtype=np.uint64))


def signature(text: str) -> bytes:
    """Return a text's MinHash: 126 little-endian 32-bit minima, or empty bytes for a text without letters.

    Pass the text that facts are read from: a disclaimer shared by all of a publisher's reports makes them similar.
    """
    shingles = _shingles(text)
    if not shingles.size:
        return b""
    blocks = [shingles[at : at + _BLOCK] for at in range(0, shingles.size, _BLOCK)]
    minima = [
        min((block * factor + offset).min() for block in blocks)
        for factor, offset in zip(_MULTIPLIERS, _OFFSETS, strict=True)
    ]
    return (np.array(minima) >> np.uint64(32)).astype("<u4").tobytes()


def similarity(a: bytes, b: bytes) -> float:
    """Estimate the share of shingles that two texts have in common (Jaccard), 0 … 1, standard error at most 0.045.

    Raises:
        ValueError: one of them is not a signature of this version.
    """
    if not a or not b:
        return 0.0
    return float(np.mean(_values(a) == _values(b)))


class DuplicateIndex:
    """Index of document signatures, queried for near-duplicates.

    A pair is found when the second of the two is queried, so the pairs do not depend on document order. The view
    chooses which copy counts as the source, by day.
    """

    def __init__(self, threshold: float = SAME) -> None:
        self._threshold = threshold
        self._signatures: dict[str, bytes] = {}
        self._bands: defaultdict[bytes, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._signatures)

    def add(self, document: str, signature: bytes) -> None:
        """Add a document, or replace its signature.

        Raises:
            ValueError: not a signature of this version.
        """
        self.remove(document)
        if not signature:
            return
        _values(signature)
        self._signatures[document] = signature
        for band in _bands(signature):
            self._bands[band].add(document)

    def remove(self, document: str) -> None:
        """Remove a document, if present."""
        signature = self._signatures.pop(document, b"")
        for band in _bands(signature):
            self._bands[band].discard(document)
            if not self._bands[band]:
                del self._bands[band]

    def copies(self, signature: bytes) -> list[str]:
        """Return the ids of near-duplicate documents, sorted."""
        candidates = sorted({document for band in _bands(signature) for document in self._bands.get(band, ())})
        return [
            document for document in candidates if similarity(signature, self._signatures[document]) >= self._threshold
        ]


def _shingles(text: str) -> NDArray[np.uint64]:
    """Hash every shingle of a text; repeated ones do not change the minima."""
    codes = code_points(letters_of(text.lower()))
    return hash_grams(codes, min(_SHINGLE, codes.size)) if codes.size else codes


def _values(signature: bytes) -> NDArray[np.uint32]:
    values = np.frombuffer(signature, dtype="<u4")
    if values.size != _PERMUTATIONS:
        raise ValueError(f"signature has {values.size} values, expected {_PERMUTATIONS}")
    return values


def _bands(signature: bytes) -> list[bytes]:
    """Return each band's values prefixed with its number, so that different bands never match."""
    width = _ROWS * 4
    return [at.to_bytes(2, "little") + signature[at : at + width] for at in range(0, len(signature), width)]
