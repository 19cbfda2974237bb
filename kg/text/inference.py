"""Run the shipped networks so that results hardly depend on the processor, and texts of similar length together.

Weights are stored as 8-bit integers with a scale a column and widened to float32 when a network is loaded. Quantised
activations would be faster with VNNI, but a sum that another vector width rounds otherwise moves an activation to
another step, and each layer amplifies that: up to 0.16 of a probability. In float32 the difference stays near 1e-5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

DIGITS = 3  # to which scores are rounded before they are compared: processors differ in the fifth
_BATCH = 500  # tokens of the texts that run together, padding included
_PADDING = 0.2  # of a text in a batch, at most
_HIDDEN = np.float32(-1e4)


def session(network: bytes) -> Any:
    """Return an ONNX Runtime session on one thread, without fused kernels, which add in an order of their own."""
    import onnxruntime  # noqa: PLC0415 -- takes 0.3 s, which most commands do not need

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


def batches(lengths: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield the keys in batches of similar lengths in tokens.

    For a short text, loading the weights from memory takes as long as multiplying with them; a batch shares it.

    >>> list(batches({0: 40, 1: 200, 2: 42, 3: 190, 4: 180}))
    [[1, 3], [4], [2, 0]]
    """
    batch: list[int] = []
    for at in sorted(lengths, key=lambda at: (-lengths[at], at)):
        longest = lengths[batch[0]] if batch else 0
        if longest * (len(batch) + 1) > _BATCH or longest - lengths[at] > _PADDING * longest:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def padding_scores(size: int, lengths: Sequence[int]) -> NDArray[np.float32]:
    """Return the (texts, 1, 1, size) scores to add to the attention to tokens, which hide the padding."""
    padding = np.arange(size)[None] >= np.array(lengths)[:, None]
    return np.where(padding, _HIDDEN, np.float32(0))[:, None, None]
