"""Run the answer model: how probable it is that a sentence answers a question.

A transformer reads question, context and sentence as one sequence, as a cross-encoder (Nogueira and Cho 2019);
docs/answer-model.md is the model card. It runs in ONNX Runtime on one thread, a sentence at a time, so that results do
not depend on batching.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from kg.text.word_pieces import BEGIN, END, WordPieces

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FILES = ("answers.onnx", "answers.json")
_QUESTION, _ABOVE, _BEFORE, _SENTENCE = 48, 48, 24, 150  # longest parts, in pieces
_BEFORE_CHARACTERS = 60
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
        import onnxruntime  # noqa: PLC0415 -- takes 0.3 s, which other questions do not need

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        model, calibration = ((folder / name).read_bytes() for name in FILES)
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._pieces = WordPieces.shipped()
        self._factor, self._offset = json.loads(calibration)["calibration"]

    @staticmethod
    @cache
    def shipped() -> AnswerModel:
        """Return the model in `kg/query/ask/data`."""
        return AnswerModel(resources.files(__package__) / "data")

    def probability(self, question: str, reading: SentenceInContext) -> float:
        """Return the calibrated probability that a sentence answers a question."""
        numbers, parts = encoded(self._pieces, question, reading)
        words = self._pieces.embedded(numbers)
        (score,) = self._session.run(None, {"words": words[None], "parts": np.array([parts], dtype=np.int64)})[0]
        return 1 / (1 + exp(-(self._factor * float(score) + self._offset)))
