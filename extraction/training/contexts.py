"""What the words of a pair mean where they stand: a kernel machine on a pretrained encoder's states of the names.

Kernel least squares (Saunders et al. 1998) with a Gaussian kernel on the mean states of both names, of what stands
between them and of the text. It hears meaning that n-grams of a small training set cannot, and knows fewer of its
turns: added to the linear machine's margins it helps, alone it is worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from extraction.training.encoder import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from extraction.training.encoder import Encoder
    from extraction.training.features import Pair

    Floats = NDArray[np.float32]

# By a fifth of FinRE's train part held out.
_RIDGE = 0.2
_SHARPNESS = 0.5
_MOST = 12_000  # pairs that are compared with: the solution takes their number squared in memory


@dataclass(frozen=True, slots=True)
class ContextMachine:
    """The pairs that others are compared with, (pairs, numbers), and what each says of the labels, (pairs, labels)."""

    known: Floats
    says: Floats
    bias: Floats
    middle: Floats
    spread: Floats

    @classmethod
    def fit(cls, encoder: Encoder, pairs: Sequence[Pair], wanted: Floats) -> ContextMachine:
        """Fit on pairs and their wanted margins, (pairs, labels), from -1 to 1."""
        from scipy.linalg import solve  # noqa: PLC0415 -- an extra

        step = -(-len(pairs) // _MOST)
        contexts, wanted = contexts_of(encoder, pairs[::step]), wanted[::step]
        middle, spread = contexts.mean(axis=0), contexts.std(axis=0) + np.float32(1e-6)
        known = _halved(_scaled(contexts, middle, spread)).astype(np.float32)
        kernel, bias = _kernel(known, known), wanted.mean(axis=0)
        kernel[np.diag_indices_from(kernel)] += _RIDGE
        says = solve(kernel, wanted - bias, assume_a="pos", overwrite_a=True)
        return cls(known, _halved(says).astype(np.float32), bias, middle, spread)

    def margins(self, encoder: Encoder, pairs: Sequence[Pair]) -> Floats:
        """Return (pairs, labels) margins."""
        new = _scaled(contexts_of(encoder, pairs), self.middle, self.spread)
        margins: Floats = _kernel(new, self.known) @ self.says + self.bias
        return margins

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `of` makes the machine from again; the two large ones lose nothing at half their width."""
        whole = {name: getattr(self, name) for name in self.__slots__}
        whole |= {name: _halved(whole[name]) for name in ("known", "says")}
        return {f"context_{name}": array for name, array in whole.items()}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> ContextMachine:
        """Make a machine of its arrays, whatever stands beside them."""
        return cls(**{name: arrays[f"context_{name}"].astype(np.float32) for name in cls.__slots__})


def contexts_of(encoder: Encoder, pairs: Sequence[Pair]) -> Floats:
    """Return of each pair the mean states of the first name, of the second, of what is between them and of the text."""
    texts = list(dict.fromkeys(pair.text for pair in pairs))
    asked: dict[str, list[int]] = {text: [] for text in texts}
    for row, pair in enumerate(pairs):
        asked[pair.text].append(row)
    contexts = np.zeros((len(pairs), 4 * WIDTH), dtype=np.float32)
    for at, states in encoder.states(texts):
        for row in asked[texts[at]]:
            first, second = pairs[row].places
            spans = (first, second, (first[1], second[0]), (0, len(texts[at])))
            contexts[row] = np.concatenate([states.mean(*span) for span in spans])
    return contexts


def _halved(numbers: NDArray[Any]) -> NDArray[np.float16]:
    return numbers.astype(np.float16)


def _scaled(contexts: Floats, middle: Floats, spread: Floats) -> Floats:
    scaled: Floats = (contexts - middle) / (spread * np.float32(contexts.shape[1] ** 0.5))
    return scaled


def _kernel(new: NDArray[Any], known: NDArray[Any]) -> Floats:
    """Return the Gaussian kernel of every new pair with every known one."""
    new, known = new.astype(np.float32, copy=False), known.astype(np.float32, copy=False)
    apart = (new * new).sum(axis=1)[:, None] + np.einsum("ij,ij->i", known, known) - 2 * new @ known.T
    kernel: Floats = np.exp(-_SHARPNESS * apart)
    return kernel
