"""Run the edge model: read relations with calibrated probabilities from a unit of text.

It runs in ONNX Runtime on one thread, one unit at a time, so that results do not depend on batching. Weights and
calibration are in `extraction/models/data`; docs/edge-model.md is the model card.
"""

from __future__ import annotations

import json
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from extraction.models.decoding import pairs_of, scope_of
from extraction.models.scheme import (
    ATTRIBUTES,
    DIRECTIONS,
    GROUP_NAMES,
    GROUPS,
    KINDS,
    MODALITIES,
    RELATIONS,
)
from kg.errors import KgError
from kg.model import Kind, Modality
from kg.text.word_pieces import BEGIN, END, WordPieces
from kg.text.word_pieces import FILES as WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable

    from numpy.typing import NDArray

    from extraction.models.units import Unit

_FILES = ("edges.onnx", "edges.npz", "edges.json")
PAIRS = "pairs.onnx"  # the second reading, optional
_MAX_CANDIDATES = 40  # of a unit
FEATURES = 6  # of a candidate; the second reading adds one
RANKED_BY = [2, 5]  # columns of `features_of` whose sum ranks candidates: the weaker link and the margin
_LONGEST = 300  # tokens of a unit
_BLANKS = frozenset(" \t\n")
_SHORTEST = 6  # characters; shorter units contain no relation
# What the contexts of a name in a document weigh against its characters. On the calibration notes 14.8 % of the kinds
# are wrong by characters, 11.0 % by contexts, 9.6 % by both; 40 gives 9.3 %, but lets documents disagree more often.
_CONTEXT = 30.0
_KINDS = tuple(map(Kind, KINDS))
_RELATIONS_OF = {group: tuple(map(RELATIONS.index, relations)) for group, relations in GROUPS.items()}

Span = tuple[int, int]


class Edge(Struct, frozen=True):
    """A relation between two spans of a unit's text.

    A scope is the first part of a name if it is separate from the rest; `probability` is calibrated: of edges at 0.8,
    about 80 % are right.
    """

    subject: Span
    object: Span
    relation: str
    probability: float
    cause: str = "none"
    effect: str = "none"
    modality: Modality = Modality.ASSERTED
    negative: bool = False
    subject_kind: Kind = Kind.PRODUCT
    object_kind: Kind = Kind.PRODUCT
    subject_scope: Span | None = None
    object_scope: Span | None = None


class Candidates(Struct, frozen=True):
    """The best pairs of spans of a unit, with what the model says about them.

    `starts` and `ends` are the offsets of tokens, without the begin marker; `lower` is (1, tokens, width), the states
    of the lower layers, which older models do not give; `scores` is (pointers, tokens, tokens), `pairs` (pairs, 4)
    first and last tokens; `groups`, `features` and `attributes` have a row for each pair.
    """

    starts: list[int]
    ends: list[int]
    lower: NDArray[np.float32] | None
    scores: NDArray[np.float32]
    pairs: NDArray[np.int64]
    groups: NDArray[np.int64]
    features: NDArray[np.float64]
    attributes: NDArray[np.float32]


class EdgeModel:
    """Reads edges from units; thread-safe."""

    def __init__(self, folder: Traversable) -> None:
        import onnxruntime  # noqa: PLC0415 -- takes 0.3 s, which queries do not need

        content = {name: (folder / name).read_bytes() for name in _FILES}
        self._pieces = WordPieces(folder) if (folder / WORDS[0]).is_file() else WordPieces.shipped()
        second = (folder / PAIRS).read_bytes() if (folder / PAIRS).is_file() else b""
        self.version = sha256(b"".join([*content.values(), second])).hexdigest()[:12]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        load = partial(onnxruntime.InferenceSession, sess_options=options, providers=["CPUExecutionProvider"])
        self._session, self._second = load(content["edges.onnx"]), load(second) if second else None
        with np.load(folder / "edges.npz") as arrays:  # type: ignore[arg-type]
            self._pair = [arrays[name].astype(np.float32) for name in ("w1", "b1", "distance", "w2", "b2")]
            self._kind_weights = arrays["kinds"].astype(np.float32)
        settings: dict[str, Any] = json.loads(content["edges.json"])
        self._calibration = np.array(settings["calibration"], dtype=np.float64)  # (groups, features + 1)
        if self._calibration.shape != (len(GROUP_NAMES), FEATURES + bool(second) + 1):
            raise KgError(f"edge_model: edges.json and {PAIRS} in {folder} are of different models; train it again")

    @staticmethod
    @cache
    def named(name: str) -> EdgeModel | None:
        """Return the model for a setting: `shipped`, `off` (None), or the folder of a trained model.

        Raises:
            KgError: the folder does not contain a model.
        """
        if name == "off":
            return None
        folder: Traversable = resources.files(__package__) / "data" if name == "shipped" else Path(name)
        if missing := [file for file in _FILES if not (folder / file).is_file()]:
            raise KgError(f"edge_model: {name} has no {missing[0]}; name a folder that `liantu train edges` wrote")
        return EdgeModel(folder)

    def read(self, unit: Unit, *, min_confidence: float) -> list[Edge]:
        """Return the edges of a unit with at least this probability, most probable first."""
        found = self.candidates(unit)
        if found is None:
            return []
        text, starts, ends = unit.text, found.starts, found.ends
        groups, attributes, features = found.groups, found.attributes, found.features
        weights = self._calibration[groups]
        probability = 1 / (1 + np.exp(-((weights[:, :-1] * features).sum(axis=1) + weights[:, -1])))
        chosen = _without_overlaps(
            found.pairs,
            groups,
            sorted(np.flatnonzero(probability >= min_confidence), key=lambda at: (-probability[at], at)),
        )

        def place(first: int, last: int) -> Span:
            start = starts[first - 1]
            return start + (text[start : start + 1] in _BLANKS), ends[last - 1]

        def scope(first: int, last: int) -> Span | None:
            span = scope_of(found.scores, (first, last))
            return place(*span) if span else None

        return [
            Edge(
                place(*found.pairs[at, :2]),
                place(*found.pairs[at, 2:]),
                probability=round(float(probability[at]), 3),
                subject_scope=scope(*found.pairs[at, :2]),
                object_scope=scope(*found.pairs[at, 2:]),
                **_decoded(GROUP_NAMES[groups[at]], attributes[at]),
            )
            for at in chosen
        ]

    def candidates(self, unit: Unit) -> Candidates | None:
        """Return the best pairs of spans of a unit, or None if it has none."""
        if len(unit.text) - unit.body < _SHORTEST:
            return None
        pieces, numbers = self._pieces.cut(unit.text, _LONGEST)
        starts, ends = token_spans(pieces)
        own = np.array([[0, *(start >= unit.body for start in starts), 0]], dtype=np.int64)
        words = self._pieces.embedded([BEGIN, *numbers, END])
        scores, states, *lower = self._session.run(None, {"words": words[None], "own": own})
        pairs, spans = pairs_of(scores[0])
        if not len(pairs):
            return None
        attributes = self._attributes(pairs, states[0])
        features = features_of(spans, attributes)
        best = np.argsort(-features[:, RANKED_BY].sum(axis=1), kind="stable")[:_MAX_CANDIDATES]
        pairs, features, attributes = pairs[best], features[best], attributes[best]
        low, high = ATTRIBUTES["group"]
        groups = attributes[:, low : high - 1].argmax(axis=1)
        if self._second:
            again = self._second.run(None, {"lower": lower[0], "own": own, "ends": pairs[None]})[0][0]
            features = np.hstack([features, margin_of(again)[:, None]])
            groups = again[:, low : high - 1].argmax(axis=1)
            attributes = attributes + again
        return Candidates(starts, ends, lower[0] if lower else None, scores[0], pairs, groups, features, attributes)

    def kind_of(self, name: str, proposed: Mapping[Kind, float]) -> list[Kind]:
        """Return the kinds of a name, likeliest first.

        Args:
            name: its characters weigh most where they are clear, so that documents agree.
            proposed: the kinds that a document's contexts ask for, with their weights.
        """
        scores = np.sum([self._kind_weights[slot] for slot in name_features(name, len(self._kind_weights))], axis=0)
        total = sum(proposed.values()) or 1.0
        scores = scores + [_CONTEXT * proposed[kind] / total if kind in proposed else 0.0 for kind in _KINDS]
        return [_KINDS[at] for at in np.argsort(-scores, kind="stable")]

    def _attributes(self, ends: NDArray[np.int64], states: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return (pairs, attributes) as `EdgeNetwork.pair_attributes` does."""
        first, first_offset, distance, second, second_offset = self._pair
        sums = np.concatenate([np.zeros_like(states[:1]), states.cumsum(axis=0)])
        low = np.minimum(ends[:, 1], ends[:, 3]) + 1
        high = np.maximum(np.maximum(ends[:, 0], ends[:, 2]), low)
        between = (sums[high] - sums[low]) / np.maximum(high - low, 1)[:, None]
        seen = np.hstack([states[ends].reshape(len(ends), -1), between])
        offset = ends[:, 2] - ends[:, 0]
        farthest = len(distance) // 2
        steps = np.minimum((np.log2(np.abs(offset) + np.float32(1)) * 2).astype(np.int64), farthest)
        hidden = np.maximum(seen @ first + first_offset + distance[steps * np.sign(offset) + farthest], 0)
        attributes: NDArray[np.float32] = hidden @ second + second_offset
        return attributes


def features_of(spans: NDArray[np.float64], attributes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the (pairs, features) that calibration weighs.

    They are the link's two scores, their minimum, the span scores up to 2, and the margin of the best group over none.
    """
    subject, object_, first, last = spans.T
    margin = margin_of(attributes)
    return np.stack(
        [first, last, np.minimum(first, last), np.minimum(subject, 2), np.minimum(object_, 2), margin], axis=1
    )


def margin_of(attributes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the margin of each pair's best group over none."""
    low, high = ATTRIBUTES["group"]
    margin: NDArray[np.float32] = attributes[:, low : high - 1].max(axis=1) - attributes[:, high - 1]
    return margin


def token_spans(pieces: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the offsets where the pieces of a text start and end; the first piece begins with a dummy space."""
    starts, ends, at = [], [], -1
    for piece in pieces:
        starts.append(max(0, at))
        at += len(piece)
        ends.append(max(0, at))
    return starts, ends


def name_features(name: str, slots: int) -> list[int]:
    """Return the hashed slots of a name's character n-grams; final n-grams have slots of their own."""
    name = f"^{name[-12:]}$"
    grams = {name[at : at + size] for size in (1, 2, 3) for at in range(len(name) - size + 1)}
    grams |= {f"${name[-size - 1 : -1]}" for size in (1, 2, 3)}
    return sorted({int.from_bytes(sha256(gram.encode()).digest()[:4], "big") % slots for gram in grams})


def _without_overlaps(ends: NDArray[np.int64], groups: NDArray[np.int64], order: Sequence[int]) -> list[int]:
    """Of pairs of one group that overlap at both ends, keep the most probable: 协鑫, without 协鑫、通威."""
    kept: list[int] = []
    for at in order:
        low, high = ends[at, ::2], ends[at, 1::2]
        if not any(
            groups[at] == groups[k] and (low <= ends[k, 1::2]).all() and (ends[k, ::2] <= high).all() for k in kept
        ):
            kept.append(at)
    return kept


def _decoded(group: str, logits: NDArray[np.float32]) -> dict[str, Any]:
    def best(name: str, among: Sequence[int] | None = None) -> int:
        low, high = ATTRIBUTES[name]
        return max(among if among is not None else range(high - low), key=lambda at: float(logits[low + at]))

    return {
        "relation": RELATIONS[best("relation", _RELATIONS_OF[group])],
        "cause": DIRECTIONS[best("cause")],
        "effect": DIRECTIONS[best("effect")],
        "modality": Modality(MODALITIES[best("modality")]),
        "negative": bool(best("negative")),
        "subject_kind": Kind(KINDS[best("subject_kind")]),
        "object_kind": Kind(KINDS[best("object_kind")]),
    }
