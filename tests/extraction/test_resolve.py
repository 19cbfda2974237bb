"""`liantu resolve`: the wire, the kinds, the candidates, and lines that cannot be read."""

from __future__ import annotations

import json
from datetime import date

import pytest
from click.testing import CliRunner

from extraction.names.user_names import lexicon_with
from extraction.streams import NameReader
from kg.cli import root
from kg.errors import SettingsError
from kg.securities.master import Master

DAY = date(2025, 6, 1)


@pytest.fixture(scope="module")
def reader() -> NameReader:
    return NameReader(Master.load(), ner=False)


def stated(reader: NameReader, text: str, day: date = DAY):
    return {each["text"]: each for each in reader.read(text, day)}


def run(*lines: str, options=("--no-ner", "--workers", "1")):
    return CliRunner().invoke(root, ["resolve", *options], input="\n".join(lines))


def test_the_wire(reader):
    (mention, *_) = reader.read("贵州茅台（600519.SH）发布公告。", DAY)
    assert {key: mention[key] for key in mention if key != "candidates"} == {
        "start": 0, "end": 4, "text": "贵州茅台", "status": "linked", "entity": "sec:600519.SH", "code": "600519.SH",
        "kind": "company", "score": 1.0,
    }  # fmt: skip
    assert [each["entity"] for each in mention["candidates"]] == ["sec:600519.SH"]


@pytest.mark.parametrize(
    ("text", "year", "name", "code"),
    [
        ("小康股份签约。", 2021, "小康股份", "601127.SH"),
        ("赛力斯签约。", 2025, "赛力斯", "601127.SH"),
        ("东风股份签约。", 2020, "东风股份", "601515.SH"),
        ("东风股份签约。", 2025, "东风股份", "600006.SH"),
    ],
)
def test_the_day_decides(reader, text, year, name, code):
    assert stated(reader, text, date(year, 6, 1))[name]["code"] == code


def test_a_common_word_is_no_company(reader):
    found = stated(reader, "机器人板块走强，太阳能需求增长。")
    assert {each["kind"] for each in found.values()} & {"company"} == set()


def test_a_group_is_not_its_subsidiary_nor_its_listed_arm(reader):
    found = stated(reader, "中国平安与平安银行合作，华能与大唐集团中标。")
    assert found["中国平安"]["code"] == "601318.SH"
    assert found["平安银行"]["code"] == "000001.SZ"
    assert found["华能"]["entity"] == "org:华能集团"
    assert found["华能"]["code"] is None


def test_an_unlisted_company_is_unknown_with_proposals(reader):
    (mention,) = (
        each for each in stated(reader, "上海国际港务有限公司参与投资。").values() if each["kind"] == "company"
    )
    assert (mention["status"], mention["code"]) == ("unknown", None)
    assert mention["entity"].startswith("org:")
    assert mention["candidates"][0]["entity"] == "sec:600018.SH"


def test_traditional_and_wide_characters_keep_their_places(reader):
    text = "寧德時代與ＴＣＬ科技簽約，鋰電池價格上漲。"
    found = stated(reader, text)
    assert found["寧德時代"]["code"] == "300750.SZ"
    assert found["ＴＣＬ科技"]["code"] == "000100.SZ"
    assert all(text[each["start"] : each["end"]] == each["text"] for each in found.values())
    assert found["鋰電池價格"]["entity"] == "indicator:锂电池价格"


def test_explain_shows_each_share():
    (line,) = run(
        json.dumps({"id": "a", "text": "宁德时代扩产。", "date": "2025-06-01"}),
        options=("--no-ner", "--workers", "1", "--explain"),
    ).output.splitlines()
    features = json.loads(line)["mentions"][0]["candidates"][0]["features"]
    assert features["name_by_day"] == 0.75
    assert sum(features.values()) >= 0.75


def test_a_bad_line_is_said_and_the_rest_goes_on():
    good = json.dumps({"id": 7, "text": "宁德时代", "date": "2025-06-01"})
    done = run(good, "{", json.dumps({"id": 8, "text": "x"}), json.dumps({"text": "x", "date": "2025-06-01"}), good)
    assert done.exit_code == 3
    for number in (2, 3, 4):
        assert f"stdin:{number}:" in done.output
    assert done.output.count('"id": 7') == 2


def test_codes_tell_whom_the_document_is_about(reader):
    text = "机器人的订单增长。"
    assert "600519.SH" not in {each["code"] for each in reader.read(text, DAY)}
    with_subject = reader.read(text, DAY, codes=("300024",))
    without = reader.read(text, DAY)
    assert with_subject != without or with_subject[0]["kind"] != "company"


def test_own_names_and_synonyms(tmp_path):
    path = tmp_path / "names.yaml"
    path.write_text(
        "company:\n  甲乙丙新材料有限公司: [甲乙新材]\nproduct:\n  锂电池: [锂离子蓄电池]\n", encoding="utf-8"
    )
    own = NameReader(Master.load(), ner=False, lexicon=lexicon_with(path))
    found = stated(own, "甲乙新材生产锂离子蓄电池。")
    assert found["甲乙新材"]["entity"] == "org:甲乙丙新材料有限公司"
    assert found["锂离子蓄电池"]["entity"] == "product:锂电池"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[]", "must be a mapping"),
        ("planet:\n  火星: []\n", "not an entity kind"),
        ("company: 3\n", "must have the form"),
        ("company:\n  甲乙: 丙\n", "list"),
        ("a: [", "cannot be read"),
    ],
)
def test_own_names_that_cannot_be_read_say_why(tmp_path, text, fault):
    path = tmp_path / "names.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=fault):
        lexicon_with(path)
