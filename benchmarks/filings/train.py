"""Train the page scorer on generated questions and given ones, and write the weights that ship.

    python -m benchmarks.filings.train DIR [--out kg/query/filings/ranker.json] [--generated 2000]

Only NumPy: a softmax over the pages of a filing (ListNet), Adam, several seeds joined into one hidden layer.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click
import numpy as np

from benchmarks.filings.dataset import build, names_of, read_questions
from benchmarks.filings.generated import generate
from kg.query.filings.features import page_features
from kg.query.filings.ranker import PageRanker
from kg.query.filings.task import read_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.filings.dataset import GoldQuestion
    from kg.service.base import KnowledgeBase

    _Array = NDArray[np.float32]

_RATE, _BETAS, _EPSILON = 0.02, (0.9, 0.999), 1e-8
_SEED = 1
_MIX = (1.3, 0.85, 0.85)  # shares of headings, rows and paragraphs among generated questions
_OTHERS = 30  # pages kept beside that of a generated question
_GENERATED_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class Example:
    """The pages of a filing for a question: features, indices of those that answer, and how much it counts."""

    features: NDArray[np.float32]
    gold: tuple[int, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class CompanyExample:
    """An example with the group of its company, so that a scorer can be tried on companies that it never saw."""

    group: int
    example: Example


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the scorer is trained; `decay` is the L2 penalty of the linear part and of the hidden layer."""

    hidden: int = 6
    seeds: int = 2
    steps: int = 150
    decay: tuple[float, float] = (0.03, 0.06)


def fit(examples: Sequence[Example], recipe: Recipe | None = None) -> PageRanker:
    """Train a scorer; the same examples give the same weights."""
    recipe = recipe or Recipe()
    rows = np.vstack([each.features for each in examples])
    mean, scale = rows.mean(0), rows.std(0) + np.float32(1e-6)
    plain = np.clip((rows - mean) / scale, -5, 5)
    starts = np.cumsum([0, *(len(each.features) for each in examples)])[:-1]
    target = np.concatenate([_target(each) for each in examples])
    nets = [_train(plain, starts, target, recipe, seed) for seed in range(recipe.seeds)]
    count = len(nets)
    return PageRanker(
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        linear=np.stack([net["linear"] for net in nets]).mean(0).astype(np.float32),
        hidden=np.hstack([net["hidden"] for net in nets]).astype(np.float32),
        bias=np.concatenate([net["bias"] for net in nets]).astype(np.float32),
        out=(np.concatenate([net["out"] for net in nets]) / count).astype(np.float32),
    )


def _target(example: Example) -> _Array:
    target = np.zeros(len(example.features), np.float32)
    for page in example.gold:
        target[page] = example.weight / len(example.gold)
    return target


def _train(plain: _Array, starts: NDArray[np.int64], target: _Array, recipe: Recipe, seed: int) -> dict[str, _Array]:
    rng = np.random.default_rng(seed)
    width = plain.shape[1]
    net = {
        "linear": np.zeros(width, np.float32),
        "hidden": rng.normal(0, width**-0.5, (width, recipe.hidden)).astype(np.float32),
        "bias": np.zeros(recipe.hidden, np.float32),
        "out": rng.normal(0, 0.1, recipe.hidden).astype(np.float32),
    }
    decay = dict(zip(net, (recipe.decay[0], recipe.decay[1], 0.0, recipe.decay[1]), strict=True))
    sizes = np.diff([*starts, len(plain)])
    mass = np.add.reduceat(target, starts)
    moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in net.items()}
    for step in range(1, recipe.steps + 1):
        inner = np.maximum(plain @ net["hidden"] + net["bias"], 0)
        scores = plain @ net["linear"] + inner @ net["out"]
        shifted = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        share = shifted / np.repeat(np.add.reduceat(shifted, starts), sizes)
        error = (share * np.repeat(mass, sizes) - target) / mass.sum()
        back = error[:, None] * net["out"] * (inner > 0)
        gradient = {"linear": plain.T @ error, "hidden": plain.T @ back, "bias": back.sum(0), "out": inner.T @ error}
        for name, value in net.items():
            slope = gradient[name] + decay[name] * value
            first, second = moments[name]
            first = _BETAS[0] * first + (1 - _BETAS[0]) * slope
            second = _BETAS[1] * second + (1 - _BETAS[1]) * slope**2
            moments[name] = first, second
            ahead = first / (1 - _BETAS[0] ** step), second / (1 - _BETAS[1] ** step)
            net[name] = (value - _RATE * ahead[0] / (np.sqrt(ahead[1]) + _EPSILON)).astype(np.float32)
    return net


def examples_of(kb: KnowledgeBase, questions: Sequence[GoldQuestion], generated: int) -> list[CompanyExample]:
    """Return what a scorer is trained on: given questions with the pages of their document, and generated ones.

    Of a generated question only its page and 30 others are kept, which trains as well in a tenth of the time.
    """
    rng = Random(_SEED)  # noqa: S311 -- chooses examples
    found: list[CompanyExample] = []
    names = names_of(kb)
    with kb.session() as session:
        index = session.filings
        by_name = {names[each.document]: each for each in index.filings}
        for question in questions:
            listed = by_name.get(question.document)
            if listed is None or (table := session.page_table(listed.document)) is None:
                continue
            gold = tuple(sorted(page - 1 for name, page in question.pages if name == question.document))
            features = page_features(table, read_task(question.text), index.words_of(index.companies(question.text)))
            found.append(CompanyExample(listed.group, Example(features, gold)))
        dated = [each for each in index.filings if each.filing.year]
        each_kind = max(1, round(generated / max(1, len(dated)) / len(_MIX)))
        for listed in dated if generated else ():
            table = session.page_table(listed.document)
            assert table is not None
            words = index.words_of([listed.group])
            for made in generate(table, listed.filing, rng, counts=[round(each_kind * share) for share in _MIX]):
                features = page_features(table, read_task(made.text), words)
                kept = sorted({made.page, *rng.sample(range(len(table)), min(_OTHERS, len(table)))})
                example = Example(features[kept], (kept.index(made.page),), _GENERATED_WEIGHT)
                found.append(CompanyExample(listed.group, example))
    return found


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path), default=Path("kg/query/filings/ranker.json"), show_default=True)
@click.option("--generated", default=2000, show_default=True, help="number of generated questions")
@click.option("--kb", "path", type=click.Path(path_type=Path), help="keep the base here, and use it again")
def main(folder: Path, out: Path, generated: int, path: Path | None) -> None:
    """Train the page scorer on the filings and questions of FOLDER."""
    with tempfile.TemporaryDirectory() as scratch:
        kb, _ = build(folder, path or Path(scratch) / "kb.liantu")
        with kb:
            examples = examples_of(kb, read_questions(folder), generated)
    ranker = fit([each.example for each in examples])
    out.write_text(json.dumps(ranker.to_json(), separators=(",", ":")) + "\n", encoding="utf-8")
    click.echo(f"{len(examples)} questions; {out.stat().st_size:,} bytes → {out}")


if __name__ == "__main__":
    main()
