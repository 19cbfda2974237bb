"""Export a trained network to the files of `extraction.models.edges`: ONNX with 8-bit weights, arrays, tokenizer."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from extraction.models.edges import FEATURES, PAIRS
from extraction.models.scheme import GROUP_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.training.network import EdgeNetwork, PairNetwork
    from benchmarks.training.pretrained import Base


class _InferenceNetwork(nn.Module):
    """The network from embedded words to scores, states, and states of the frozen layers."""

    def __init__(self, net: EdgeNetwork) -> None:
        super().__init__()
        self.net = net

    def forward(
        self, words: torch.Tensor, own: torch.Tensor, padding: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        lower = self.net.embed_norm(words)
        for layer in self.net.lower:
            lower = layer(lower, padding)
        states = self.net.upper_states(lower, own, padding)
        return self.net.scores(states), states, lower


def write(net: EdgeNetwork, base: Base, folder: Path, *, kinds: NDArray[np.float16]) -> None:
    """Write the files of a model into a folder, all but its calibration."""
    net.eval()
    folder.mkdir(parents=True, exist_ok=True)
    write_network(
        _InferenceNetwork(net),
        {
            "words": (torch.zeros(1, 20, net.words.embedding_dim), {1: "tokens"}),
            "own": (torch.zeros(1, 20, dtype=torch.long), {1: "tokens"}),
            "padding": (torch.zeros(1, 1, 1, 20), {3: "tokens"}),
        },
        out={"scores": {2: "tokens", 3: "tokens"}, "states": {1: "tokens"}, "lower": {1: "tokens"}},
        file=folder / "edges.onnx",
    )
    scales = np.abs(base.words).max(axis=1) / 127
    scales[scales == 0] = 1
    half = np.float16
    np.savez(
        folder / "words.npz",
        words=np.round(base.words / scales[:, None]).astype(np.int8), scales=scales.astype(np.float32),
        places=base.places.astype(half),
    )  # fmt: skip
    np.savez(
        folder / "edges.npz",
        distance=net.distance.weight.detach().numpy().astype(half),
        w1=net.pair.weight.detach().numpy().T.astype(half), b1=net.pair.bias.detach().numpy().astype(half),
        w2=net.attributes.weight.detach().numpy().T.astype(half),
        b2=net.attributes.bias.detach().numpy().astype(half), kinds=kinds,
    )  # fmt: skip
    (folder / "words.spm").write_bytes(base.tokenizer)
    (folder / PAIRS).unlink(missing_ok=True)  # of another model
    write_calibration(folder, [[0.0] * (FEATURES + 1)] * len(GROUP_NAMES))


def write_pairs(net: PairNetwork, folder: Path) -> None:
    """Add the second reading to a model's folder, not yet calibrated."""
    net.eval()
    tokens = {1: "tokens"}
    write_network(
        net,
        {
            "lower": (torch.zeros(1, 20, net.own.embedding_dim), tokens),
            "own": (torch.zeros(1, 20, dtype=torch.long), tokens),
            "ends": (torch.tensor([[[1, 2, 4, 5], [7, 7, 3, 3]]]), {1: "pairs"}),
            "hidden": (torch.zeros(1, 1, 1, 24), {3: "marks"}),
        },
        out={"attributes": {1: "pairs"}},
        file=folder / PAIRS,
    )
    write_calibration(folder, [[0.0] * (FEATURES + 2)] * len(GROUP_NAMES))


def write_network(
    net: nn.Module, given: dict[str, tuple[torch.Tensor, dict[int, str]]], *, out: dict[str, dict[int, str]], file: Path
) -> None:
    """Write a network to ONNX, with inputs and outputs by name and their variable axes besides the first, the texts.

    Matrices are stored as 8-bit integers with a scale a column; the graph widens them to float32.
    """
    axes = {name: axes for name, (_, axes) in given.items()} | out
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain.onnx"
        torch.onnx.export(
            net, tuple(sample for sample, _ in given.values()), str(plain), input_names=[*given], output_names=[*out],
            dynamic_axes={name: {0: "texts"} | each for name, each in axes.items()}, opset_version=17, dynamo=False,
        )  # fmt: skip
        model = onnx.load(plain)
    _store_in_8_bits(model.graph)
    onnx.save(model, file)


def _store_in_8_bits(graph: Any) -> None:
    """Replace the constant matrices of products: `name` by Cast(`name_quantized`) * `name_scale`."""
    constants = {each.name: each for each in graph.initializer}
    matrices = [node.input[1] for node in graph.node if node.op_type == "MatMul" and node.input[1] in constants]
    widened = []
    for name in dict.fromkeys(matrices):
        matrix = numpy_helper.to_array(constants[name])
        scale = np.abs(matrix).max(axis=0) / 127
        scale[scale == 0] = 1
        graph.initializer.remove(constants[name])
        stored = {"quantized": np.round(matrix / scale).astype(np.int8), "scale": scale.astype(np.float32)}
        graph.initializer.extend(numpy_helper.from_array(each, f"{name}_{part}") for part, each in stored.items())
        widened += [
            helper.make_node("Cast", [f"{name}_quantized"], [f"{name}_wide"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}_wide", f"{name}_scale"], [name]),
        ]
    nodes = [*widened, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def write_calibration(folder: Path, rows: Sequence[Sequence[float]]) -> None:
    """Write the weights and the offset of each group that make features probabilities."""
    (folder / "edges.json").write_text(json.dumps({"calibration": rows}) + "\n", encoding="utf-8")


def rescale(folder: Path, factor: float, offset: float) -> None:
    """Apply a factor and an offset to the log-odds of a written model."""
    rows = json.loads((folder / "edges.json").read_text(encoding="utf-8"))["calibration"]
    write_calibration(folder, [[*(factor * each for each in row[:-1]), factor * row[-1] + offset] for row in rows])
