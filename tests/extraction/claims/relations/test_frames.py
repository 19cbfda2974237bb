"""Every frame, slot, stage and share of the lexicon reads its own example, in the right direction."""

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from extraction.claims.relations.details import shares, stages
from extraction.claims.relations.frames import company_frames
from extraction.documents.jsonl import read_record
from extraction.documents.metadata import SourceFile
from extraction.pipeline import Extractor
from extraction.text.lexicon import table
from kg.model import Polarity
from kg.relations import vocabulary

_SOURCE = SourceFile(Path("note"), b"", date(2025, 12, 1), None)


@pytest.fixture(scope="module")
def extractor():
    return Extractor.default(edge_model="off")


def extracted(extractor, text, title="行业周报"):
    document = read_record({"title": title, "date": "2025-09-28", "text": text}, _SOURCE)
    return extractor.extract(document, recorded_at=datetime(2025, 12, 1, tzinfo=UTC))


def pairs_of(reading, relation):
    names = {entity.id: {entity.name, *(alias.name for alias in entity.aliases)} for entity in reading.entities}
    return [(names[fact.subject], names[fact.object], fact) for fact in reading.facts if fact.relation == relation]


@pytest.mark.parametrize("frame", company_frames(), ids=lambda frame: frame.name)
def test_a_frame_reads_its_example(extractor, frame):
    found = pairs_of(extracted(extractor, frame.example), frame.relation)
    for pair in frame.reads:
        subject, object_ = pair.split(">")
        both = vocabulary()[frame.relation].symmetric
        ways = [(subject, object_), *([(object_, subject)] if both else [])]
        assert any(one in left and other in right for left, right, _ in found for one, other in ways), (pair, found)


def supplies_in(extractor, text):
    found = pairs_of(extracted(extractor, text), "supplies")
    return {(min(left, key=len), min(right, key=len)): fact for left, right, fact in found}


@pytest.mark.parametrize(("name", "slot"), table("company_slots")["slots"].items())
def test_a_slot_finds_the_name_of_its_example(name, slot):
    match = re.search(slot["words"], slot["example"])
    assert match is not None, name
    assert match["name"]


@pytest.mark.parametrize(("name", "entry"), table("company_details")["stages"].items())
def test_a_stage_is_the_first_that_its_example_fits(name, entry):
    assert next(stage for stage, words in stages() if words.search(entry["example"])) == name


@pytest.mark.parametrize("entry", table("company_details")["shares"].values())
def test_a_share_is_read_from_its_example(entry):
    number = re.search(r"\d+", entry["example"])
    found = next(words.search(entry["example"]) for _, _, words in shares() if words.search(entry["example"]))
    assert number is not None
    assert found["share"] == number[0]


def test_every_item_of_a_list_is_a_fact_and_unlisted_ones_are_named(extractor):
    found = supplies_in(extractor, "先导智能的主要客户包括宁德时代、清陶能源、Northvolt和比亚迪。")
    assert {buyer for _, buyer in found} == {"宁德时代", "清陶能源", "Northvolt", "比亚迪"}


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("## 中际旭创\n\n主要客户包括谷歌、Meta。", True),
        ("- 中际旭创：产能持续扩张，主要客户包括谷歌、Meta。", True),
        ("中际旭创产能持续扩张。主要客户包括谷歌、Meta。", False),  # named in an earlier sentence only
    ],
)
def test_an_absent_company_is_found_above_the_sentence_the_less_surely_the_farther(extractor, text, sure):
    found = supplies_in(extractor, text)
    assert set(found) == {("中际旭创", "谷歌"), ("中际旭创", "Meta")}
    assert all((fact.confidence >= 0.65) == sure for fact in found.values())


@pytest.mark.parametrize(
    "text",
    [
        "中际旭创产能扩张。国内厂商向谷歌供应光模块。",  # another subject
        "歌尔股份与立讯精密争夺苹果订单。",
        "中国石化为宁德时代提供担保。",
        "中信证券维持宁德时代买入评级，客户结构优化。",
        "比亚迪采购价下调，宁德时代跟随降价。",
    ],
)
def test_what_no_company_delivers_is_no_supply(extractor, text):
    assert supplies_in(extractor, text) == {}


def test_a_note_in_brackets_is_about_the_company_before_it(extractor):
    found = supplies_in(extractor, "移远通信（通信模组供应比亚迪）、德赛西威（域控制器份额领先）。")
    assert set(found) == {("移远通信", "比亚迪")}


def test_an_ended_supply_is_a_denial_that_says_so(extractor):
    fact = supplies_in(extractor, "苹果终止了与欧菲光的采购关系。")["欧菲光", "苹果"]
    assert (fact.polarity, fact.qualifier("stage")) == (Polarity.NEGATIVE, "ended")


def test_a_buyer_is_never_the_maker_of_what_it_buys(extractor):
    reading = extracted(extractor, "天齐锂业向宁德时代供应碳酸锂，天齐锂业生产碳酸锂。")
    assert [seller for seller, _, _ in pairs_of(reading, "produces")] == [{"天齐锂业"}]


def test_two_pairs_in_a_row_stay_apart(extractor):
    found = pairs_of(extracted(extractor, "自主品牌领先（如比亚迪与丰田、小鹏与大众技术合作）。"), "partners_with")
    assert [{"比亚迪"} <= subject or {"比亚迪"} <= object_ for subject, object_, _ in found] == [True]
    found = pairs_of(extracted(extractor, "特斯拉与宁德时代、比亚迪和亿纬锂能达成合作。"), "partners_with")
    assert len(found) == 3


def test_a_contract_s_partner_is_no_subsidiary(extractor):
    text = "杭氧股份：全资子公司杭州建德气体有限公司与正派科技（宁波）有限公司签订《大宗气体供应合同》。"
    found = pairs_of(extracted(extractor, text), "subsidiary_of")
    assert [min(subject) for subject, _, _ in found] == ["杭州建德气体有限公司"]


@pytest.mark.parametrize(
    ("text", "who"),
    [
        # a company that its code introduces within a flattened line is the subject of what follows
        ("中颖电子：多点开花蓝特光学（688127.SH）订单落地，与华为展开合作。", {"蓝特光学", "华为"}),
        ("星源材质、恩捷股份等布局骨架膜，和宁德时代合作的某企业已发布产品。", set()),
        ("清华大学和恒瑞医药联合研发的新药获批。", set()),
    ],
)
def test_whom_a_cooperation_without_a_subject_is_about(extractor, text, who):
    found = pairs_of(extracted(extractor, text), "partners_with")
    assert {name for one, other, _ in found for name in one | other} & {"中颖电子", "恩捷股份", *who} == who
