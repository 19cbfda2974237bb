"""Train the static encoder of `ask` (kg/query/sentences/nearest.py); run by `python -m benchmarks.training nearest`.

Vectors of word pieces start as the encoder's embeddings, reduced by their principal components, and learn by InfoNCE
(van den Oord et al. 2018): first that a heading, or the sentence before, belongs to its sentence, then that a question
belongs to a sentence that answers it, against a near one that does not and sentences at random.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its usual name
from torch import nn

from kg.query.sentences.nearest import parts_of
from kg.service.base import open_kb
from kg.text.word_pieces import WordPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Pieces = list[int]

WIDTH = 192
_PRETRAINED, _BATCH, _HEADING_BATCH, _AT_RANDOM, _DROPPED = 2, 256, 512, 2048, 0.1
_OFTEN_USED = 3  # sentences from which a piece counts for the principal components
_HEADING = 0.6  # how often a sentence is paired with what stands above it, not with the one before
_SHORTEST_HEADING, _SHORTEST_BEFORE = 3, 6  # pieces
_LARGEST = 4000  # weight of a piece as a whole number
_BLANK = re.compile(r"[\s*,，。；;：:！!？?（）()、]")


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with the rows of the sentences that answer it, and of near ones that do not."""

    pieces: Pieces
    answers: Sequence[int]
    near: Sequence[int]


class _StaticEncoder(nn.Module):
    def __init__(self, sentences: Sequence[Pieces]) -> None:
        super().__init__()
        words = WordPieces.shipped().plain(np.arange(len(WordPieces.shipped())).tolist())
        seen = np.bincount(np.concatenate([np.unique(each) for each in sentences]), minlength=len(words))
        words -= words[seen > 0].mean(axis=0)
        words /= np.linalg.norm(words, axis=1, keepdims=True) + 1e-6
        axes = np.linalg.svd(words[seen > _OFTEN_USED], full_matrices=False)[2][:WIDTH]
        rarity = torch.from_numpy(np.log((len(sentences) + 1) / (seen + 1)).astype(np.float32)) / 5
        self.words = nn.Parameter(torch.from_numpy(words @ axes.T).float())
        self.sentence, self.question = nn.Parameter(rarity.clone()), nn.Parameter(rarity.clone())
        self.context, self.sharpness = nn.Parameter(torch.tensor([0.5, 0.15])), nn.Parameter(torch.tensor(3.0))

    def bag(self, texts: Sequence[Pieces], weights: torch.Tensor) -> torch.Tensor:
        """Return the vector of each text, shape (texts, WIDTH), of length 1."""
        pieces = torch.tensor([piece for text in texts for piece in text] or [0])
        starts = torch.tensor([0, *np.cumsum([len(text) for text in texts])[:-1].tolist()])
        summed = F.embedding_bag(pieces, self.words, starts, mode="sum", per_sample_weights=F.softplus(weights[pieces]))
        return F.normalize(summed + 1e-6, dim=-1)

    def sentences(self, rows: Iterable[tuple[Pieces, Pieces, Pieces]]) -> torch.Tensor:
        """Return the vectors of sentences with what stands above and before them."""
        own, above, before = (self.bag(part, self.sentence) for part in zip(*rows, strict=True))
        return F.normalize(own + self.context[0] * above + self.context[1] * before, dim=-1)

    def loss(self, questions: torch.Tensor, sentences: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
        """Return the InfoNCE loss; `same` marks other rows that belong together as well."""
        scores = questions @ sentences.T * self.sharpness.exp().clamp(max=60)
        return F.cross_entropy(scores.masked_fill(same, -1e4), torch.arange(len(questions)))


def train(
    questions: Sequence[Path], kb: Path, out: Path, *, epochs: int, seed: int, log: Callable[[str], None]
) -> None:
    """Train with questions (JSONL: question, quotes, near) about the documents of a base; write `nearest.npz`."""
    torch.manual_seed(seed)
    rng = random.Random(seed)  # noqa: S311 -- not for secrets
    rows, places = _corpus(kb)
    asked = [found for file in questions for line in file.read_text("utf-8").splitlines()
             if (found := _placed(json.loads(line), places)).answers]  # fmt: skip
    log(f"{len(rows)} sentences, {len(asked)} questions whose answer is one of them")
    net = _StaticEncoder([own for own, _, _ in rows])
    optimizer = torch.optim.Adam(
        [
            {"params": [net.words], "lr": 2e-3},
            {"params": [net.sentence, net.question, net.context, net.sharpness], "lr": 1e-2},
        ]
    )

    def step(loss: torch.Tensor) -> float:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    for _ in range(_PRETRAINED):
        headed = [row for row in rows if len(row[1]) >= _SHORTEST_HEADING]
        rng.shuffle(headed)
        for at in range(0, len(headed) - _HEADING_BATCH + 1, _HEADING_BATCH):
            batch = headed[at : at + _HEADING_BATCH]
            heads = [_head_of(row, rng) for row in batch]
            same = torch.tensor([[one == other for other in heads] for one in heads]) & ~torch.eye(len(batch)).bool()
            lost = step(
                net.loss(net.bag(heads, net.question), net.bag([own for own, _, _ in batch], net.sentence), same)
            )
        log(f"headings: loss {lost:.3f}")
    for _ in range(epochs):
        rng.shuffle(asked)
        for at in range(0, len(asked), _BATCH):
            some = asked[at : at + _BATCH]
            right = [rng.choice(each.answers) for each in some]
            wrong = [rng.choice(each.near or range(len(rows))) for each in some]
            drawn = [*right, *wrong, *rng.choices(range(len(rows)), k=_AT_RANDOM)]
            same = torch.tensor([[row in each.answers and row != own for row in drawn]
                                 for each, own in zip(some, right, strict=True)])  # fmt: skip
            kept = [[piece for piece in each.pieces if rng.random() > _DROPPED] or each.pieces for each in some]
            lost = step(net.loss(net.bag(kept, net.question), net.sentences(rows[row] for row in drawn), same))
        log(f"questions: loss {lost:.3f}")
    _write(net, out)


def _corpus(kb: Path) -> tuple[list[tuple[Pieces, Pieces, Pieces]], dict[str, list[int]]]:
    """Return the pieces of each sentence, of what stands above and before it; and its rows by its text."""
    rows: list[tuple[Pieces, Pieces, Pieces]] = []
    places: dict[str, list[int]] = {}
    with open_kb(kb) as base, base.session() as session:
        for head in session.view.documents():
            for chunk in session.view.chunks(head.id):
                for sentence in parts_of(chunk, head):
                    places.setdefault(_BLANK.sub("", sentence.text).lower(), []).append(len(rows))
                    rows.append(sentence.pieces())
    return rows, places


def _placed(row: dict[str, object], places: dict[str, list[int]]) -> _Question:
    def found(name: str) -> list[int]:
        texts = row.get(name) or []
        assert isinstance(texts, list)
        return [at for text in texts for at in places.get(_BLANK.sub("", text).lower(), [])]

    answers = found("quotes")
    pieces = WordPieces.shipped().numbers(str(row["question"]), 200)
    return _Question(pieces, answers, [at for at in found("near") if at not in answers])


def _head_of(row: tuple[Pieces, Pieces, Pieces], rng: random.Random) -> Pieces:
    _, above, before = row
    return above[-24:] if rng.random() < _HEADING or len(before) < _SHORTEST_BEFORE else before


def _write(net: _StaticEncoder, out: Path) -> None:
    words = net.words.detach().numpy()
    scale = np.abs(words).max(axis=1) / 127
    scale[scale == 0] = 1
    weights = {name: scale * F.softplus(getattr(net, name)).detach().numpy() for name in ("sentence", "question")}
    whole = _LARGEST / max(weight.max() for weight in weights.values())
    out.mkdir(parents=True, exist_ok=True)
    np.savez(
        out / "nearest.npz",
        pieces=np.rint(words / scale[:, None]).astype(np.int8),
        context=net.context.detach().numpy(),
        **{name: np.rint(weight * whole).astype(np.int16) for name, weight in weights.items()},
    )
