"""What every store keeps to when somebody judges who is who: facts follow, and revoking brings back what was."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from kg.errors import JudgementRefused
from kg.judgement import Judgement, Verdict
from kg.model import Alias, Community, Entity, Kind, Mention, MentionStatus, Run, Value
from kg.period import Period
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, denied, fact, reading, reported

if TYPE_CHECKING:
    from kg.model import Reading
    from kg.store.port import Store

OLD = "org:宁德时代新能源"
_OLD = Entity(OLD, Kind.COMPANY, "宁德时代新能源")
LATER = READ + timedelta(days=30)


def judged(verdict: Verdict, subject: str, object_: str = "", *, on: int = 0, **more: object) -> Judgement:
    """Return a judgement that counts from day `on`, written down after all readings unless it says otherwise."""
    stated = {"by": "张三", "why": "同一家公司", "recorded_at": LATER, **more}
    return Judgement("", verdict, subject, day(on), object=object_, **stated)  # type: ignore[arg-type]


def merged(subject: str, object_: str, **more: object) -> Judgement:
    return judged(Verdict.MERGE, subject, object_, **more)  # type: ignore[arg-type]


def split(subject: str, object_: str, name: str, **more: object) -> Judgement:
    return judged(Verdict.SPLIT, subject, object_, name=name, **more)  # type: ignore[arg-type]


def done(store: Store, *steps: Reading | Judgement) -> list[Judgement]:
    kept = []
    with store.writer() as writer:
        for step in steps:
            if isinstance(step, Judgement):
                kept.append(writer.judge(step))
            else:
                writer.write(step)
    return [item for item in kept if item]


# ── facts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_verdict_on_a_fact_is_kept_changes_no_view_and_can_be_revoked(store: Store):
    uses = fact(CATL, "uses", LITHIUM)
    done(store, reading(1, 0, uses))
    before = list(store.view().facts())
    (kept,) = done(store, judged(Verdict.WRONG, before[0].id, name="llm/m@edges-1:uses", score=0.8))
    assert list(store.view().facts()) == before
    assert store.view().judgements() == [kept]
    (revoked,) = done(store, judged(Verdict.REVOKE, kept.id))
    assert {item.id for item in store.view().judgements()} == {kept.id, revoked.id}
    with pytest.raises(JudgementRefused, match="no such fact"):
        done(store, judged(Verdict.RIGHT, "fact:unknown"))


# ── merging ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_merge_makes_one_entity_of_two_and_one_fact_of_what_both_said(store: Store):
    uses, old_uses = fact(CATL, "uses", LITHIUM), fact(OLD, "uses", LITHIUM)
    (kept,) = done(store, reading(1, 0, uses), reading(2, 1, old_uses, entities=(_OLD,)), merged(OLD, CATL))
    view = store.view()
    (only,) = view.facts(relation="uses")
    assert (only.subject, only.id) == (CATL, next(iter(reading(1, 0, uses).facts)).id)
    assert [item.document for item in only.evidence] == ["doc:1", "doc:2"]
    assert only.witnesses == 2
    entity = view.entity(CATL)
    assert entity == Entity(CATL, Kind.COMPANY, "宁德时代", (Alias("宁德时代新能源"),), ("300750.SZ",))
    assert view.entity(OLD) == entity
    assert view.named("宁德时代新能源") == [entity]
    assert [item.id for item in view.entities()] == [LITHIUM, CATL]
    assert view.judgements() == [kept]
    assert kept.id.startswith("judgement:")
    assert store.stats()["judgements"] == 1


def test_what_is_asked_by_an_old_id_is_answered(store: Store):
    before = reading(1, 0, fact(OLD, "uses", LITHIUM), fact(LITHIUM, "affects", OLD, sign=1), entities=(_OLD,))
    done(store, before, reading(2, 0), merged(OLD, CATL))
    view = store.view()
    for old in before.facts:
        (now,) = view.facts(ids=[old.id])
        assert now.id != old.id
        assert list(view.facts(ids=[now.id])) == [now]
    assert {item.relation for item in view.facts(subject=OLD)} == {"uses"}
    assert {item.relation for item in view.facts(object=OLD)} == {"affects"}
    assert list(view.facts(subject=OLD, object=LITHIUM)) == list(view.facts(subject=CATL, object=LITHIUM))
    assert {mention.entity for mention in view.mentions("doc:1")} == {CATL}
    assert list(view.entities(ids=[OLD, LITHIUM])) == [view.entity(LITHIUM), view.entity(CATL)]
    triples = {(OLD, "uses", LITHIUM), (LITHIUM, "affects", CATL)}
    assert {item.id for item in view.facts(triples=triples)} == {item.id for item in view.facts()}
    assert list(view.facts(triples={(CATL, "affects", LITHIUM)})) == []
    assert list(view.names("新能源")) == [("宁德时代新能源", CATL)]


def test_a_merge_sticks_when_the_old_name_comes_back(store: Store):
    done(store, reading(1, 0), reading(2, 0, entities=(_OLD,)), merged(OLD, CATL))
    done(store, reading(3, 5, fact(OLD, "uses", LITHIUM), entities=(_OLD,)))
    (only,) = store.view().facts(relation="uses")
    assert only.subject == CATL
    assert store.view().entity(OLD) == store.view().entity(CATL)
    assert [chunk.document for chunk in store.view().chunks_mentioning(OLD, 1)] == ["doc:3"]
    assert store.view().chunks_mentioning(OLD, 9) == store.view().chunks_mentioning(CATL, 9)


def test_merging_two_kinds_is_refused(store: Store):
    done(store, reading(1, 0, fact(CATL, "uses", LITHIUM)))
    with pytest.raises(JudgementRefused, match=r"product:碳酸锂 is a product and sec:300750.SZ a company"):
        done(store, merged(LITHIUM, CATL))
    assert store.view().judgements() == []


@pytest.mark.parametrize(
    ("judgement", "cause"),
    [
        (merged("org:无", CATL), "no such entity"),
        (merged(CATL, CATL), "already one"),
        (merged(BYD, CATL, why=" "), "an author and a reason"),
        (split(CATL, "org:x", "无名"), "not called"),
        (split(CATL, CATL, "宁德时代"), "another id"),
        (split(CATL, "product:x", "宁德时代"), "a company and product:x a product"),
        (split(CATL, "nonsense", "宁德时代"), "not an id"),
        (split(CATL, "org:x", "宁德时代", documents=("doc:9",)), "no such document"),
        (judged(Verdict.REVOKE, "judgement:0"), "no such judgement"),
    ],
)
def test_nonsense_is_refused_and_nothing_kept(store: Store, judgement: Judgement, cause: str):
    done(store, reading(1, 0, fact(BYD, "uses", LITHIUM)))
    with pytest.raises(JudgementRefused, match=cause):
        done(store, judgement)
    assert store.stats()["judgements"] == 0


def test_the_same_judgement_twice_is_one(store: Store):
    done(store, reading(1, 0, fact(BYD, "uses", LITHIUM)), merged(BYD, CATL))
    with pytest.raises(JudgementRefused, match="already one"):
        done(store, merged(BYD, CATL))


def test_merges_follow_one_another(store: Store):
    a, b, c = "org:甲", "org:乙", "org:丙"
    claims = [fact(end, "uses", LITHIUM) for end in (a, b, c)]
    done(store, reading(1, 0, *claims), merged(b, c), merged(a, b, recorded_at=LATER + timedelta(1)))
    (only,) = store.view().facts(relation="uses")
    assert (only.subject, len(only.evidence)) == (c, 3)
    assert store.view().entity(a) == store.view().entity(c)


def test_what_was_said_between_two_that_are_one_is_no_fact(store: Store):
    done(store, reading(1, 0, fact(BYD, "competes_with", CATL), fact(BYD, "uses", LITHIUM)), merged(BYD, CATL))
    assert [item.relation for item in store.view().facts()] == ["uses"]


def test_a_symmetric_relation_still_begins_with_the_smaller_id(store: Store):
    done(store, reading(1, 0, fact("org:甲", "partners_with", "org:乙")), reading(2, 0), merged("org:甲", CATL))
    (only,) = store.view().facts(relation="partners_with")
    assert (only.subject, only.object) == ("org:乙", CATL)


def test_facts_of_the_merged_close_one_another(store: Store):
    old = fact(OLD, "reports", MARGIN, value=Value(20, "%"))
    parent, other = fact(BYD, "subsidiary_of", OLD), fact(BYD, "subsidiary_of", "org:母公司")
    done(store, reading(1, 0, old, parent), reading(2, 5, reported(22)), reading(3, 7, other), merged(OLD, CATL))
    by_relation = {item.relation: item for item in store.view().facts() if item.superseded_by}
    (margin,) = store.view().facts(ids=[by_relation["reports"].superseded_by])
    assert margin.value == Value(22, "%")
    (mother,) = store.view().facts(ids=[by_relation["subsidiary_of"].superseded_by])
    assert mother.object == "org:母公司"
    assert by_relation["subsidiary_of"].object == CATL


def test_a_fact_of_no_judged_entity_is_closed_by_one(store: Store):
    first, later = fact(BYD, "subsidiary_of", "org:母公司"), fact(BYD, "subsidiary_of", OLD)
    done(store, reading(1, 0, first), reading(2, 5, later), reading(3, 0), merged(OLD, CATL))
    for wanted in ({}, {"subject": BYD}, {"object": "org:母公司"}):
        closed = [item for item in store.view().facts(**wanted) if item.superseded_by]
        assert [item.object for item in closed] == ["org:母公司"]
        (by,) = store.view().facts(ids=[closed[0].superseded_by])
        assert by.object == CATL


def test_a_denial_of_the_other_name_counts(store: Store):
    uses = fact(CATL, "uses", LITHIUM)
    done(store, reading(1, 0, uses), reading(2, 5, denied(fact(OLD, "uses", LITHIUM))), merged(OLD, CATL))
    assert [item.superseded_by != "" for item in store.view().facts(subject=CATL)].count(True) == 1


def test_what_is_about_a_merged_entity_is_about_the_other(store: Store):
    price = Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about=LITHIUM)
    other = Entity("product:锂盐", Kind.PRODUCT, "锂盐")
    done(store, reading(1, 0, entities=(price, other)), merged(LITHIUM, "product:锂盐"))
    found = store.view().entity("indicator:碳酸锂价格")
    assert found is not None
    assert found.about == "product:锂盐"
    assert found in list(store.view().entities(Kind.INDICATOR))


def test_a_week_holds_the_entities_as_they_are_known_now(store: Store):
    done(store, reading(1, 0, fact(BYD, "uses", LITHIUM)))
    with store.writer() as writer:
        writer.publish(Run("r1", day(1), communities=(Community("c1", 0, "", (BYD, CATL, LITHIUM)),)))
    done(store, merged(BYD, CATL))
    run = store.view().run()
    assert run is not None
    assert run.communities[0].members == (CATL, LITHIUM)


# ── the two clocks ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_judgement_is_seen_from_its_day_and_its_instant_on(store: Store):
    done(store, reading(1, 0, fact(BYD, "uses", LITHIUM)), reading(2, 0), merged(BYD, CATL, on=5))
    apart, one = {BYD}, {CATL}
    for view, subjects in (
        (store.view(), one),
        (store.view(as_of=day(5)), one),
        (store.view(as_of=day(4)), apart),
        (store.view(known_at=LATER), one),
        (store.view(known_at=LATER - timedelta(microseconds=1)), apart),
        (store.view(as_of=day(9), known_at=READ), apart),
    ):
        assert {item.subject for item in view.facts(relation="uses")} == subjects
        assert len(view.judgements()) == (subjects is one)


# ── splitting ──────────────────────────────────────────────────────────────────────────────────────────────────────

EAST = "sec:600006.SH"
_EAST = Entity(EAST, Kind.COMPANY, "东风汽车", (Alias("东风股份"),), ("600006.SH",))
PAPER = "sec:601515.SH"


def called(number: int, published: int, name: str, **more: object) -> Reading:
    """Return a document that calls `EAST` by a name in its one sentence."""
    text = f"{name}使用碳酸锂，产量增长。"
    said = reading(number, published, fact(EAST, "uses", LITHIUM), text=text, entities=(_EAST,), **more)  # type: ignore[arg-type]
    mention = Mention(0, len(name), name, Kind.COMPANY, MentionStatus.LINKED, EAST, 0.9)
    return replace(said, mentions=(mention,))


def test_a_split_takes_a_name_and_what_was_said_by_it(store: Store):
    done(store, called(1, 0, "东风汽车"), called(2, 0, "东风股份"), split(EAST, PAPER, "东风股份"))
    view = store.view()
    assert {item.subject: [e.document for e in item.evidence] for item in view.facts(relation="uses")} == {
        EAST: ["doc:1"],
        PAPER: ["doc:2"],
    }
    assert view.entity(EAST) == Entity(EAST, Kind.COMPANY, "东风汽车", (), ("600006.SH",))
    assert view.entity(PAPER) == Entity(PAPER, Kind.COMPANY, "东风股份")
    assert [entity.id for entity in view.named("东风股份")] == [PAPER]
    assert [mention.entity for mention in view.mentions("doc:2")] == [PAPER]
    assert [chunk.document for chunk in view.chunks_mentioning(PAPER, 9)] == ["doc:2"]
    assert [chunk.document for chunk in view.chunks_mentioning(EAST, 9)] == ["doc:1"]


@pytest.mark.parametrize(
    "scope", [{"documents": ("doc:2",)}, {"period": Period(day(2), day(9))}, {"period": Period(day(5), None)}]
)
def test_a_split_may_be_of_some_documents_or_of_a_time(store: Store, scope: dict[str, object]):
    done(store, called(1, 0, "东风股份"), called(2, 5, "东风股份"), split(EAST, PAPER, "东风股份", **scope))
    view = store.view()
    assert {item.subject: [e.document for e in item.evidence] for item in view.facts(relation="uses")} == {
        EAST: ["doc:1"],
        PAPER: ["doc:2"],
    }
    assert [entity.id for entity in view.named("东风股份")] == [EAST, PAPER]


def test_evidence_that_calls_both_names_stays(store: Store):
    both = called(1, 0, "东风股份")
    other = Mention(4, 8, "东风汽车", Kind.COMPANY, MentionStatus.LINKED, EAST, 0.9)
    wide = replace(both.facts[0].evidence[0], start=0, end=9, quote=both.document.text[:9])
    done(store, replace(both, mentions=(*both.mentions, other), facts=(both.facts[0].with_evidence([wide]),)))
    done(store, split(EAST, PAPER, "东风股份"))
    assert {item.subject for item in store.view().facts(relation="uses")} == {EAST}


def test_a_name_split_off_can_be_given_to_whom_it_belongs(store: Store):
    paper = Entity("org:东风印刷", Kind.COMPANY, "东风印刷")
    done(store, called(1, 0, "东风股份"), reading(2, 0, entities=(paper,)))
    done(store, split(EAST, PAPER, "东风股份"), merged(PAPER, paper.id, recorded_at=LATER + timedelta(1)))
    assert {item.subject for item in store.view().facts(relation="uses")} == {paper.id}
    with pytest.raises(JudgementRefused, match="no such entity"):
        done(store, split(EAST, "org:又", "东风股份"))


def test_a_split_of_a_class_finds_the_name_of_whoever_was_merged_into_it(store: Store):
    done(store, called(1, 0, "东风股份"), reading(2, 0), merged(EAST, CATL))
    done(store, split(CATL, PAPER, "东风股份", recorded_at=LATER + timedelta(1)))
    assert {item.subject for item in store.view().facts(relation="uses")} == {PAPER}


# ── revoking ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_revoking_brings_back_what_was(store: Store):
    done(store, called(1, 0, "东风股份"), reading(2, 0, fact(BYD, "uses", LITHIUM)))
    before = list(store.view().facts()), list(store.view().entities())
    kept = done(store, split(EAST, PAPER, "东风股份", on=1), merged(BYD, CATL, on=1))
    assert (list(store.view().facts()), list(store.view().entities())) != before
    done(store, *(judged(Verdict.REVOKE, item.id, on=3, recorded_at=LATER + timedelta(2)) for item in kept))
    assert (list(store.view().facts()), list(store.view().entities())) == before
    assert {item.subject for item in store.view(as_of=day(2)).facts(relation="uses")} == {PAPER, CATL}
    assert len(store.view().judgements()) == 4
    with pytest.raises(JudgementRefused, match="already revoked"):
        done(store, judged(Verdict.REVOKE, kept[0].id, on=3, recorded_at=LATER + timedelta(3)))
    with pytest.raises(JudgementRefused, match="is a revocation"):
        done(store, judged(Verdict.REVOKE, store.view().judgements()[-1].id, on=3))


def test_nothing_is_revoked_before_it_counts(store: Store):
    (kept,) = done(store, reading(1, 0, fact(BYD, "uses", LITHIUM)), merged(BYD, CATL, on=5))
    with pytest.raises(JudgementRefused, match="takes effect"):
        done(store, judged(Verdict.REVOKE, kept.id, on=4))


# ── one transaction ────────────────────────────────────────────────────────────────────────────────────────────────


def test_calls_together_are_one_transaction(store: Store):
    done(store, reading(1, 0, reported(20)))
    before = list(store.view().facts()), store.stats()
    with store.writer() as writer, pytest.raises(JudgementRefused), writer.together():  # noqa: PT012 - all of it
        assert writer.remove("doc:1")
        assert writer.write(reading(2, 0, reported(21)))
        writer.judge(merged(LITHIUM, CATL))
    assert (list(store.view().facts()), store.stats()) == before
    with store.writer() as writer, writer.together():
        writer.remove("doc:1")
        writer.write(reading(2, 0, reported(21)))
        with pytest.raises(ValueError, match="doc:3"):
            writer.write(replace(reading(3, 0, reported(1)), facts=(reported(1),)))
    assert [head.id for head in store.view().documents()] == ["doc:2"]


def test_a_reader_sees_one_state_whoever_writes(store: Store):
    done(store, reading(1, 0, reported(20)))
    with store.reader() as view, store.writer() as writer:
        before = list(view.facts())
        writer.write(reading(2, 5, reported(22)))
        writer.judge(split(CATL, "org:x", "宁德时代"))
        assert list(view.facts()) == before
        assert [head.id for head in view.documents()] == ["doc:1"]
        assert {chunk.document for chunk, _ in view.search("碳酸锂", 9)} == {"doc:1"}
        assert len(list(store.view().facts(subject="org:x"))) == 2
    with store.reader(as_of=day(4)) as view:
        assert [item.superseded_by for item in view.facts()] == [""]
        assert view.entity("org:x") is not None
