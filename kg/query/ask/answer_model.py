"""Run the answer model: how probable it is that a sentence answers a question.

A transformer reads question, context and sentence as one sequence, as a cross-encoder (Nogueira and Cho 2019);
docs/answer-model.md is the model card. It runs in ONNX Runtime on one thread and in float32 (`kg/text/inference.py`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from kg.text.inference import DIGITS, batches, padding_scores, session
from kg.text.word_pieces import BEGIN, END, WordPieces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

FILES = ("answers.onnx", "answers.json")
_QUESTION, _ABOVE, _BEFORE, _SENTENCE = 48, 48, 24, 150  # longest parts, in pieces
_BEFORE_CHARACTERS = 60
PADDED = -1  # the part of a piece that only fills a batch
_HEADINGS = 2  # the innermost ones


@dataclass(frozen=True, slots=True)
class SentenceInContext:
    """A sentence as the model reads it: `above` are the document's title and the sentence's headings, outermost first.

    `label` is what it stands under in a list, `before` the sentence before it.
    """

    sentence: str
    above: tuple[str, ...]
    label: str = ""
    before: str = ""


def encoded(pieces: WordPieces, question: str, reading: SentenceInContext) -> tuple[list[int], list[int]]:
    """Return a pair as numbers of pieces, and the part of each: question 0, context 1, sentence 2."""

    def cut(text: str, longest: int) -> list[int]:
        return pieces.cut(text, longest)[1]

    title, *headings = reading.above
    context = " ▸ ".join(dict.fromkeys([title, *[each for each in headings if each != title][-_HEADINGS:]]))
    if reading.label and reading.label not in context:
        context = f"{context} ▸ {reading.label}"
    around = cut(context, _ABOVE)
    if reading.before and reading.before.rstrip("：:") != reading.label:
        around += [END, *cut(reading.before[-_BEFORE_CHARACTERS:], _BEFORE)]
    asked = [BEGIN, *cut(question, _QUESTION), END]
    own = [*cut(reading.sentence, _SENTENCE), END]
    return [*asked, *around, END, *own], [0] * len(asked) + [1] * (len(around) + 1) + [2] * len(own)


class AnswerModel:
    """Scores sentences; thread-safe."""

    def __init__(self, folder: Traversable) -> None:
        model, calibration = ((folder / name).read_bytes() for name in FILES)
        self._session = session(model)
        self._pieces = WordPieces.shipped()
        self._factor, self._offset = json.loads(calibration)["calibration"]

    @staticmethod
    @cache
    def shipped() -> AnswerModel:
        """Return the model in `kg/query/ask/data`."""
        return AnswerModel(resources.files(__package__) / "data")

    def probabilities(self, question: str, readings: Sequence[SentenceInContext]) -> list[float]:
        """Return the calibrated probability of each sentence that it answers a question."""
        pairs = {at: encoded(self._pieces, question, reading) for at, reading in enumerate(readings)}
        out = [0.0] * len(readings)
        for batch in batches({at: len(numbers) for at, (numbers, _) in pairs.items()}):
            lengths = [len(pairs[at][0]) for at in batch]
            words = np.zeros((len(batch), max(lengths), self._pieces.width), dtype=np.float32)
            parts = np.full(words.shape[:2], PADDED)
            for row, at in enumerate(batch):
                numbers, part = pairs[at]
                words[row, : len(numbers)], parts[row, : len(numbers)] = self._pieces.embedded(numbers), part
            given = {"words": words, "parts": parts, "padding": padding_scores(words.shape[1], lengths)}
            for at, score in zip(batch, self._session.run(None, given)[0], strict=True):
                odds = self._factor * round(float(score), DIGITS) + self._offset
                out[at] = round(1 / (1 + exp(-odds)), DIGITS)
        return out
