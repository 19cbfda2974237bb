"""What every view keeps to: nothing later than its day, names, superseding, words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from kg.model import Alias, Entity, Kind, Mention, MentionStatus, Value
from kg.period import month, quarter, since, year
from tests.contracts.readings import (
    BYD,
    CATL,
    LITHIUM,
    MARGIN,
    READ,
    day,
    denied,
    fact,
    planned,
    reading,
    reported,
)

if TYPE_CHECKING:
    from kg.model import Fact, Reading
    from kg.store.port import Store, View


def seen(store: Store, *readings: Reading) -> View:
    with store.writer() as writer:
        for item in readings:
            writer.write(item)
    return store.view()


def closings(view: View) -> dict[str, str]:
    """Return superseded facts and their superseders as the days they were last said."""
    days = {item.id: str((item.last_published_on - day(0)).days) for item in view.facts()}
    return {days[item.id]: days[item.superseded_by] for item in view.facts() if item.superseded_by}


# ── days ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_as_of_shows_only_what_was_published(store: Store):
    seen(store, reading(1, 0, reported(20)), reading(2, 5, reported(20), fact(CATL, "uses", LITHIUM)))
    before = store.view(as_of=day(4))
    (only,) = before.facts()
    assert [item.document for item in only.evidence] == ["doc:1"]
    assert [head.id for head in before.documents()] == ["doc:1"]
    assert (before.document("doc:2"), before.chunks("doc:2"), before.mentions("doc:2")) == (None, [], [])
    assert before.entity(LITHIUM) is None
    assert before.named("碳酸锂") == []
    assert not list(before.facts(object=LITHIUM))
    assert len(list(store.view(as_of=day(5)).facts())) == 2
    assert not list(store.view(as_of=day(-1)).entities())


def test_known_at_shows_only_what_was_read(store: Store):
    late = READ + timedelta(days=30)
    seen(store, reading(1, 5, reported(20)), reading(2, 0, reported(20), read=late), reading(3, 1, read=late))
    before = store.view(known_at=late - timedelta(microseconds=1))
    (only,) = before.facts()
    assert [item.document for item in only.evidence] == ["doc:1"]
    assert [head.id for head in before.documents()] == ["doc:1"]
    assert {chunk.document for chunk, _ in before.search("碳酸锂", 9)} == {"doc:1"}
    assert [head.id for head in store.view(known_at=late).documents()] == ["doc:2", "doc:3", "doc:1"]
    assert [head.id for head in store.view(as_of=day(0), known_at=late).documents()] == ["doc:2"]
    assert not list(store.view(as_of=day(0), known_at=READ).documents())


def test_each_instant_of_reading_counts(store: Store):
    """One document may be read again later with a better extractor; until then the new facts are not known."""
    both = reading(1, 0, reported(20), fact(CATL, "uses", LITHIUM))
    late = replace(both.facts[1].evidence[0], recorded_at=READ + timedelta(days=9))
    seen(store, replace(both, facts=(both.facts[0], replace(both.facts[1], evidence=(late,))), recorded_at=None))
    assert [item.relation for item in store.view(known_at=READ).facts()] == ["reports"]
    assert len(list(store.view(known_at=READ + timedelta(days=9)).facts())) == 2
    assert not list(store.view(known_at=READ - timedelta(days=1)).documents())


def test_facts_are_not_known_before_their_document(store: Store):
    seen(store, replace(reading(1, 0, reported(20)), recorded_at=READ + timedelta(days=9)))
    assert not list(store.view(known_at=READ).facts())
    assert not list(store.view(known_at=READ).facts(subject=CATL))


def test_during_filters_on_stated_validity_else_on_publication(store: Store):
    stated = reported(20, valid=quarter(2023, 1))
    view = seen(store, reading(1, 40, stated, fact(CATL, "uses", LITHIUM)))
    assert [item.relation for item in view.during(year(2023)).facts()] == ["reports"]
    assert [item.relation for item in view.during(month(2024, 2)).facts()] == ["uses"]
    assert not list(view.during(month(2024, 1)).facts())
    assert len(list(view.during(since(day(-999))).facts(subject=CATL))) == 2


def test_narrowing_the_period_revives_nothing(store: Store):
    old, new = reported(20, valid=quarter(2023, 1)), denied(reported(21))
    view = seen(store, reading(1, 0, old), reading(2, 9, new))
    (only,) = view.during(year(2023)).facts()
    assert only.superseded_by


# ── facts by their ends ────────────────────────────────────────────────────────────────────────────────────────────


def test_facts_are_found_by_each_condition_and_all_together(store: Store):
    view = seen(store, reading(1, 0, reported(20), fact(CATL, "uses", LITHIUM), fact(BYD, "uses", LITHIUM)))
    every = list(view.facts())
    assert [item.id for item in every] == sorted(item.id for item in every)
    assert {item.subject for item in view.facts(object=LITHIUM)} == {CATL, BYD}
    assert {item.relation for item in view.facts(subject=CATL)} == {"reports", "uses"}
    assert len(list(view.facts(relation="uses"))) == 2
    (only,) = view.facts(subject=CATL, object=LITHIUM, relation="uses")
    assert list(view.facts(ids=[only.id, "fact:none"])) == [only]
    assert list(view.facts(ids=[only.id], subject=BYD)) == []
    assert list(view.facts(ids=[])) == []
    assert list(view.facts(subject="sec:none")) == []


@pytest.mark.parametrize("wanted", [{"object": MARGIN}, {"relation": "reports"}, {"subject": CATL}, {}])
def test_a_condition_does_not_hide_who_supersedes(store: Store, wanted: dict[str, str]):
    view = seen(store, reading(1, 0, reported(20)), reading(2, 5, reported(22)))
    assert closings(view) == {"0": "5"}
    assert [item.superseded_by for item in view.facts(**wanted)] == [item.superseded_by for item in view.facts()]
    for item in view.facts():
        assert list(view.facts(ids=[item.id])) == [item]


def test_facts_are_found_by_triples(store: Store):
    uses, other = fact(CATL, "uses", LITHIUM), fact(BYD, "uses", LITHIUM)
    view = seen(
        store,
        reading(1, 0, reported(20), uses, other, fact(CATL, "affects", LITHIUM, sign=1)),
        reading(2, 5, reported(22), denied(uses), fact(BYD, "reports", MARGIN, value=Value(3, "%"))),
    )
    wanted = {(CATL, "uses", LITHIUM), (CATL, "reports", MARGIN), (BYD, "uses", "product:none"), ("", "uses", LITHIUM)}
    for seen_then in (view, store.view(as_of=day(4)), view.during(month(2024, 2)), view.during(month(2023, 12))):
        found = [item for item in seen_then.facts() if (item.subject, item.relation, item.object) in wanted]
        assert list(seen_then.facts(triples=wanted)) == found
        assert list(seen_then.facts(triples=[*wanted], relation="uses")) == [f for f in found if f.relation == "uses"]
        assert list(seen_then.facts(triples=wanted, ids=[item.id for item in found[1:]])) == found[1:]
    assert len(list(view.facts(triples=wanted))) == 4
    assert len(list(store.view(as_of=day(4)).facts(triples=wanted))) == 2
    assert list(view.facts(triples=[])) == []


# ── superseding ────────────────────────────────────────────────────────────────────────────────────────────────────

PARENT, OTHER_PARENT = fact(BYD, "subsidiary_of", CATL), fact(BYD, "subsidiary_of", "org:母公司")
USES = fact(CATL, "uses", LITHIUM)


@pytest.mark.parametrize(
    ("earlier", "later", "closes"),
    [
        (reported(20), reported(22), True),
        (reported(20), reported(22, valid=quarter(2024, 1)), False),
        (reported(20), planned(reported(22)), False),
        (reported(20), fact(CATL, "reports", MARGIN, value=Value(22, "元")), False),
        (reported(20), fact(CATL, "reports", MARGIN, value=Value(22, "%", change="yoy")), False),
        (reported(20), fact(CATL, "reports", MARGIN, value=Value(22, "%", basis="TTM")), False),
        (reported(20, qualifiers=(("product", "电池"),)), reported(22, qualifiers=(("product", "材料"),)), False),
        (reported(20), fact(CATL, "reports", "indicator:净利率", value=Value(22, "%")), False),
        (PARENT, OTHER_PARENT, True),
        (USES, fact(CATL, "uses", "product:石墨"), False),
        (USES, denied(USES), True),
        (USES, planned(denied(USES)), False),
        (USES, denied(fact(BYD, "uses", LITHIUM)), False),
        (denied(USES), USES, False),
        (planned(USES), denied(USES), True),
        (replace(USES, valid=year(2022)), denied(replace(USES, valid=year(2024))), False),
        (replace(USES, qualifiers=(("product", "甲"),)), denied(replace(USES, qualifiers=(("product", "乙"),))), False),
        (replace(USES, qualifiers=(("product", "甲"),)), denied(USES), True),
    ],
)
def test_what_a_later_fact_closes(store: Store, earlier: Fact, later: Fact, *, closes: bool):
    view = seen(store, reading(1, 0, earlier), reading(2, 7, later))
    assert closings(view) == ({"0": "7"} if closes else {})
    assert closings(store.view(as_of=day(6))) == {}


def test_of_one_day_nothing_is_later(store: Store):
    assert closings(seen(store, reading(1, 0, reported(20)), reading(2, 0, reported(22)))) == {}


def test_brokers_who_disagree_are_two_facts(store: Store):
    view = seen(
        store,
        reading(1, 0, reported(20), speaker="甲"),
        reading(2, 3, reported(22), speaker="乙"),
        reading(3, 5, reported(23), speaker="甲"),
        reading(4, 6, reported(24), speaker=""),
        reading(5, 7, reported(25), speaker=""),
    )
    assert closings(view) == {"0": "5"}


def test_a_number_that_two_brokers_share_lives_until_both_have_moved_on(store: Store):
    both = (reading(1, 0, reported(20), speaker="甲"), reading(2, 1, reported(20), speaker="乙"))
    view = seen(store, *both, reading(3, 5, reported(22), speaker="甲"))
    assert closings(view) == {}
    view = seen(store, reading(4, 6, reported(23), speaker="乙"))
    assert closings(view) == {"1": "6"}


def test_a_parent_is_closed_whoever_tells_of_the_next(store: Store):
    view = seen(store, reading(1, 0, PARENT, speaker="甲"), reading(2, 3, OTHER_PARENT, speaker="乙"))
    assert closings(view) == {"0": "3"}


def test_a_claim_said_again_is_current_again(store: Store):
    said = (reading(1, 0, reported(20)), reading(2, 3, reported(22)), reading(3, 6, reported(20)))
    assert closings(seen(store, *said)) == {"3": "6"}
    assert closings(store.view(as_of=day(5))) == {"0": "3"}


def test_the_newest_of_several_is_named_as_the_one_that_supersedes(store: Store):
    said = [reading(number, number, reported(20 + number)) for number in range(6)]
    assert closings(seen(store, *said)) == {str(number): "5" for number in range(5)}
    assert closings(store.view(as_of=day(3))) == {str(number): "3" for number in range(3)}


def test_a_claim_said_again_in_other_words_is_current_again(store: Store):
    first = fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="万"))
    again = fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="亿"))
    between = [fact(CATL, "reports", MARGIN, value=Value(number, "元")) for number in range(6)]
    view = seen(store, reading(1, 0, first), reading(2, 3, *between), reading(3, 6, again))
    assert closings(view) == {"3": "6"}
    assert [item.superseded_by for item in view.facts(ids=[item.id for item in reading(1, 0, first).facts])] == [""]


# ── names ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_names_are_found_folded_and_only_from_their_day(store: Store):
    renamed = Entity(CATL, Kind.COMPANY, "CATL 时代", (Alias("宁王"),), ("300750.SZ", "03750.HK"))
    view = seen(store, reading(1, 0), reading(2, 5, entities=(renamed,)))
    for text in ("宁德时代", "宁 王", "ｃａｔｌ时代", "300750.sz", "03750.HK"):
        assert [entity.id for entity in view.named(text)] == [CATL], text
    assert view.named("宁德") == []
    assert view.entity(CATL) == Entity(
        CATL, Kind.COMPANY, "CATL 时代", (Alias("宁王"), Alias("宁德时代")), ("300750.SZ", "03750.HK")
    )
    assert list(view.names()) == [("CATL 时代", CATL), ("宁德时代", CATL), ("宁王", CATL)]
    before = store.view(as_of=day(4))
    assert before.named("宁王") == before.named("03750.hk") == []
    assert before.entity(CATL) == Entity(CATL, Kind.COMPANY, "宁德时代", codes=("300750.SZ",))
    assert list(before.names()) == [("宁德时代", CATL)]


def test_names_that_hold_a_text_are_reported_from_their_day_only(store: Store):
    called = (Entity("product:锂矿", Kind.PRODUCT, "锂矿", (Alias("100%锂石"),), ("锂-1",)),)
    view = seen(store, reading(1, 0), reading(2, 5, entities=called))
    assert list(view.names("锂")) == [("100%锂石", "product:锂矿"), ("锂矿", "product:锂矿")]  # a code is no name
    for text in ("锂矿", "德时", "宁", "%", "矿石", "_", "CATL"):
        assert list(view.names(text)) == [pair for pair in view.names() if text in pair[0]], text
    assert list(store.view(as_of=day(4)).names("锂")) == []
    assert list(store.view(known_at=READ - timedelta(days=1)).names("宁德")) == []


def test_some_entities_and_some_documents_are_reported_as_among_all(store: Store):
    renamed = Entity(CATL, Kind.COMPANY, "CATL")
    later = reading(2, 5, entities=(renamed, Entity(BYD, Kind.COMPANY, "比亚迪")), read=READ + timedelta(days=9))
    seen(store, reading(1, 0, fact(CATL, "uses", LITHIUM)), later)
    ids = [LITHIUM, BYD, CATL, CATL, "product:none"]
    for view in (store.view(), store.view(as_of=day(4)), store.view(known_at=READ)):
        assert list(view.entities(ids=ids)) == list(view.entities())
        assert list(view.entities(Kind.PRODUCT, ids=ids)) == list(view.entities(Kind.PRODUCT))
        assert list(view.entities(ids=[])) == list(view.documents([])) == []
        assert list(view.documents(["doc:2", "doc:none", "doc:1", "doc:1"])) == list(view.documents())
    assert [entity.name for entity in store.view(as_of=day(4)).entities(ids=[CATL, BYD])] == ["宁德时代"]
    assert [head.id for head in store.view(as_of=day(4)).documents({"doc:1", "doc:2"})] == ["doc:1"]
    assert [head.id for head in store.view(known_at=READ).documents({"doc:2"})] == []


def test_one_name_may_mean_two(store: Store):
    pair = (Entity("product:苹果", Kind.PRODUCT, "苹果"), Entity("org:苹果", Kind.COMPANY, "苹果"))
    view = seen(store, reading(1, 0, entities=pair))
    assert [entity.id for entity in view.named("苹果")] == ["org:苹果", "product:苹果"]
    assert [entity.id for entity in view.entities(Kind.PRODUCT)] == ["product:苹果"]


def test_the_latest_visible_document_names_an_entity_whatever_the_order_of_writing(store: Store):
    for number, published in ((3, 5), (2, 1), (1, 1)):
        seen(store, reading(number, published, entities=(Entity(CATL, Kind.COMPANY, f"名{number}"),)))
    entity = store.view().entity(CATL)
    assert entity is not None
    assert (entity.name, [alias.name for alias in entity.aliases]) == ("名3", ["名1", "名2"])
    earlier = store.view(as_of=day(4)).entity(CATL)
    assert earlier is not None
    assert (earlier.name, [alias.name for alias in earlier.aliases]) == ("名2", ["名1"])


def test_an_entity_that_is_only_used_is_known_by_its_id_until_someone_describes_it(store: Store):
    seen(store, reading(1, 0, fact(CATL, "uses", LITHIUM), entities=()))
    assert store.view().entity(LITHIUM) == Entity(LITHIUM, Kind.PRODUCT, "碳酸锂")
    assert store.view().entity(CATL) == Entity(CATL, Kind.COMPANY, "宁德时代")  # as it was mentioned
    price = Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about="product:电池级碳酸锂")
    view = seen(store, reading(2, 5, entities=(price, Entity(LITHIUM, Kind.PRODUCT, "Li2CO3", (Alias("锂盐"),)))))
    described = view.entity(LITHIUM)
    assert described == Entity(LITHIUM, Kind.PRODUCT, "Li2CO3", (Alias("锂盐"), Alias("碳酸锂")))
    assert view.entity("product:电池级碳酸锂") is not None


# ── words ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_character_words_are_found_inside_longer_ones(store: Store):
    view = seen(
        store,
        reading(1, 0, text="碳酸锂价格下跌，电池成本下降。"),
        reading(2, 0, text="生猪存栏下降，猪肉价格回升。"),
        reading(3, 0, text="NVIDIA 的 H100 芯片继续供不应求，缺货至年底"),
    )
    for query, found in (
        ("碳酸", {"doc:1"}),
        ("价格", {"doc:1", "doc:2"}),
        ("nvidia", {"doc:3"}),
        ("Ｈ１００", {"doc:3"}),
    ):
        assert {chunk.document for chunk, _ in view.search(query, 9)} == found, query
    assert view.search("光伏", 9) == []


def test_the_best_passage_comes_first_and_ties_go_by_id(store: Store):
    view = seen(
        store,
        reading(1, 0, text="锂。" * 2 + "白酒渠道库存，动销平稳。" * 3),
        reading(2, 0, text="锂锂锂锂锂锂"),
        reading(3, 0, text="锂锂锂锂锂锂"),
    )
    found = view.search("锂", 9)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert [chunk.id for chunk, _ in found[:4]] == sorted(chunk.id for chunk, _ in found[:4])
    assert {chunk.document for chunk, _ in found[:4]} == {"doc:2", "doc:3"}
    assert view.search("锂", 2) == found[:2]
    assert view.search("锂", 0) == []


def test_scores_do_not_change_by_what_comes_later(store: Store):
    seen(store, reading(1, 0, text="碳酸锂价格下跌。"), reading(2, 0, text="碳酸锂库存增加，需求走弱。"))
    before = store.view(as_of=day(0)).search("碳酸锂 库存", 9)
    later = [reading(number, 5, text="碳酸锂库存碳酸锂库存" * number) for number in range(3, 9)]
    assert seen(store, *later).search("碳酸锂 库存", 9) != before
    assert store.view(as_of=day(0)).search("碳酸锂 库存", 9) == before


@pytest.mark.parametrize(
    "query",
    ["", "  ", "，。！？", '"', "'", "*", "(", ")", "-", "^", ":", "AND", "OR NOT", "NEAR(", 'terms:"价格"', "价格 OR",
     '"价格', "价格* -下跌", "a;DROP TABLE word;--", "{terms}: 价格", "+", "\x00", "%", "_"],
)  # fmt: skip
def test_syntax_in_a_query_is_data(store: Store, query: str):
    view = seen(store, reading(1, 0, text="碳酸锂的价格，继续下跌。"))
    found = view.search(query, 5)
    assert bool(found) == ("价格" in query)


@pytest.mark.parametrize(
    "text", ["𠮷野家与龘靐", "emoji 😀 锂", "e\u0301clair\u200b锂", "नमस्ते 锂", "\x00锂\x00" * 5, "ß ﬁ ½ ①"]
)
def test_any_text_is_kept_and_removed_exactly(store: Store, text: str):
    odd = reading(1, 0, reported(20), text=text, entities=(Entity(LITHIUM, Kind.PRODUCT, text),))
    view = seen(store, odd, reading(2, 0))
    assert view.document("doc:1") == odd.document
    assert view.chunks("doc:1") == list(odd.chunks)
    assert LITHIUM in {entity.id for entity in view.named(text)}
    for chunk in odd.chunks:
        assert chunk in {found for found, _ in view.search(chunk.text, 9)} or not any(map(str.isalnum, chunk.text))
    with store.writer() as writer:
        writer.remove("doc:1")
    assert {chunk.document for chunk, _ in view.search(text, 9)} <= {"doc:2"}


def test_passages_that_mention_an_entity_most_and_newest_first(store: Store):
    often = reading(1, 0, text="宁德时代，宁德时代，以及碳酸锂。")
    twice = replace(
        often,
        mentions=(*often.mentions, replace(often.mentions[0], start=5, end=8, text="宁德时"),
                  Mention(9, 10, "宁", Kind.COMPANY, MentionStatus.UNKNOWN, CATL)),
    )  # fmt: skip
    view = seen(store, twice, reading(2, 1), reading(3, 2), reading(4, 3))
    assert [chunk.document for chunk in view.chunks_mentioning(CATL, 3)] == ["doc:1", "doc:4", "doc:3"]
    assert [chunk.document for chunk in store.view(as_of=day(1)).chunks_mentioning(CATL, 9)] == ["doc:1", "doc:2"]
    assert view.chunks_mentioning(BYD, 9) == view.chunks_mentioning(CATL, 0) == []
