from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from extraction.cli import extract
from extraction.training.cli import train
from extraction.training.examples import SAME, Example, hash_of, read_examples, written
from extraction.training.features import VIEWS, pair_of
from extraction.training.rescoring import model_beside, rescored
from kg.errors import DocumentError
from tests.extraction.test_pairs import between

pytest.importorskip("sklearn", reason="the train extra is not installed")

from extraction.training.model import RelationModel

FIRMS = ["天山矿业", "青松建材", "白云电器", "红河制药", "长桥物流", "金穗种业", "海岳能源", "松涛环保"]
PAIRS = [(one, other) for one in FIRMS for other in FIRMS if one != other]


def examples() -> list[Example]:
    """Sell-outs both ways, partners, and pairs that nothing relates, of every two firms."""
    out = []
    for one, other in PAIRS:
        out += [
            Example(f"{one}把手里的{other}全甩了。", one, other, "cuts_stake_in"),
            Example(f"{one}让{other}全给甩了出来。", other, one, "cuts_stake_in"),
            Example(f"{one}跟{other}走到一起做研发。", one, other, "partners_with"),
            Example(f"{one}涨停，{other}跌停。", one, other),
        ]
    return out


@pytest.fixture(scope="module")
def model() -> RelationModel:
    return RelationModel.fit(examples())


def verdict(model: RelationModel, text: str, one: str, other: str) -> tuple[str, bool]:
    (said,) = model.verdicts([pair_of(text, one, other)])
    return said.relation, said.forward


def test_it_types_pairs_of_names_it_has_not_seen(model):
    assert verdict(model, "东风轴承把手里的西岭煤业全甩了。", "东风轴承", "西岭煤业") == ("cuts_stake_in", True)
    assert verdict(model, "东风轴承让西岭煤业全给甩了出来。", "东风轴承", "西岭煤业") == ("cuts_stake_in", False)
    assert verdict(model, "东风轴承涨停，西岭煤业跌停。", "东风轴承", "西岭煤业")[0] == ""


def test_the_answer_turns_with_the_question(model):
    assert verdict(model, "东风轴承把手里的西岭煤业全甩了。", "西岭煤业", "东风轴承") == ("cuts_stake_in", False)


def test_the_same_examples_give_the_same_bytes(model, tmp_path):
    again = RelationModel.fit(list(reversed(examples())))
    model.save(tmp_path / "one")
    again.trained_on = model.trained_on
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_model_is_read_back_with_its_origin(model, tmp_path):
    model.save(tmp_path / "model")
    again = RelationModel.load(tmp_path / "model")
    assert (again.trained_on, again.examples) == (hash_of(examples()), len(examples()))
    pairs = [pair_of(each.text, each.subject, each.object) for each in examples()[:9]]
    assert again.verdicts(pairs) == model.verdicts(pairs)


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "junk").write_bytes(b"PK junk")
    with pytest.raises(DocumentError, match="no model"):
        RelationModel.load(tmp_path / "junk")


def test_one_label_alone_teaches_nothing():
    with pytest.raises(DocumentError, match="fewer than two"):
        RelationModel.fit([Example("甲和乙", "甲", "乙")] * 3)


def test_the_model_adds_what_no_pattern_reads(model):
    annotated = between("东风轴承把手里的西岭煤业全甩了。", "东风轴承", "西岭煤业")
    (claim,) = rescored(model, annotated, [])
    assert (claim.relation, claim.subject.name, claim.object.name) == ("cuts_stake_in", "东风轴承", "西岭煤业")
    assert claim.pattern == "model.cuts_stake_in"


def test_nothing_is_added_where_nothing_is_said(model):
    assert rescored(model, between("东风轴承涨停，西岭煤业跌停。", "东风轴承", "西岭煤业"), []) == []


def test_agreement_raises_a_claim_and_doubt_lowers_it(model):
    said = between("东风轴承把手里的西岭煤业全甩了。", "东风轴承", "西岭煤业")
    (claim,) = rescored(model, said, [])
    (agreed,) = rescored(model, said, [claim])
    assert agreed.confidence > claim.confidence
    quiet = between("东风轴承涨停，西岭煤业跌停。", "东风轴承", "西岭煤业")
    (doubted,) = rescored(model, quiet, [claim])
    assert doubted.confidence == pytest.approx(claim.confidence * 0.5)


def test_a_pair_is_read_in_the_order_of_the_text():
    pair = pair_of("昨日甲公司收购乙公司股权", "乙公司", "甲公司")
    assert (pair.first, pair.second, pair.swapped) == ("甲公司", "乙公司", True)
    assert (pair.left, pair.middle, pair.right) == ("昨日", "收购", "股权")


@pytest.mark.parametrize("names", [("天山矿业", "天山"), ("天山", "天山矿业"), ("天山", "天山")])
def test_a_name_inside_the_other_or_the_same_has_features(names):
    pair = pair_of("天山矿业今日公告", *names)
    assert all(isinstance(each, str) for view in VIEWS for each in view.features(pair))


# ── the file of labelled pairs ───────────────────────────────────────────────────────────────────────────────────────


def test_examples_are_read_as_they_are_written(tmp_path):
    given = [*examples()[:5], Example("甲即乙", "甲", "乙", SAME)]
    path = tmp_path / "labelled.jsonl"
    path.write_text(written(given), encoding="utf-8")
    assert read_examples(path) == given


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{", "not JSON"),
        ('["a"]', "no text, subject or object"),
        (json.dumps({"text": "甲和乙", "subject": "甲"}), "no text, subject or object"),
        (json.dumps({"text": "甲和乙", "subject": "甲", "object": "丙"}), "does not stand in the text"),
        (json.dumps({"text": "甲和乙", "subject": "甲", "object": "乙", "relation": "loves"}), "no relation loves"),
        (json.dumps({"text": "甲和乙", "subject": "甲", "object": "乙", "subject_kind": "x"}), "not a valid Kind"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, cause):
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n" + line, encoding="utf-8")
    with pytest.raises(DocumentError, match=cause) as fault:
        read_examples(path)
    assert "labelled.jsonl:2" in str(fault.value)


def test_the_command_lays_the_model_beside_the_base(tmp_path):
    labelled, kb = tmp_path / "labelled.jsonl", tmp_path / "kb.liantu"
    labelled.write_text(written(examples()), encoding="utf-8")
    result = CliRunner().invoke(train, ["--from", str(labelled), "--kb", str(kb)])
    assert result.exit_code == 0, result.output
    assert hash_of(examples()) in result.output
    assert RelationModel.load(model_beside(kb)).trained_on == hash_of(examples())


def test_extract_asks_the_model_beside_the_base_it_is_given(model, tmp_path):
    kb = tmp_path / "kb.liantu"
    model.save(model_beside(kb))
    line = json.dumps({"id": 1, "text": "贵州茅台把手里的五粮液全甩了。", "date": "2025-06-30"}, ensure_ascii=False)
    told = []
    for base in (kb, tmp_path / "other.liantu"):
        options = ["-", "--no-ner", "--workers", "1", "--explain", "--kb", str(base)]
        result = CliRunner().invoke(extract, options, input=line.encode())
        assert result.exit_code == 0, result.output
        told.append([(fact["subject"]["name"], fact["relation"]) for fact in json.loads(result.stdout)["facts"]])
    assert told == [[("贵州茅台", "cuts_stake_in")], []]
