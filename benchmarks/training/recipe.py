"""Train the shipped edge model, from annotated notes to its files; run by `python -m benchmarks.training edges`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.training import calibration, export, pretrained
from benchmarks.training import fit as training
from benchmarks.training.gold import fold, read_notes
from benchmarks.training.network import EdgeNetwork
from extraction.models.decoding import scope_of
from extraction.models.edges import RANKED_BY, EdgeModel
from extraction.models.scheme import GROUP_NAMES, GROUP_OF
from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.training.gold import Example
    from benchmarks.training.pretrained import Base
    from extraction.models.edges import Candidates
    from extraction.models.units import Unit

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
    notes, held_out = read_both(recipe)
    base = pretrained.build(_words(recipe), LAYERS)
    log(f"{len(notes)} notes to train on, {len(held_out)} to calibrate on; {len(base.words)} pieces")
    net = fitted(notes, base, recipe, log=log)
    kinds = calibration.fit_kinds((edge[end], edge[f"{end}k"]) for _, edges in notes for edge in edges for end in "so")
    export.write(net, base, recipe.out, kinds=kinds)
    calibrate(recipe.out, held_out)


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
    mean = training.fit(net, items, schedule, device=recipe.device, log=log, loss_of=training.loss_of)
    net.load_state_dict({**net.state_dict(), **mean})
    net.cpu()
    net.eval()
    return net


def read_both(recipe: Recipe) -> tuple[list[Note], list[Note]]:
    """Return the notes to train on and those to calibrate on.

    Raises:
        KgError: a note is in both sets, or a text is missing.
    """
    notes, held_out = (
        [note for file in files for note in read_notes(file, recipe.texts) if note[0]]
        for files in (recipe.annotations, recipe.calibrate)
    )
    if both := {examples[0].note for examples, _ in notes} & {examples[0].note for examples, _ in held_out}:
        raise KgError(f"note {min(both)} is in both ANNOTATIONS and --calibrate: remove it from one")
    return notes, held_out


def calibrate(folder: Path, notes: Sequence[Note]) -> None:
    """Fit the probabilities of a written model on notes that it was not trained on.

    Raises:
        KgError: no prediction on the notes is right.
    """
    model = EdgeModel(folder)
    features, groups, right = [], [], []
    for examples, gold in notes:
        candidates = list(_candidates(model, examples))
        candidates.sort(key=lambda row: -float(row["features"][RANKED_BY].sum()))
        del candidates[_CANDIDATES_PER_EDGE * max(len(gold), 1) :]
        for each, is_right in zip(candidates, calibration.matched(candidates, gold), strict=True):
            features.append(each["features"])
            groups.append(GROUP_NAMES.index(each["group"]))
            right.append(is_right)
    if not any(right):
        raise KgError("no prediction on the calibration notes is right: train on more notes or for more epochs")
    export.write_calibration(folder, calibration.fit_probability(np.array(features), groups, right))
    _rescale(folder, notes)


def _candidates(model: EdgeModel, examples: Sequence[Example]) -> Iterator[dict[str, Any]]:
    units = [example.unit for example in examples]
    for unit, found in zip(units, model.candidates(units), strict=True):
        if found is None:
            continue
        for pair, row, group in zip(found.pairs, found.features, found.groups, strict=True):
            subject, object_ = (_name(unit, found, *map(int, span)) for span in (pair[:2], pair[2:]))
            yield {"subject": subject, "object": object_, "group": GROUP_NAMES[group], "features": row}


def _name(unit: Unit, found: Candidates, first: int, last: int) -> str:
    spans = [each for each in (scope_of(found.scores, (first, last)), (first, last)) if each]
    return fold("".join(unit.text[found.starts[low - 1] : found.ends[high - 1]] for low, high in spans))


def _rescale(folder: Path, notes: Sequence[Note]) -> None:
    """Correct the probabilities of a written model by what it reads of notes, each pair of names counted once."""
    model = EdgeModel(folder)
    probabilities: list[float] = []
    right: list[bool] = []
    for examples, gold in notes:
        found: dict[tuple[str, str, str], float] = {}
        units = [example.unit for example in examples]
        for unit, edges in zip(units, model.read(units, min_confidence=_FAINTEST), strict=True):
            text = unit.text
            for edge in edges:
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
