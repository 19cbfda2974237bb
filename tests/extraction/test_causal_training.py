"""A causal model on made-up sentences: it learns, repeats itself, is stored whole, no condition told as fact."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

pytest.importorskip("sklearn")
pytest.importorskip("pycrfsuite")

from extraction.pipeline import Extractor
from extraction.training.causal_examples import CausalExample, hash_of, read_causal_examples
from extraction.training.causal_model import CausalModel, fit
from extraction.training.cli import train
from kg.errors import DocumentError, KgError
from kg.model import Modality
from kg.securities.master import Master
from tests.goldens.reports import report

PRODUCTS = ("铜", "铝", "玉米", "生猪", "碳酸锂", "焦煤", "棉花", "大豆")
SHAPES = (
    ("{0}价格上涨推高{1}成本", "price up", "cost up"),
    ("{0}供应减少，致{1}价格走高", "supply down", "price up"),
    ("因{0}需求下降，{1}价格下跌", "demand down", "price down"),
    ("{1}利润下降，系{0}价格上涨所致", "price up", "profit down"),
)


def examples() -> list[CausalExample]:
    return [
        CausalExample(
            shape.format(cause, effect),
            {(first, second): (frozenset({("product", cause)}), frozenset({("product", effect)}))},
        )
        for cause, effect in itertools.permutations(PRODUCTS, 2)
        for shape, first, second in SHAPES
    ]


@pytest.fixture(scope="module")
def model() -> CausalModel:
    return fit(examples())


def test_it_reads_a_pair_it_has_not_seen(model):
    text = "由于尿素供应减少，致甲醇价格走高"
    assert model.read(text)[0].pair == ("supply down", "price up")
    assert model.arguments("铜供应减少，致棉花价格走高", [("supply down", "price up")]) == {
        ("supply down", "price up"): ({("product", "铜")}, {("product", "棉花")})
    }


def test_cause_and_effect_are_told_apart_whichever_comes_first(model):
    assert model.read("甲醇利润下降，系煤炭价格上涨所致")[0].pair == ("price up", "profit down")


def test_the_same_examples_give_the_same_bytes(model, tmp_path):
    model.save(tmp_path / "one.npz")
    fit(examples()).save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_it_comes_back_as_it_was_stored(model, tmp_path):
    model.save(tmp_path / "causal.npz")
    loaded = CausalModel.load(tmp_path / "causal.npz")
    text = "铜供应减少，致棉花价格走高"
    assert loaded.read(text) == model.read(text)
    assert loaded.data_hash == hash_of(examples())


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + b"\0" * 18])
def test_a_broken_file_is_said(content, tmp_path):
    path = tmp_path / "causal.npz"
    path.write_bytes(content)
    with pytest.raises(KgError, match="fit it again"):
        CausalModel.load(path)


def test_texts_without_any_pair_are_refused():
    with pytest.raises(KgError, match="can be learned"):
        fit([CausalExample("铜价上涨推高成本", {("a", "b"): (frozenset(), frozenset())})])


def test_the_model_adds_facts_to_those_of_the_patterns(model):
    document = report("碳酸锂供应减少，致焦煤价格走高。")
    plain, trained = (
        Extractor(Master.load(), ner=False, causal=each).extract(
            document, recorded_at=datetime(2025, 6, 30, tzinfo=UTC)
        )
        for each in (None, model)
    )
    told = {(fact.subject, fact.object, fact.sign) for fact in trained.facts if fact.relation == "affects"}
    assert ("indicator:碳酸锂供给", "indicator:焦煤价格", -1) in told
    assert {fact.id for fact in plain.facts} <= {fact.id for fact in trained.facts}


def test_the_model_tells_no_condition_as_an_actual_fact(model):
    document = report("若碳酸锂供应减少，致焦煤价格走高。")
    reading = Extractor(Master.load(), ner=False, causal=model).extract(
        document, recorded_at=datetime(2025, 6, 30, tzinfo=UTC)
    )
    causal = [fact for fact in reading.facts if fact.relation == "affects"]
    assert causal
    assert {fact.modality for fact in causal} == {Modality.CONDITIONAL}


def test_labelled_lines_are_read(tmp_path):
    path = tmp_path / "labelled.jsonl"
    line = {
        "text": "铜价上涨推高空调成本",
        "causes": [{"cause": "price up", "effect": "cost up", "cause_arguments": [["product", "铜"]]}],
    }
    path.write_text(json.dumps(line, ensure_ascii=False) + "\n\n", encoding="utf-8")
    (example,) = read_causal_examples(path)
    assert example.pairs == {("price up", "cost up"): (frozenset({("product", "铜")}), frozenset())}


@pytest.mark.parametrize(
    "line", ['{"text": 1, "causes": []}', '{"causes": []}', "no json", '{"text": "a", "causes": [{}]}']
)
def test_a_bad_line_is_named(line, tmp_path):
    path = tmp_path / "labelled.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(DocumentError, match=r"labelled\.jsonl:1"):
        read_causal_examples(path)


def test_liantu_train_lays_a_causal_model_beside_the_base(tmp_path):
    path = tmp_path / "labelled.jsonl"
    lines = [
        {
            "text": example.text,
            "causes": [
                {"cause": a, "effect": b, "cause_arguments": sorted(cause), "effect_arguments": sorted(effect)}
                for (a, b), (cause, effect) in example.pairs.items()
            ],
        }
        for example in examples()
    ]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    result = CliRunner().invoke(train, ["--from", str(path), "--kb", str(tmp_path / "kb.liantu")])
    assert result.exit_code == 0, result.output
    assert hash_of(examples()) in result.output
    assert CausalModel.load(tmp_path / "kb.liantu.causal.npz").data_hash == hash_of(examples())
