"""What a rule reads exactly, no guess of another reader contradicts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from extraction.claims.relations.precedence import settled
from extraction.sentence import AnnotatedSentence, Claim, EntityMention
from extraction.text.sentences import split
from kg.model import Kind

_GUESS = "edges@1"


def sentence_of(text):
    return AnnotatedSentence(split(text, 0, len(text))[0], (), (), ())


def mentioned(sentence, name):
    kind = Kind.COMPANY if name.endswith(("公司", "商", "局")) else Kind.PRODUCT
    start = sentence.text.find(name)
    return EntityMention(f"{kind}:{name}", kind, name, start, start + len(name) if start >= 0 else -1)


def row_of(sentence, subject, relation, object_, *, reader="", pattern=""):
    ends = mentioned(sentence, subject), mentioned(sentence, object_)
    span = min(each.start for each in ends), max(each.end for each in ends)
    extra = {"reader": reader} if reader else {}
    return Claim(relation, *ends, *span, pattern=pattern or relation, confidence=0.8, **extra), sentence


def kept(rows):
    return {(claim.subject.name, claim.relation, claim.object.name) for claim, _ in settled(rows)}


def test_a_frame_is_not_reversed_and_its_agreement_makes_it_surer():
    sentence = sentence_of("甲公司向乙公司供应铜箔。")
    frame = row_of(sentence, "甲公司", "supplies", "乙公司", pattern="firms.supplies.to")
    same = row_of(sentence, "甲公司", "supplies", "乙公司", reader=_GUESS)
    reverse = row_of(sentence, "乙公司", "supplies", "甲公司", reader=_GUESS)
    ((claim, _),) = settled([frame, same, reverse])
    assert (claim.subject.name, claim.object.name) == ("甲公司", "乙公司")
    assert claim.confidence > 0.9


def test_a_frame_leaves_no_other_seller_to_its_buyers_and_no_buyer_of_another_sentence():
    sentence = sentence_of("甲公司的主要客户包括乙公司、丙公司。")
    frames = [
        row_of(sentence, "甲公司", "supplies", buyer, pattern="firms.supplies.list") for buyer in ("乙公司", "丙公司")
    ]
    listed = row_of(sentence, "丙公司", "supplies", "乙公司", reader=_GUESS)
    fetched = row_of(sentence, "丁公司", "supplies", "乙公司", reader=_GUESS)
    lent = row_of(sentence, "甲公司", "supplies", "戊公司", reader=_GUESS)
    assert kept([*frames, listed, fetched, lent]) == {
        ("甲公司", "supplies", "乙公司"),
        ("甲公司", "supplies", "丙公司"),
    }


def test_a_buyer_makes_nothing_that_its_frame_names_and_no_partner_stands_for_a_supply():
    sentence = sentence_of("甲公司向乙公司供应铜箔。")
    frame = row_of(sentence, "甲公司", "supplies", "乙公司", pattern="firms.supplies.to")
    made = row_of(sentence, "乙公司", "produces", "铜箔", reader=_GUESS)
    sold = row_of(sentence, "甲公司", "produces", "铜箔", reader=_GUESS)
    partner = row_of(sentence, "乙公司", "partners_with", "甲公司", reader=_GUESS)
    assert kept([frame, made, sold, partner]) == {("甲公司", "supplies", "乙公司"), ("甲公司", "produces", "铜箔")}


def test_a_chain_is_neither_turned_round_nor_cut_short():
    sentence = sentence_of("甲料是乙料的核心原材料，乙料的下游为丙件。")
    rows = [
        row_of(sentence, "甲料", "upstream_of", "乙料"),
        row_of(sentence, "乙料", "upstream_of", "丙件"),
        row_of(sentence, "丙件", "upstream_of", "甲料", reader=_GUESS),
        row_of(sentence, "甲料", "upstream_of", "丙件", reader=_GUESS),
    ]
    assert kept(rows) == {("甲料", "upstream_of", "乙料"), ("乙料", "upstream_of", "丙件")}


def test_no_guess_leads_against_the_sides_that_a_sentence_states():
    sentence = sentence_of("甲产业链的上游为乙料和丁料，中游为丙件，下游为戊品。")
    right = row_of(sentence, "丁料", "upstream_of", "丙件", reader=_GUESS)
    wrong = [("戊品", "甲"), ("戊品", "乙料"), ("丙件", "甲"), ("甲", "丁料"), ("丙件", "乙料")]
    rows = [row_of(sentence, low, "upstream_of", high, reader=_GUESS) for low, high in wrong]
    turned = {("甲", "upstream_of", "戊品"), ("丁料", "upstream_of", "甲")}
    assert kept([*rows, right]) == {("丁料", "upstream_of", "丙件")} | turned


def test_an_input_and_what_it_goes_into_are_not_made_by_the_company_of_the_label():
    sentence = sentence_of("甲公司：乙料是丙件的核心原材料，乙料涨价推高丙件成本。")
    flow = row_of(sentence, "乙料", "upstream_of", "丙件")
    input_, own = (row_of(sentence, "甲公司", "produces", name, reader=_GUESS) for name in ("乙料", "丙件"))
    assert kept([flow, input_, own]) == {("乙料", "upstream_of", "丙件")}


def test_a_clause_gives_its_product_to_its_own_companies_only():
    sentence = sentence_of("乙料的下游为丙件，甲公司主营乙料。")
    own = row_of(sentence, "甲公司", "produces", "乙料")
    other = row_of(sentence, "甲公司", "produces", "丙件", reader=_GUESS)
    assert kept([own, other]) == {("甲公司", "produces", "乙料")}


def test_a_price_mover_operates_nothing():
    sentence = sentence_of("光模块板块涨幅居前，甲公司涨停。")
    assert kept([row_of(sentence, "甲公司", "operates", "光模块", reader=_GUESS)]) == set()


@pytest.mark.parametrize("end", ["头部云厂商", "互联网公司", "国家药监局"])
def test_a_kind_of_firm_or_a_regulator_buys_nothing(end):
    sentence = sentence_of(f"甲公司向{end}供应设备。")
    claim, _ = row_of(sentence, "甲公司", "supplies", end, reader=_GUESS)
    unlisted = replace(claim, object=replace(claim.object, entity=f"org:{end}"))
    assert settled([(unlisted, sentence)]) == []


def test_a_flow_of_funds_owns_nothing():
    sentence = sentence_of("南向资金持仓前三为甲公司。")
    claim, _ = row_of(sentence, "南向资金", "invests_in", "甲公司", reader=_GUESS)
    flow = replace(claim.subject, entity="institution:南向资金")
    assert settled([(replace(claim, subject=flow), sentence)]) == []


def test_a_person_without_shares_is_no_owner():
    sentence = sentence_of("张某1993年加入甲公司。")
    claim, _ = row_of(sentence, "张某", "holds_stake_in", "甲公司", reader=_GUESS)
    person = replace(claim.subject, entity="person:张某")
    assert settled([(replace(claim, subject=person), sentence)]) == []


def test_who_buys_or_names_a_thing_of_another_clause_does_not_make_it():
    bought = sentence_of("甲公司是乙料的主要采购方。")
    sold = sentence_of("甲公司向丙件厂商供应丁料。")
    beside = sentence_of("乙公司主营丙件，甲公司运营电站。")
    own = sentence_of("丙件的下游为电站，甲公司从事电站开发。")
    rows = [
        row_of(bought, "甲公司", "produces", "乙料", reader=_GUESS),
        row_of(sold, "甲公司", "produces", "丙件", reader=_GUESS),
        row_of(sold, "甲公司", "produces", "丁料", reader=_GUESS),
        row_of(beside, "甲公司", "operates", "丙件", reader=_GUESS),
        row_of(own, "甲公司", "operates", "电站", reader=_GUESS),
    ]
    assert kept(rows) == {("甲公司", "produces", "丁料"), ("甲公司", "operates", "电站")}


def test_what_a_list_of_a_chain_names_is_no_company():
    sentence = sentence_of("乙料的上游为丁石和甲水，下游为丙件。")
    (claim, _) = row_of(sentence, "甲水", "operates", "乙料", reader=_GUESS)
    firm = replace(claim, subject=replace(claim.subject, entity="org:甲水", kind=Kind.COMPANY))
    assert settled([(firm, sentence)]) == []


@pytest.mark.parametrize(
    ("text", "maker", "product"),
    [
        ("甲公司推出新组件，甲电池与丁电池形成竞争。", "甲公司", "丁电池"),
        ("甲公司向丙厂供应乙料，丁公司供应丙件。", "甲公司", "丙件"),
        ("丁电池扩产带动甲公司订单增长。", "甲公司", "丁电池"),
        ("甲公司向白酒、消费电子企业供应酒盒。", "甲公司", "白酒"),
        ("丁电池的产能由甲公司等四家企业占据。", "甲公司", "乙料"),
    ],
)
def test_a_product_of_other_companies_rivals_or_sentences_is_not_made(text: str, maker: str, product: str):
    sentence = sentence_of(text)
    firms = tuple(mentioned(sentence, name) for name in ("甲公司", "丁公司") if name in text)
    sentence = replace(sentence, refs=firms)
    assert kept([row_of(sentence, maker, "produces", product, reader=_GUESS)]) == set()


def test_a_product_is_read_in_full():
    sentence = sentence_of("甲公司的主要产品包括丁电池整线设备。")
    assert kept([row_of(sentence, "甲公司", "produces", "丁电池")]) == {("甲公司", "produces", "丁电池整线设备")}


@pytest.mark.parametrize(
    ("text", "seller", "buyer", "stays"),
    [
        ("甲公司扩产，乙公司向丙公司供货。", "甲公司", "丙公司", False),
        ("乙公司向丙公司供货，并服务丁公司。", "丙公司", "丁公司", False),
        ("甲公司的方案成本低于丁公司。", "甲公司", "丁公司", False),
        ("甲公司获丁公司投资。", "丁公司", "甲公司", False),
        ("甲公司产线由丁公司设备装配。", "丁公司", "甲公司", True),
    ],
)
def test_a_guessed_supply_stands_where_no_frame_and_no_comparison_speaks_against_it(text, seller, buyer, stays):
    sentence = sentence_of(text)
    frames = [row_of(sentence, "乙公司", "supplies", "丙公司", pattern="firms.supplies.to")] if "乙公司" in text else []
    guess = row_of(sentence, seller, "supplies", buyer, reader=_GUESS)
    assert ((seller, "supplies", buyer) in kept([*frames, guess])) is stays


@pytest.mark.parametrize(
    ("text", "relation", "stays"),
    [
        # a guess needs a word for the relation
        ("甲公司第一大客户为乙公司。", "holds_stake_in", False),
        ("甲公司持有乙公司12%股份。", "holds_stake_in", True),
        ("甲公司中标美国乙公司项目。", "acquires", False),
        ("甲公司收购乙公司。", "acquires", True),
        ("甲公司更名为乙公司。", "subsidiary_of", True),  # 公司 may be 子公司
        # what is held by a firm that is named, a firm that was bought, talks
        ("甲公司收购乙公司等持有的财务部7%股权。", "acquires", False),
        ("甲公司从乙公司收购双抗。", "partners_with", False),
        ("甲公司与乙公司合作。", "partners_with", True),
        ("甲公司正与乙公司商讨供货。", "supplies", False),
        ("甲公司有意入股乙公司。", "holds_stake_in", False),
    ],
)
def test_a_guess_stands_only_where_its_sentence_speaks_of_the_relation(text, relation, stays):
    rows = [row_of(sentence_of(text), "甲公司", relation, "乙公司", reader=_GUESS)]
    assert bool(kept(rows)) is stays


def test_cells_of_a_flattened_table_are_not_joined():
    far = sentence_of("甲公司2021-01-08公告 链接：https://a.cn/1.pdf 2021-01-07 第九届董事会决议 收购 乙公司 公告")
    assert not kept([row_of(far, "甲公司", "acquires", "乙公司", pattern="event.acquisition")])
    year = sentence_of("甲公司2007收购乙公司60%股权。")
    assert not kept([row_of(year, "甲公司", "acquires", "乙公司", pattern="firms.acquires.buys")])
    dated = sentence_of("甲公司2007年收购乙公司60%股权。")
    assert kept([row_of(dated, "甲公司", "acquires", "乙公司", pattern="firms.acquires.buys")])


def test_a_customer_makes_nothing_by_being_named():
    sentence = sentence_of("辊压机国内份额超30%，客户包括乙公司、甲公司。")
    assert not kept([row_of(sentence, "甲公司", "produces", "辊压机", reader=_GUESS)])


def test_what_goods_go_into_is_not_made_by_their_maker():
    part = sentence_of("甲公司产品应用于刻蚀设备及镀膜机。")
    assert not kept([row_of(part, "甲公司", "produces", each, reader=_GUESS) for each in ("刻蚀设备", "镀膜机")])
    own = sentence_of("甲公司推出应用于晶圆厂的镀膜机。")
    assert kept([row_of(own, "甲公司", "produces", "镀膜机", reader=_GUESS)])


def test_what_a_sentence_names_again_is_still_no_product_of_who_makes_its_input():
    sentence = sentence_of("甲公司：隔板是电堆的重要辅材，电堆排产上升带动隔板需求。")
    claim, _ = row_of(sentence, "甲公司", "produces", "电堆", reader=_GUESS)
    second = sentence.text.rindex("电堆")
    again = replace(claim, object=replace(claim.object, start=second, end=second + 2))
    assert not kept([(again, sentence)])


def test_what_is_replaced_is_not_made_by_who_replaces_it():
    plan = sentence_of("甲公司：推进铜替代银浆，降低成本。")
    assert not kept([row_of(plan, "甲公司", "produces", "银浆", reader=_GUESS)])
    own = sentence_of("甲公司实现银浆国产替代。")
    assert kept([row_of(own, "甲公司", "produces", "银浆", reader=_GUESS)])
