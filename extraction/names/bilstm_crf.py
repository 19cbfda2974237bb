"""Run a BiLSTM-CRF tagger in NumPy, optimised for one core.

LSTM: Hochreiter & Schmidhuber 1997 with PyTorch's gate order (i, f, g, o); CRF: Lafferty et al. 2001, decoded by
Viterbi; the combination: Huang et al. 2015. Three optimisations: (1) sentences are packed by time step, longest first,
so there is no padding or masking and results do not depend on the batch; (2) both directions run in one stacked matrix
product, the reverse one in flipped order; (3) all gates share one tanh, since sigmoid(x) = (1 + tanh(x / 2)) / 2, with
the factors of 1/2 folded into the weights when the network is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Whole = NDArray[np.int64]

_DIRECTIONS = ("", "_reverse")
_GATES = 4
# i, f and o are sigmoids and take half of their input; g is a tanh and takes all of it
_GATE_SCALE = np.array([0.5, 0.5, 1.0, 0.5], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Packing:
    """Token layout of a batch: ordered by (time step, sentence), longest sentence first."""

    lengths: Whole
    active: Whole  # per step: number of sentences with a token
    starts: Whole  # per step: index of its first token
    flip: Whole  # token at position p -> token at position length - 1 - p of the same sentence

    @classmethod
    def of(cls, lengths: Whole) -> _Packing:
        active = np.array([np.count_nonzero(lengths > step) for step in range(int(lengths[0]))], dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(active)))
        sentence = np.concatenate([np.arange(count) for count in active])
        step = np.repeat(np.arange(active.size), active)
        return cls(lengths, active, starts, starts[lengths[sentence] - 1 - step] + sentence)


class BiLstmCrf:
    """Embedding, two bidirectional LSTM layers, a linear layer and a CRF, built from PyTorch arrays.

    Args:
        arrays: float32 `embedding.weight`, `lstm.*`, `fc.*` and `crf.*`, named as in torch.nn and pytorch-crf.

    Raises:
        KeyError: an array is missing.
        ValueError: shapes are inconsistent.
    """

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self.hidden = arrays["lstm.weight_hh_l0"].shape[1]
        first, bias = self._input(arrays, 0)
        # the first layer's input product depends only on the character: precompute it as (gate, dir, V, H)
        self._table = np.ascontiguousarray(arrays["embedding.weight"] @ first + bias[..., None, :])
        self._input_1, self._bias_1 = self._input(arrays, 1)
        self._input_1 *= np.float32(0.5)  # the lower layer outputs 2h
        self._recurrent = [self._hidden(arrays, layer) for layer in (0, 1)]
        self._emit = np.ascontiguousarray(arrays["fc.weight"].T) * np.float32(0.5)
        self._emit_bias = arrays["fc.bias"]
        self._transitions = np.ascontiguousarray(arrays["crf.transitions"])
        self._start, self._end = arrays["crf.start_transitions"], arrays["crf.end_transitions"]

    @property
    def vocabulary(self) -> int:
        """Number of character ids."""
        return int(self._table.shape[2])

    @property
    def tags(self) -> int:
        """Number of tags."""
        return int(self._start.size)

    def tag(self, sentences: Sequence[Whole]) -> list[Whole]:
        """Return the best tag of each character id of each non-empty sentence."""
        order = sorted(range(len(sentences)), key=lambda at: -len(sentences[at]))
        packing = _Packing.of(np.array([len(sentences[at]) for at in order], dtype=np.int64))
        tokens = np.concatenate(
            [np.array([sentences[at][step] for at in order[:count]]) for step, count in enumerate(packing.active)]
        )
        paths = self._viterbi(self._emissions(tokens, packing), packing)
        found: list[Whole] = [np.empty(0, dtype=np.int64)] * len(sentences)
        for row, at in enumerate(order):
            found[at] = paths[: packing.lengths[row], row]
        return found

    def _emissions(self, tokens: Whole, packing: _Packing) -> Floats:
        flip = packing.flip
        inputs = np.stack([self._table[:, 0, tokens], self._table[:, 1, tokens[flip]]], axis=1)
        below = self._layer(inputs, packing, self._recurrent[0])
        both = np.concatenate((below[0], below[1][flip]), axis=1)
        inputs = np.matmul(np.stack((both, both[flip])), self._input_1)
        inputs += self._bias_1[..., None, :]
        above = self._layer(inputs, packing, self._recurrent[1])
        emissions: Floats = np.concatenate((above[0], above[1][flip]), axis=1) @ self._emit + self._emit_bias
        return emissions

    def _layer(self, inputs: Floats, packing: _Packing, recurrent: Floats) -> Floats:
        """Run both directions of one layer over `inputs` (gate, dir, token, H); return 2h as (dir, token, H)."""
        batch_size = int(packing.active[0])
        out = np.empty(inputs.shape[1:], dtype=np.float32)
        cell = np.zeros((2, batch_size, self.hidden), dtype=np.float32)
        before = np.zeros((2, batch_size, self.hidden), dtype=np.float32)
        half = np.float32(0.5)
        for step, count in enumerate(packing.active.tolist()):
            begin = int(packing.starts[step])
            gates = np.matmul(before[:, :count], recurrent)
            gates += inputs[:, :, begin : begin + count]
            np.tanh(gates, out=gates)
            i, f, g, o = gates
            i += 1
            f += 1
            o += 1
            f *= cell[:, :count]
            i *= g
            f += i
            f *= half
            cell = f
            before = out[:, begin : begin + count]
            np.tanh(f, out=i)
            np.multiply(o, i, out=before)
        return out

    def _viterbi(self, emissions: Floats, packing: _Packing) -> Whole:
        """Return the best paths as (step, sentence).

        The forward pass stores only the maxima; predecessors are recomputed while backtracking, for one tag per
        sentence instead of all.
        """
        scores = emissions  # overwritten with the best score of a path that ends here
        scores[: packing.active[0]] += self._start
        spans = [slice(int(a), int(b)) for a, b in zip(packing.starts, packing.starts[1:], strict=False)]
        for step in range(1, len(spans)):
            count = int(packing.active[step])
            before = scores[spans[step - 1]][:count]
            best = (before[:, :, None] + self._transitions).max(axis=1)
            scores[spans[step]] += best
        paths = np.zeros((len(spans), int(packing.active[0])), dtype=np.int64)
        continuing = 0
        for step in range(len(spans) - 1, -1, -1):
            here, count = scores[spans[step]], int(packing.active[step])
            paths[step, continuing:count] = (here[continuing:] + self._end).argmax(axis=1)
            if continuing:
                follow = self._transitions.T[paths[step + 1, :continuing]]
                paths[step, :continuing] = (here[:continuing] + follow).argmax(axis=1)
            continuing = count
        return paths

    def _input(self, arrays: Mapping[str, Floats], layer: int) -> tuple[Floats, Floats]:
        """Return the input weights (gate, dir, in, H) and the sum of both biases (gate, dir, H)."""
        weights = np.stack([self._gates(arrays[f"lstm.weight_ih_l{layer}{way}"]) for way in _DIRECTIONS], axis=1)
        biases = np.stack(
            [
                self._gates((arrays[f"lstm.bias_ih_l{layer}{way}"] + arrays[f"lstm.bias_hh_l{layer}{way}"])[:, None])
                for way in _DIRECTIONS
            ],
            axis=1,
        )
        return weights, np.ascontiguousarray(biases[:, :, 0])

    def _hidden(self, arrays: Mapping[str, Floats], layer: int) -> Floats:
        """Return the recurrent weights (gate, dir, H, H), halved because states are kept as 2h."""
        ways = [self._gates(arrays[f"lstm.weight_hh_l{layer}{way}"]) for way in _DIRECTIONS]
        return np.ascontiguousarray(np.stack(ways, axis=1) * np.float32(0.5))

    def _gates(self, rows: Floats) -> Floats:
        """Split (4H, n) into gates, each transposed to (n, H) and scaled for the shared tanh."""
        split = rows.reshape(_GATES, self.hidden, -1).transpose(0, 2, 1) * _GATE_SCALE[:, None, None]
        gates: Floats = np.ascontiguousarray(split, dtype=np.float32)
        return gates
