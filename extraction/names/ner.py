"""Tag names in sentences with a BiLSTM-CRF network, offline.

The weights and the vocabulary in `ner_weights.npz` are those of cutword 0.1.1 (Apache-2.0,
https://github.com/liwenju0/cutword), unchanged; cutword itself needs torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from extraction.names.bilstm_crf import BiLstmCrf
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_BATCH = 128
_MAX_CHARS = 256  # characters per piece; the network was trained on much shorter sentences

_TOKEN = re.compile(r"[a-z]+|[0-9]+|\S")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_NARROW = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}

# The 17 labels, as observed on real research notes. Used: ORG (companies, but also 车企 and 医药行业), PERSON, LOC,
# MANUFACTURE (goods, parts, models), MATTER (materials, metals, energy), FOOD, INCIDENT (meetings, accidents).
# Unused (mixed or noisy): TIME (extraction.dating is more accurate), TERMINOLOGY (fields of technology), COMMERCIAL
# (brands, currencies, car classes), BASE (diseases, posts), AFFAIR (any activity), CREATION (films, games, some laws),
# CREATURE, PROPERTY, PC, PHYSIOLOGY.
KIND_OF_LABEL: Mapping[str, Kind] = {
    "ORG": Kind.COMPANY,
    "PERSON": Kind.PERSON,
    "LOC": Kind.REGION,
    "MANUFACTURE": Kind.PRODUCT,
    "MATTER": Kind.PRODUCT,
    "FOOD": Kind.PRODUCT,
    "INCIDENT": Kind.EVENT,
}


@dataclass(frozen=True, slots=True)
class Span:
    """A name in a sentence, `sentence[start:end] == text`, with the network's label."""

    start: int
    end: int
    text: str
    label: str


class Ner:
    """Named-entity recogniser for sentences."""

    def __init__(self, network: BiLstmCrf, characters: Mapping[str, int], labels: Sequence[str]) -> None:
        self._network, self._characters, self._labels = network, characters, labels
        self._number, self._han, self._unknown = (characters[name] for name in ("[NUMBER]", "[HANZI]", "[UNK]"))

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text in order, independent of the other texts.

        Args:
            texts: sentences of tens of characters; longer ones are split into pieces of 256. Texts without Chinese
                characters yield no names: the network finds none in them.
        """
        pieces = sorted({piece for text in texts for _, piece in _split(text)}, key=lambda piece: (len(piece), piece))
        known: dict[str, list[Span]] = {}
        for at in range(0, len(pieces), _BATCH):
            batch = pieces[at : at + _BATCH]
            known.update(zip(batch, self._read(batch), strict=True))
        return [
            [
                Span(shift + span.start, shift + span.end, span.text, span.label)
                for shift, piece in _split(text)
                for span in known[piece]
            ]
            for text in texts
        ]

    def _read(self, pieces: Sequence[str]) -> Iterator[list[Span]]:
        encoded = [self._encode(piece) for piece in pieces]
        tagged = self._network.tag([np.array(ids, dtype=np.int64) for ids, _ in encoded])
        for piece, (_, spans), tags in zip(pieces, encoded, tagged, strict=True):
            yield list(_decode(piece, spans, [self._labels[tag] for tag in tags.tolist()]))

    def _encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return token ids and spans: known words and numbers as one token, everything else per character."""
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        known = self._characters
        for match in _TOKEN.finditer(_fold(text)):
            token, start = match[0], match.start()
            if token in known:
                ids.append(known[token])
                spans.append(match.span())
                continue
            for at, char in enumerate(token, start):
                ids.append(known.get(char) or self._placeholder_id(char))
                spans.append((at, at + 1))
        return ids, spans

    def _placeholder_id(self, char: str) -> int:
        if char.isdigit():
            return self._number
        return self._han if _HAN.match(char) else self._unknown


def load_ner() -> Ner:
    """Load the shipped network."""
    with np.load(Path(__file__).with_name("ner_weights.npz"), allow_pickle=False) as arrays:
        found = dict(arrays)
    characters = {char: number for number, char in enumerate(found.pop("characters").tolist())}
    return Ner(BiLstmCrf(found), characters, found.pop("labels").tolist())


def _fold(text: str) -> str:
    """Fold width and case without changing the length (İ would become two characters)."""
    folded = text.translate(_NARROW).lower()
    return folded if len(folded) == len(text) else "".join(char.lower()[:1] for char in text)


def _split(text: str) -> Iterator[tuple[int, str]]:
    for at in range(0, len(text), _MAX_CHARS):
        piece = text[at : at + _MAX_CHARS]
        if _HAN.search(piece):
            yield at, piece


def _decode(text: str, spans: Sequence[tuple[int, int]], tags: Sequence[str]) -> Iterator[Span]:
    """Decode B-M-E and S tags into names, dropping incomplete ones."""
    opened: tuple[int, str] | None = None
    for (start, end), tag in zip(spans, tags, strict=True):
        part, _, label = tag.partition("_")
        if part == "S":
            yield Span(start, end, text[start:end], label)
        elif part == "E" and opened is not None and opened[1] == label:
            yield Span(opened[0], end, text[opened[0] : end], label)
        if part == "B":
            opened = start, label
        elif part != "M":
            opened = None
