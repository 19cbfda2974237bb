"""A reader of roles on made-up sentences: it learns, repeats itself, is stored whole and read by the extractor."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

pytest.importorskip("sklearn")
pytest.importorskip("pycrfsuite")

from extraction.cli import extract
from extraction.pipeline import Extractor
from extraction.training.cli import train
from extraction.training.rescoring import model_beside
from extraction.training.role_examples import Mark, RoleExample, Triple, hash_of, read_role_examples
from extraction.training.role_features import Words
from extraction.training.role_lexicon import KnownNames
from extraction.training.role_reading import marked, paragraph, role_claims, roles_beside
from extraction.training.roles import RoleModel
from kg.errors import DocumentError
from kg.securities.master import Master
from tests.goldens.reports import report

FIRMS = ["天山矿业", "青松建材", "北岭重工", "禾澄环保", "东湖轴承", "西岭造纸"]
GOODS = ["阴极铜", "硫酸镍", "水泥", "商砼", "轴承", "活性炭", "纸浆", "齿轮"]


def taught() -> list[RoleExample]:
    made = []
    for at, firm in enumerate(FIRMS):
        for step in range(len(GOODS)):
            one, other = GOODS[(at + step) % len(GOODS)], GOODS[(at + step + 1) % len(GOODS)]
            child = FIRMS[(at + step + 1) % len(FIRMS)]
            made += [
                example(
                    f"报告期内，{firm}造出了{one}、{other}，销量增长。",
                    (firm, "produces", one),
                    (firm, "produces", other),
                ),
                example(f"{firm}的{one}主要用于{other}行业。", (one, "upstream_of", other)),
                example(f"今年{one}和{other}的价格上涨，{firm}没有公告。"),
            ]
            if child != firm:
                made.append(example(f"{firm}名下有{child}一家。", (child, "subsidiary_of", firm)))
    return made


def example(text: str, *triples: tuple[str, str, str]) -> RoleExample:
    return RoleExample(text, frozenset(Triple(*triple) for triple in triples), marks(text))


def marks(text: str) -> tuple[Mark, ...]:
    return tuple(Mark(m.start(), m.end(), "company") for firm in [*FIRMS, "贵州茅台"] for m in re.finditer(firm, text))


def told(model: RoleModel, text: str) -> set[tuple[str, str, str]]:
    return {(text[slice(*r.owner)], r.relation, text[slice(*r.name)]) for r in model.read(text, marks(text))}


@pytest.fixture(scope="module")
def model() -> RoleModel:
    return RoleModel.fit(taught())


def test_what_was_taught_is_read_of_other_names(model):
    found = told(model, "报告期内，贵州茅台造出了暖水瓶、丝杠，销量增长。")
    assert found == {("贵州茅台", "produces", "暖水瓶"), ("贵州茅台", "produces", "丝杠")}


def test_what_is_used_is_an_owner_of_its_own(model):
    assert told(model, "天山矿业的硫酸镍主要用于齿轮行业。") == {("硫酸镍", "upstream_of", "齿轮")}


def test_a_child_is_listed_of_its_parent(model):
    assert told(model, "天山矿业名下有北岭重工一家。") == {("天山矿业", "subsidiary_of", "北岭重工")}


def test_a_text_of_other_things_holds_nothing(model):
    assert told(model, "今年水泥和商砼的价格上涨，天山矿业没有公告。") == set()
    assert told(model, "") == set()


def test_the_same_examples_give_the_same_bytes(model, tmp_path):
    model.save(tmp_path / "one.npz")
    RoleModel.fit(taught()[::-1]).save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_it_comes_back_as_it_was_stored(model, tmp_path):
    model.save(tmp_path / "roles.npz")
    loaded = RoleModel.load(tmp_path / "roles.npz")
    text = "报告期内，西岭造纸造出了纸浆、丝杠，销量增长。"
    assert loaded.read(text, marks(text)) == model.read(text, marks(text)) != []
    assert (loaded.trained_on, loaded.examples) == (hash_of(taught()), len(taught()))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + b"\0" * 18])
def test_a_broken_file_is_said(content, tmp_path):
    path = tmp_path / "roles.npz"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match="train it again"):
        RoleModel.load(path)


def test_texts_without_any_triple_are_refused():
    with pytest.raises(DocumentError, match="can be learnt"):
        RoleModel.fit([example(f"今天{firm}休息。") for firm in FIRMS])


def test_a_name_is_known_by_the_other_texts_alone():
    one, other = example("甲公司卖水泥。", ("甲公司", "produces", "水泥")), example("水泥涨价。")
    names = KnownNames.of([one, other])
    assert [(each.role, each.share, each.starts) for each in names.find("买水泥。")] == [("produces", 0.5, (1,))]
    assert list(names.find(one.text, one)) == []


def test_words_over_a_place_are_whole():
    words = Words.of("天山矿业生产水泥。")
    covered = words.covering(6, 8)
    assert "".join(words.words[at] for at in covered) == "水泥"
    assert list(words.covering(20, 21)) == []


# ── in the extractor ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def plain() -> Extractor:
    return Extractor(Master.load(), ner=False)


def test_the_model_adds_facts_to_those_of_the_patterns(model, plain):
    document = report("报告期内，贵州茅台造出了暖水瓶、丝杠，销量增长。")
    trained = Extractor(Master.load(), ner=False, roles=model)
    found = [each.extract(document, recorded_at=datetime(2025, 6, 30, tzinfo=UTC)).facts for each in (plain, trained)]
    made = {fact.object for fact in found[1] if fact.relation == "produces"}
    assert made == {"product:暖水瓶", "product:丝杠"}
    assert {fact.id for fact in found[0]} <= {fact.id for fact in found[1]}


def test_an_owner_of_the_sentence_before_is_understood(model, plain):
    text = "本文介绍贵州茅台。报告期内，造出了暖水瓶、丝杠，销量增长。"
    document = paragraph(text)
    claims = [claim for claim, _ in role_claims(model, document, plain.annotate(document))]
    assert {(claim.subject.name, claim.subject.start < 0, claim.object.name) for claim in claims} == {
        ("贵州茅台", True, "暖水瓶"),
        ("贵州茅台", True, "丝杠"),
    }


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────────


def labelled(path) -> None:
    rows = [
        {"text": each.text, "triples": [[t.subject, t.relation, t.object] for t in sorted(each.triples)]}
        for each in taught()
    ]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")


def test_the_command_lays_a_model_beside_the_base_that_extract_asks(tmp_path, monkeypatch):
    monkeypatch.setenv("KG_NER", "0")
    labelled(tmp_path / "labelled.jsonl")
    kb = tmp_path / "kb.liantu"
    result = CliRunner().invoke(train, ["--from", str(tmp_path / "labelled.jsonl"), "--kb", str(kb)])
    assert result.exit_code == 0, result.output
    assert hash_of(taught()) in result.output
    assert RoleModel.load(roles_beside(model_beside(kb))).trained_on == hash_of(taught())
    line = json.dumps(
        {"id": 1, "text": "报告期内，贵州茅台造出了暖水瓶、丝杠，销量增长。", "date": "2025-06-30"}, ensure_ascii=False
    )
    found = []
    for base in (kb, tmp_path / "other.liantu"):
        options = ["-", "--no-ner", "--workers", "1", "--kb", str(base)]
        result = CliRunner().invoke(extract, options, input=line.encode())
        assert result.exit_code == 0, result.output
        facts = json.loads(result.stdout)["facts"]
        found.append(sorted(fact["object"]["name"] for fact in facts if fact["relation"] == "produces"))
    assert "丝杠" in found[0]
    assert found[1] == []


def test_labelled_lines_are_read_and_marked(tmp_path, plain):
    labelled(tmp_path / "labelled.jsonl")
    read = read_role_examples(tmp_path / "labelled.jsonl")
    assert [(each.text, each.triples) for each in read] == [(each.text, each.triples) for each in taught()]
    (one,) = marked([RoleExample("贵州茅台主要从事白酒生产。", frozenset())], plain.annotate)
    assert Mark(0, 4, "company") in one.marks
    assert ("operates", "profile.does", (0, 4)) in {(mark.label, mark.read, mark.owner) for mark in one.marks}


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{", "not JSON"),
        ('{"text": "甲"}', "no triples"),
        ('{"text": "甲和乙", "triples": [["甲", "produces"]]}', "no triple"),
        ('{"text": "甲和乙", "triples": [["甲", "loves", "乙"]]}', "no relation loves"),
        ('{"text": "甲和乙", "triples": [["甲", "produces", "丙"]]}', "does not stand in the text"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, cause):
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n" + line, encoding="utf-8")
    with pytest.raises(DocumentError, match=cause) as fault:
        read_role_examples(path)
    assert "labelled.jsonl:2" in str(fault.value)
