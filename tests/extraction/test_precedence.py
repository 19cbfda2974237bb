"""What a rule reads exactly, no guess of another reader contradicts."""

from __future__ import annotations

from extraction.claims.relations.precedence import settled
from extraction.sentence import AnnotatedSentence, Claim, EntityMention
from extraction.text.sentences import split
from kg.model import Kind

_GUESS = "edges@1"


def _sentence(text):
    return AnnotatedSentence(split(text, 0, len(text))[0], (), (), ())


def _mention(sentence, name, kind=Kind.COMPANY):
    start = sentence.text.find(name)
    return EntityMention(f"{kind}:{name}", kind, name, start, start + len(name) if start >= 0 else -1)


def _row(sentence, subject, relation, object_, *, kind=Kind.COMPANY, reader="", pattern=""):
    ends = _mention(sentence, subject), _mention(sentence, object_, kind)
    span = min(each.start for each in ends), max(each.end for each in ends)
    extra = {"reader": reader} if reader else {}
    return Claim(relation, *ends, *span, pattern=pattern or relation, confidence=0.8, **extra), sentence


def _kept(*rows):
    return {(claim.subject.name, claim.relation, claim.object.name) for claim, _ in settled(rows)}


def test_a_frame_is_not_reversed_and_its_agreement_makes_it_surer():
    sentence = _sentence("甲公司向乙公司供应铜箔。")
    frame = _row(sentence, "甲公司", "supplies", "乙公司", pattern="firms.supplies.to")
    same = _row(sentence, "甲公司", "supplies", "乙公司", reader=_GUESS)
    reverse = _row(sentence, "乙公司", "supplies", "甲公司", reader=_GUESS)
    ((claim, _),) = settled([frame, same, reverse])
    assert (claim.subject.name, claim.object.name) == ("甲公司", "乙公司")
    assert claim.confidence > 0.9


def test_a_buyer_makes_nothing_that_its_frame_names_and_no_partner_stands_for_a_supply():
    sentence = _sentence("甲公司向乙公司供应铜箔。")
    frame = _row(sentence, "甲公司", "supplies", "乙公司", pattern="firms.supplies.to")
    made = _row(sentence, "乙公司", "produces", "铜箔", kind=Kind.PRODUCT, reader=_GUESS)
    sold = _row(sentence, "甲公司", "produces", "铜箔", kind=Kind.PRODUCT, reader=_GUESS)
    partner = _row(sentence, "乙公司", "partners_with", "甲公司", reader=_GUESS)
    assert _kept(frame, made, sold, partner) == {("甲公司", "supplies", "乙公司"), ("甲公司", "produces", "铜箔")}


def test_a_chain_is_not_turned_round():
    sentence = _sentence("甲料是乙料的核心原材料，乙料的下游为丙件。")
    rows = [
        _row(sentence, "甲料", "upstream_of", "乙料"),
        _row(sentence, "乙料", "upstream_of", "丙件"),
        _row(sentence, "丙件", "upstream_of", "甲料", reader=_GUESS),
        _row(sentence, "甲料", "upstream_of", "丙件", reader=_GUESS),
    ]
    assert ("丙件", "upstream_of", "甲料") not in _kept(*rows)
    assert ("甲料", "upstream_of", "丙件") in _kept(*rows)


def test_a_clause_gives_its_product_to_its_own_companies_only():
    sentence = _sentence("乙料的下游为丙件，甲公司主营乙料。")
    own = _row(sentence, "甲公司", "produces", "乙料", kind=Kind.PRODUCT)
    other = _row(sentence, "甲公司", "produces", "丙件", kind=Kind.PRODUCT, reader=_GUESS)
    assert _kept(own, other) == {("甲公司", "produces", "乙料")}


def test_a_price_mover_operates_nothing():
    sentence = _sentence("光模块板块涨幅居前，甲公司涨停。")
    assert _kept(_row(sentence, "甲公司", "operates", "光模块", kind=Kind.PRODUCT, reader=_GUESS)) == set()
