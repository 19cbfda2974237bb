"""Train the second reading of an edge model: the candidate pairs of a unit, judged beside each other."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import torch
import torch.nn.functional as F  # noqa: N812 -- its usual name
from onnx import numpy_helper

from benchmarks.training import export, fit
from benchmarks.training.network import NEVER, PairNetwork
from benchmarks.training.pretrained import WIDTH
from benchmarks.training.recipe import calibrate, read_both
from extraction.models.edges import EdgeModel
from extraction.models.scheme import ATTRIBUTES, GROUP_NAMES
from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmarks.training.recipe import Recipe

_NEGATIVES, _MAX_PAIRS = 20, 40  # of a unit: candidates that are no edges, and all its pairs
_ATTRIBUTE_WEIGHT = 0.3
_RATE, _HEAD_RATE = 1e-4, 8e-4
_MATRICES = ("mix", "join", "widen", "narrow")


def train(recipe: Recipe, model: str, log: Callable[[str], None]) -> None:
    """Add a second reading to a model, and calibrate both together; `model` is `shipped` or a folder.

    Raises:
        KgError: as `recipe.train`, or when the model finds no candidates.
    """
    notes, held_out = read_both(recipe)
    folder = resources.files("extraction.models").joinpath("data") if model == "shipped" else Path(model)
    first = EdgeModel.named(model)
    if first is None:
        raise KgError("--model off is no model: name a folder that `edges` wrote, or shipped")
    words = folder if (folder / "words.spm").is_file() else resources.files("kg.text").joinpath("data")
    examples = [example for examples, _ in notes for example in examples]
    items = fit.make_items(examples, (words / "words.spm").read_bytes())
    for item in items:
        _add_candidates(item, first)
    items = [item for item in items if len(item.states)]
    if not items:
        raise KgError("--model finds no candidates in the notes: train it on more notes or for more epochs")
    log(f"{len(notes)} notes to train on, {len(held_out)} to calibrate on; {len(items)} units with candidates")
    torch.manual_seed(recipe.seed)
    layers = _upper_layers((folder / "edges.onnx").read_bytes())
    net = PairNetwork(1 + max(int(name.split(".")[1]) for name in layers if name.startswith("upper.")))
    net.load_state_dict({**net.state_dict(), **layers})
    net.to(recipe.device)
    schedule = fit.Schedule(recipe.epochs, rate=_RATE, head_rate=_HEAD_RATE, seed=recipe.seed)
    mean = fit.fit(net, items, schedule, device=recipe.device, log=log, loss_of=_loss)
    net.load_state_dict({**net.state_dict(), **mean})
    recipe.out.mkdir(parents=True, exist_ok=True)
    for name in ("edges.onnx", "edges.npz"):
        (recipe.out / name).write_bytes((folder / name).read_bytes())
    for name in ("words.npz", "words.spm"):
        (recipe.out / name).write_bytes((words / name).read_bytes())
    export.write_pairs(net.cpu(), recipe.out)
    calibrate(recipe.out, held_out)


def _add_candidates(item: fit.Item, model: EdgeModel) -> None:
    """Give an item the lower states and the first reading's pairs, edges first, that training classifies."""
    (found,) = model.candidates([item.example.unit])
    if found is None:
        return
    known = {ends for ends, _ in item.pairs}
    wrong = [(a, b, c, d) for a, b, c, d in found.pairs.tolist() if (a, b, c, d) not in known | item.doubtful]
    none = {"group": len(GROUP_NAMES)}
    item.pairs = [*item.pairs, *((ends, none) for ends in wrong[:_NEGATIVES])][:_MAX_PAIRS]
    item.states = torch.from_numpy(found.lower)


def _loss(net: PairNetwork, batch: Sequence[fit.Item], device: str) -> torch.Tensor:
    """Return the loss of a batch: cross-entropy of the group of each pair, and of its other attributes."""
    tokens = max(len(item.ids) for item in batch)
    pairs = max(1, *(len(item.pairs) for item in batch))
    lower = torch.zeros(len(batch), tokens, WIDTH)
    own = torch.zeros(len(batch), tokens, dtype=torch.long)
    ends = torch.zeros(len(batch), pairs, 4, dtype=torch.long)
    hidden = torch.full((len(batch), 1, 1, tokens + 2 * pairs), NEVER)
    for row, item in enumerate(batch):
        length, count = len(item.ids), len(item.pairs)
        lower[row, :length], own[row, :length] = item.states, torch.tensor(item.own)
        hidden[row, ..., :length] = 0
        for start in (tokens, tokens + pairs):
            hidden[row, ..., start : start + count] = 0
        if count:
            ends[row, :count] = torch.tensor([ends for ends, _ in item.pairs])
    logits = net(lower.to(device), own.to(device), ends.to(device), hidden.to(device))
    chosen = torch.cat([logits[row, : len(item.pairs)] for row, item in enumerate(batch)])
    goals: list[dict[str, Any]] = [goal for item in batch for _, goal in item.pairs]
    loss = chosen.sum() * 0
    for name, (low, high) in ATTRIBUTES.items():
        goal = torch.tensor([each.get(name, -100) for each in goals], dtype=torch.long, device=device)
        if (goal >= 0).any():
            weight = 1.0 if name == "group" else _ATTRIBUTE_WEIGHT
            loss = loss + weight * F.cross_entropy(chosen[:, low:high], goal, ignore_index=-100, reduction="sum") / len(
                batch
            )
    return loss


def _upper_layers(network: bytes) -> dict[str, torch.Tensor]:
    """Return the weights of the trained layers of a written network, and the marks of own text, by name."""
    arrays = {each.name: numpy_helper.to_array(each) for each in onnx.load_from_string(network).graph.initializer}
    quantised = sorted(
        (name.removesuffix("_quantized") for name in arrays if name.endswith("_quantized")),
        key=lambda name: int(name.rsplit("_", 1)[1]),
    )
    out: dict[str, NDArray[Any]] = {"own.weight": arrays["net.own.weight"]}
    layers = sorted({name.split(".")[2] for name in arrays if name.startswith("net.upper.")}, key=int)
    below = len({name.split(".")[2] for name in arrays if name.startswith("net.lower.")})
    for layer in layers:
        for at, part in enumerate(_MATRICES):
            name = quantised[(below + int(layer)) * len(_MATRICES) + at]
            out[f"upper.{layer}.{part}.weight"] = (arrays[f"{name}_quantized"] * arrays[f"{name}_scale"]).T
        plain = f"net.upper.{layer}."
        out |= {f"upper.{layer}.{name.removeprefix(plain)}": arrays[name] for name in arrays if name.startswith(plain)}
    return {name: torch.from_numpy(array.copy()) for name, array in out.items()}
