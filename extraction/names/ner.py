"""Tag names in sentences with the BiLSTM-CRF weights shipped in the cutword package, offline.

cutword itself requires torch; only its two data files are read, and none of its code runs. Without them, only names
missing from the dictionaries are lost.
"""

from __future__ import annotations

import importlib.util
import json
import math
import pickle
import re
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from extraction.names.bilstm_crf import BiLstmCrf
from kg.errors import KgError
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_WEIGHTS, _VOCABULARY = "model_params.pth", "ner_vocab_tags.json"
_BATCH = 128
_MAX_CHARS = 256  # characters per piece; the network was trained on much shorter sentences

_UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, EOFError, pickle.UnpicklingError, zipfile.BadZipFile)

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


class NerWeightsUnusable(KgError):
    """cutword's weight files exist but have unexpected content."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(f"{path}: {cause}; reinstall cutword 0.1.1")


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


def load_ner(folder: Path | None = None) -> Ner | None:
    """Load the network, or return None where cutword or its weights are not installed.

    Args:
        folder: directory of the two files; defaults to the installed cutword package.

    Raises:
        NerWeightsUnusable: the files exist but are not valid.
    """
    if folder is None:
        spec = importlib.util.find_spec("cutword")
        locations = list(spec.submodule_search_locations or ()) if spec else []
        if not locations:
            return None
        folder = Path(locations[0])
    weights, vocabulary = folder / _WEIGHTS, folder / _VOCABULARY
    if not (weights.is_file() and vocabulary.is_file()):
        return None
    try:
        words = json.loads(vocabulary.read_text(encoding="utf-8"))
        characters = {str(char): int(number) for char, number in words["char2id"].items()}
        labels = [label for label, _ in sorted(words["label2id"].items(), key=lambda pair: int(pair[1]))]
        network = BiLstmCrf(_read_arrays(weights))
        ner = Ner(network, characters, labels)
    except _UNREADABLE as cause:
        raise NerWeightsUnusable(weights, f"not the weights of a BiLSTM-CRF ({cause})") from cause
    if network.vocabulary <= max(characters.values()) or network.tags != len(labels):
        raise NerWeightsUnusable(weights, "the vocabulary does not match the network")
    return ner


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


def _read_arrays(path: Path) -> dict[str, NDArray[np.float32]]:
    """Read the arrays of a torch checkpoint without torch."""
    with zipfile.ZipFile(path) as archive:
        root = archive.namelist()[0].split("/")[0]
        state = _ArrayUnpickler(archive, root).load()
    # DataParallel prefixes each name with "module."
    return {name.removeprefix("module."): array for name, array in state["model_state_dict"].items()}


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickle float arrays only: the checkpoint is untrusted, and a pickle can call arbitrary code."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        super().__init__(BytesIO(archive.read(f"{root}/data.pkl")))
        self._archive, self._root = archive, root

    def find_class(self, module: str, name: str) -> Any:
        allowed = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
            ("torch", "FloatStorage"): "float32",
        }
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed")
        return allowed[module, name]

    def persistent_load(self, pid: Any) -> NDArray[np.float32]:
        kind, storage, key = pid[:3]
        if (kind, storage) != ("storage", "float32"):
            raise pickle.UnpicklingError(f"{kind} {storage} is not allowed")
        return np.frombuffer(self._archive.read(f"{self._root}/data/{key}"), dtype="<f4")


def _rebuild(
    storage: NDArray[np.float32], offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> NDArray[np.float32]:
    """Return one contiguous tensor from its storage."""
    contiguous = tuple(math.prod(size[axis + 1 :]) for axis in range(len(size)))
    count = math.prod(size)
    if stride != contiguous or offset < 0 or offset + count > storage.size:
        raise pickle.UnpicklingError("tensor out of bounds of its storage")
    return storage[offset : offset + count].reshape(size).astype(np.float32)
