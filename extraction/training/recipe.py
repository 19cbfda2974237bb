"""Train the shipped edge model, from annotated notes to its files; run by `liantu train edges`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from extraction.models.decoding import pairs_of, scope_of
from extraction.models.edges import EdgeModel, features_of
from extraction.models.scheme import ATTRIBUTES, GROUP_NAMES, GROUP_OF
from extraction.training import calibration, export, pretrained
from extraction.training import fit as training
from extraction.training.gold import fold, read_notes
from extraction.training.network import EdgeNetwork
from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from extraction.training.gold import Example
    from extraction.training.pretrained import Base

LAYERS, FROZEN = 8, 4
_CANDIDATES_PER_EDGE = 6  # best candidates of a note used for calibration; further ones are hardly ever right
_FAINTEST = 0.02  # probability from which a prediction counts for the scale

Note = tuple[list["Example"], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Training data and options.

    `annotations` and `calibrate` are JSONL files of notes: the network is trained on the former, and its probabilities
    are fitted on the latter. `texts` are the folders with their texts as id.md, `vocabulary` further folders of texts
    whose words the tokenizer keeps.
    """

    annotations: Sequence[Path]
    calibrate: Sequence[Path]
    texts: Sequence[Path]
    out: Path
    vocabulary: Sequence[Path] = ()
    epochs: int = 12
    seed: int = 1
    device: str = "cpu"


def train(recipe: Recipe, log: Callable[[str], None]) -> None:
    """Train, calibrate and write a model.

    Raises:
        KgError: a note is in both sets, a text is missing, or no prediction on the calibration notes is right.
    """
    notes, held_out = (
        [note for file in files for note in read_notes(file, recipe.texts) if note[0]]
        for files in (recipe.annotations, recipe.calibrate)
    )
    if both := {examples[0].note for examples, _ in notes} & {examples[0].note for examples, _ in held_out}:
        raise KgError(f"note {min(both)} is in both ANNOTATIONS and --calibrate: remove it from one")
    base = pretrained.build(_words(recipe), LAYERS)
    log(f"{len(notes)} notes to train on, {len(held_out)} to calibrate on; {len(base.words)} pieces")
    net = fitted(notes, base, recipe, log=log)
    kinds = calibration.fit_kinds((edge[end], edge[f"{end}k"]) for _, edges in notes for edge in edges for end in "so")
    export.write(net, base, recipe.out, calibration=calibrated(net, base, held_out), kinds=kinds)
    rescale(recipe.out, held_out)


def rescale(folder: Path, notes: Sequence[Note]) -> None:
    """Correct the probabilities of a written model by what it reads of notes, each pair of names counted once."""
    model = EdgeModel(folder)
    probabilities: list[float] = []
    right: list[bool] = []
    for examples, gold in notes:
        found: dict[tuple[str, str, str], float] = {}
        for example in examples:
            text = example.unit.text
            for edge in model.read(example.unit, min_confidence=_FAINTEST):
                subject, object_ = (
                    fold("".join(text[slice(*span)] for span in (scope, name) if span))
                    for scope, name in ((edge.subject_scope, edge.subject), (edge.object_scope, edge.object))
                )
                key = subject, object_, GROUP_OF[edge.relation]
                found[key] = max(found.get(key, 0.0), edge.probability)
        rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
        candidates = [{"subject": key[0], "object": key[1], "group": key[2]} for key, _ in rows]
        probabilities += [probability for _, probability in rows]
        right += calibration.matched(candidates, gold)
    export.rescale(folder, *calibration.fit_scale(probabilities, right))


def _words(recipe: Recipe) -> Iterator[str]:
    for folder in (*recipe.texts, *recipe.vocabulary):
        for file in sorted(folder.rglob("*.md")):
            yield file.read_text(encoding="utf-8")


def fitted(notes: Sequence[Note], base: Base, recipe: Recipe, *, log: Callable[[str], None]) -> EdgeNetwork:
    """Train a network on notes; its weights are averaged over the end of the run."""
    torch.manual_seed(recipe.seed)
    items = training.make_items([example for examples, _ in notes for example in examples], base.tokenizer)
    net = EdgeNetwork(base, frozen=FROZEN)
    net.to(recipe.device)
    training.cache_lower(net, items, recipe.device)
    schedule = training.Schedule(recipe.epochs, seed=recipe.seed)
    mean = training.fit(net, items, schedule, device=recipe.device, log=log)
    net.load_state_dict({**net.state_dict(), **mean})
    net.cpu()
    net.eval()
    return net


def calibrated(net: EdgeNetwork, base: Base, notes: Sequence[Note]) -> list[list[float]]:
    """Fit probabilities on notes that the network was not trained on.

    Raises:
        KgError: no prediction on the notes is right.
    """
    features, groups, right = [], [], []
    for examples, gold in notes:
        candidates = list(_candidates(net, training.make_items(examples, base.tokenizer)))
        candidates.sort(key=lambda row: -float(row["features"][[2, 5]].sum()))
        del candidates[_CANDIDATES_PER_EDGE * max(len(gold), 1) :]
        for each, is_right in zip(candidates, calibration.matched(candidates, gold), strict=True):
            features.append(each["features"])
            groups.append(each["number"])
            right.append(is_right)
    if not any(right):
        raise KgError("no prediction on the calibration notes is right: train on more notes or for more epochs")
    return calibration.fit_probability(np.array(features), groups, right)


def _candidates(net: EdgeNetwork, items: Sequence[training.Item]) -> Iterator[dict[str, Any]]:
    training.cache_lower(net, items)
    low, high = ATTRIBUTES["group"]
    net.eval()
    for item in items:
        with torch.no_grad():
            states, scores = training.scores_of(net, [item], "cpu")
            ends, spans = pairs_of(scores[0].numpy())
            if not len(ends):
                continue
            rows = torch.from_numpy(np.pad(ends, ((0, 0), (1, 0))))
            logits = net.pair_attributes(states, rows)[:, low:high].numpy()
        name = cache(partial(_name, item, scores[0].numpy()))
        for pair, row, number in zip(ends, features_of(spans, logits), logits[:, :-1].argmax(axis=1), strict=True):
            yield {
                "subject": fold(name(*map(int, pair[:2]))),
                "object": fold(name(*map(int, pair[2:]))),
                "group": GROUP_NAMES[number],
                "number": int(number),
                "features": row,
            }


def _name(item: training.Item, scores: NDArray[np.float32], first: int, last: int) -> str:
    spans = [each for each in (scope_of(scores, (first, last)), (first, last)) if each]
    return "".join(item.example.unit.text[item.starts[low - 1] : item.ends[high - 1]] for low, high in spans)
