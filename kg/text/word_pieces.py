"""Cut text into the word pieces of the shipped encoders, and look up their embeddings.

A unigram tokenizer (Kudo 2018) over the pieces of multilingual-e5-small (Wang et al. 2024, MIT) that financial text
uses; embeddings are 8-bit rows with a scale each. All shipped models start from them.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

    from numpy.typing import NDArray

FILES = ("words.npz", "words.spm")
BEGIN, END = 1, 2  # the numbers of the marks around a text
_MARKS = "，。：；！？（）、“”‘’《》【】「」『』"
_PLAIN = ",。:;!?()、\"\"''《》【】「」『』"
#: Replaces characters by their spelling in the encoder's vocabulary, one to one.
SPELLED = str.maketrans(_MARKS + "▸\t\n", _PLAIN + "»  ")


class WordPieces:
    """The tokenizer and the embeddings of a folder with `FILES`; thread-safe."""

    def __init__(self, folder: Traversable) -> None:
        import sentencepiece  # noqa: PLC0415 -- not needed by questions that no model reads

        self._tokenizer = sentencepiece.SentencePieceProcessor(model_proto=(folder / "words.spm").read_bytes())
        with np.load(folder / "words.npz") as arrays:  # type: ignore[arg-type]
            self._words, self._scales = arrays["words"], arrays["scales"].astype(np.float32)
            self._places: NDArray[np.float32] = arrays["places"].astype(np.float32)

    @property
    def width(self) -> int:
        """The number of components of an embedding."""
        return int(self._words.shape[1])

    def __len__(self) -> int:
        return len(self._words)

    @staticmethod
    @cache
    def shipped() -> WordPieces:
        """Return the pieces that the shipped models use."""
        return WordPieces(resources.files(__package__) / "data")

    def cut(self, text: str, longest: int) -> tuple[list[str], list[int]]:
        """Return the first pieces of a text and their numbers, without marks."""
        spelled = text.translate(SPELLED)
        pieces = self._tokenizer.encode(spelled, out_type=str)[:longest]
        return pieces, self.numbers(text, longest)

    def numbers(self, text: str, longest: int) -> list[int]:
        """Return the numbers of the first pieces of a text, without marks."""
        found: list[int] = self._tokenizer.encode(text.translate(SPELLED), out_type=int)
        return found[:longest]

    def plain(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Return the (pieces, width) embeddings of numbers, wherever they stand."""
        rows: NDArray[np.float32] = self._words[numbers].astype(np.float32) * self._scales[numbers][:, None]
        return rows

    def embedded(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Return the (pieces, width) embeddings of numbers at their places."""
        return self.plain(numbers) + self._places[: len(numbers)]
