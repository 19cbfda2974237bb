"""Export a trained network to the files of `extraction.models.edges`: ONNX with 8-bit weights, arrays, tokenizer."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from extraction.training.network import EdgeNetwork
    from extraction.training.pretrained import Base


class _InferenceNetwork(nn.Module):
    """The network from embedded words to scores and states."""

    def __init__(self, net: EdgeNetwork) -> None:
        super().__init__()
        self.net = net

    def forward(self, words: torch.Tensor, own: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        states = self.net.embed_norm(words)
        for layer in self.net.lower:
            states = layer(states, None)
        states = self.net.upper_states(states, own, None)
        return self.net.scores(states), states


def write(net: EdgeNetwork, base: Base, folder: Path, *, calibration: Any, kinds: NDArray[np.float16]) -> None:
    """Write the files of a model into a folder.

    Weights use seven bits of their eight: without VNNI, processors sum 8-bit products in 16 bits, which may overflow
    and give other results than on other machines.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 -- the extra `train`

    net.eval()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain.onnx"
        sample = torch.zeros(1, 20, net.words.embedding_dim), torch.zeros(1, 20, dtype=torch.long)
        axes = {
            "words": {1: "tokens"},
            "own": {1: "tokens"},
            "scores": {2: "tokens", 3: "tokens"},
            "states": {1: "tokens"},
        }
        torch.onnx.export(
            _InferenceNetwork(net), sample, str(plain), input_names=["words", "own"], output_names=["scores", "states"],
            dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
        quantize_dynamic(
            plain, folder / "edges.onnx", weight_type=QuantType.QInt8, per_channel=True, reduce_range=True,
            op_types_to_quantize=["MatMul", "Gemm"], extra_options={"MatMulConstBOnly": True},
        )  # fmt: skip
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
    (folder / "edges.json").write_text(json.dumps({"calibration": calibration}) + "\n", encoding="utf-8")


def rescale(folder: Path, factor: float, offset: float) -> None:
    """Apply a factor and an offset to the log-odds of a written model."""
    file = folder / "edges.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["calibration"]
    scaled = [[*(factor * weight for weight in row[:-1]), factor * row[-1] + offset] for row in rows]
    file.write_text(json.dumps({"calibration": scaled}) + "\n", encoding="utf-8")
