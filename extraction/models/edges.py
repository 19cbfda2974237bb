"""Run the edge model: read relations with calibrated probabilities from units of text.

It runs in ONNX Runtime on one thread and computes in float32, so that results hardly depend on the processor
(`kg/text/inference.py`); scores are rounded before they are compared, and ties are broken by text order. Weights
and calibration are in `extraction/models/data`; docs/edge-model.md is the model card.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

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
from kg.text.inference import DIGITS, batches, padding_scores, session
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
# The ranks that candidates, and the best candidate of a unit, need for a second reading. Of 1,633 edges at 0.2 in the
# calibration notes 23 and 17 rank lower, of 364 at 0.65 none; without these the second reading takes half the time.
_FAINTEST, _FAINTEST_UNIT = -5.0, -3.5
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
    """The best pairs of spans of a unit, with their scores.

    `starts` and `ends` are the offsets of tokens, without the begin marker; `lower` is (tokens, width), the states of
    the lower layers, and `own` marks the tokens of the unit's own text; `scores` is (pointers, tokens, tokens), `pairs`
    (pairs, 4) first and last tokens; `groups`, `features` and `attributes` have a row for each pair.
    """

    starts: list[int]
    ends: list[int]
    lower: NDArray[np.float32]
    own: NDArray[np.int64]
    scores: NDArray[np.float32]
    pairs: NDArray[np.int64]
    groups: NDArray[np.int64]
    features: NDArray[np.float64]
    attributes: NDArray[np.float32]


class EdgeModel:
    """Reads edges from units; thread-safe."""

    def __init__(self, folder: Traversable) -> None:
        content = {name: (folder / name).read_bytes() for name in _FILES}
        self._pieces = WordPieces(folder) if (folder / WORDS[0]).is_file() else WordPieces.shipped()
        second = (folder / PAIRS).read_bytes() if (folder / PAIRS).is_file() else b""
        self.version = sha256(b"".join([*content.values(), second])).hexdigest()[:12]
        self._session = session(content["edges.onnx"])
        self._second: Any = session(second) if second else None
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
            raise KgError(f"edge_model: {name} has no {missing[0]}; name the folder of a trained model")
        return EdgeModel(folder)

    def read(self, units: Sequence[Unit], *, min_confidence: float) -> list[list[Edge]]:
        """Return the edges of each unit with at least this probability, most probable first."""
        return [
            self._edges(unit, found, min_confidence) if found else []
            for unit, found in zip(units, self.candidates(units), strict=True)
        ]

    def candidates(self, units: Sequence[Unit]) -> list[Candidates | None]:
        """Return the best pairs of spans of each unit, or None if it has none.

        Units of similar length run together: for short ones, loading the weights takes as long as multiplying them.
        """
        cut = {
            at: self._pieces.cut(unit.text, _LONGEST)
            for at, unit in enumerate(units)
            if len(unit.text) - unit.body >= _SHORTEST
        }
        out: list[Candidates | None] = [None] * len(units)
        for batch in batches({at: len(pieces) + 2 for at, (pieces, _) in cut.items()}):
            for at, found in zip(batch, self._read_first([(units[at], *cut[at]) for at in batch]), strict=True):
                out[at] = found
        if self._second:
            first = {at: found for at, found in enumerate(out) if found}
            for batch in batches({at: len(found.own) + 2 * len(found.pairs) for at, found in first.items()}):
                for at, again in zip(batch, self._read_again([first[at] for at in batch]), strict=True):
                    out[at] = again
        return out

    def _edges(self, unit: Unit, found: Candidates, min_confidence: float) -> list[Edge]:
        text, starts, ends = unit.text, found.starts, found.ends
        weights = self._calibration[found.groups]
        odds = (weights[:, :-1] * found.features).sum(axis=1) + weights[:, -1]
        probability = np.round(1 / (1 + np.exp(-odds)), DIGITS)
        chosen = _without_overlaps(
            found.pairs,
            found.groups,
            sorted(np.flatnonzero(probability >= min_confidence), key=lambda at: (-probability[at], *found.pairs[at])),
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
                probability=float(probability[at]),
                subject_scope=scope(*found.pairs[at, :2]),
                object_scope=scope(*found.pairs[at, 2:]),
                **_decoded(GROUP_NAMES[found.groups[at]], found.attributes[at]),
            )
            for at in chosen
        ]

    def _read_first(self, batch: Sequence[tuple[Unit, list[str], list[int]]]) -> list[Candidates | None]:
        """Run the network over units given with their pieces and the numbers of these."""
        lengths = [len(pieces) + 2 for _, pieces, _ in batch]
        spans = [token_spans(pieces) for _, pieces, _ in batch]
        words = np.zeros((len(batch), max(lengths), self._pieces.width), dtype=np.float32)
        own = np.zeros(words.shape[:2], dtype=np.int64)
        for row, ((unit, _, numbers), (starts, _)) in enumerate(zip(batch, spans, strict=True)):
            words[row, : lengths[row]] = self._pieces.embedded([BEGIN, *numbers, END])
            own[row, 1 : lengths[row] - 1] = np.array(starts) >= unit.body
        scores, states, lower = self._session.run(
            None, {"words": words, "own": own, "padding": padding_scores(words.shape[1], lengths)}
        )
        return [
            self._found(length, spans[row], own[row], scores[row], states[row], lower[row])
            for row, length in enumerate(lengths)
        ]

    def _found(
        self,
        length: int,
        spans: tuple[list[int], list[int]],
        own: NDArray[np.int64],
        scores: NDArray[np.float32],
        states: NDArray[np.float32],
        lower: NDArray[np.float32],
    ) -> Candidates | None:
        scores = np.round(scores[:, :length, :length], DIGITS)
        pairs, links = pairs_of(scores)
        if not len(pairs):
            return None
        attributes = np.round(self._attributes(pairs, states[:length]), DIGITS)
        features = features_of(links, attributes)
        rank = features[:, RANKED_BY].sum(axis=1)
        best = np.argsort(-rank, kind="stable")[:_MAX_CANDIDATES]
        if rank[best[0]] < _FAINTEST_UNIT:
            return None
        best = best[rank[best] >= _FAINTEST]
        attributes = attributes[best]
        low, high = ATTRIBUTES["group"]
        groups = attributes[:, low : high - 1].argmax(axis=1)
        return Candidates(
            *spans, lower[:length], own[:length], scores, pairs[best], groups, features[best], attributes
        )  # fmt: skip

    def _read_again(self, batch: Sequence[Candidates]) -> list[Candidates]:
        """Run the second network over the candidates of units."""
        lengths, counts = [len(found.own) for found in batch], [len(found.pairs) for found in batch]
        lower = np.zeros((len(batch), max(lengths), self._pieces.width), dtype=np.float32)
        own = np.zeros(lower.shape[:2], dtype=np.int64)
        ends = np.zeros((len(batch), max(counts), 4), dtype=np.int64)
        for row, found in enumerate(batch):
            lower[row, : lengths[row]], own[row, : lengths[row]] = found.lower, found.own
            ends[row, : counts[row]] = found.pairs
        marks = padding_scores(ends.shape[1], counts)
        hidden = np.concatenate([padding_scores(lower.shape[1], lengths), marks, marks], axis=3)
        (logits,) = self._second.run(None, {"lower": lower, "own": own, "ends": ends, "hidden": hidden})
        low, high = ATTRIBUTES["group"]
        out = []
        for found, padded in zip(batch, np.round(logits, DIGITS), strict=True):
            again = padded[: len(found.pairs)]
            out.append(
                structs.replace(
                    found,
                    features=np.hstack([found.features, margin_of(again)[:, None]]),
                    groups=again[:, low : high - 1].argmax(axis=1),
                    attributes=found.attributes + again,
                )
            )
        return out

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
        # Each token once: a unit has more pairs than tokens. The last part is the mean of the tokens between the ends.
        *parts, between = (states @ part for part in first.reshape(5, states.shape[1], -1))
        sums = np.concatenate([np.zeros_like(between[:1]), between.cumsum(axis=0)])
        low = np.minimum(ends[:, 1], ends[:, 3]) + 1
        high = np.maximum(np.maximum(ends[:, 0], ends[:, 2]), low)
        hidden = (sums[high] - sums[low]) / np.maximum(high - low, 1)[:, None]
        for part, tokens in zip(parts, ends.T, strict=True):
            hidden += part[tokens]
        offset = ends[:, 2] - ends[:, 0]
        farthest = len(distance) // 2
        steps = np.minimum((np.log2(np.abs(offset) + np.float32(1)) * 2).astype(np.int64), farthest)
        hidden = np.maximum(hidden + first_offset + distance[steps * np.sign(offset) + farthest], 0)
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
