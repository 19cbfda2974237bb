import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.facts.near_duplicates import SAME, DuplicateIndex, signature, similarity

WORDS = [
    *"锂价跌组件毛利率回升白酒动销平淡银行息差收窄硅料光伏出货生猪存栏",
    "碳酸锂",
    "12%",
    "3.5亿元",
    "2025年",
]


def report(seed: int, words: int = 400) -> str:
    choose = random.Random(seed)  # noqa: S311 -- test data
    return "".join(choose.choice(WORDS) + choose.choice("，。甲乙丙丁戊己") for _ in range(words))


def jaccard(a: str, b: str) -> float:
    grams = [{t[i : i + 5] for i in range(len(t) - 4)} for t in ("".join(c for c in x if c.isalnum()) for x in (a, b))]
    return len(grams[0] & grams[1]) / len(grams[0] | grams[1])


@pytest.mark.parametrize("kept", [0, 100, 200, 300, 350, 400])
def test_similarity_is_near_the_true_jaccard(kept: int):
    first, second = report(1), report(1, kept) + report(2, 400 - kept)
    assert similarity(signature(first), signature(second)) == pytest.approx(jaccard(first, second), abs=0.13)


def test_layout_and_punctuation_do_not_count_and_figures_do():
    text = report(3)
    assert similarity(signature(text), signature(text.replace("，", "\n\n** ,").upper())) == 1.0
    weekly = "".join(f"{n}号线价格{n * 37 % 100}元，环比{n * 91 % 100}%。" for n in range(100))
    other = "".join(f"{n}号线价格{n * 53 % 100}元，环比{n * 17 % 100}%。" for n in range(100))
    assert similarity(signature(weekly), signature(other)) < SAME


def test_nothing_is_a_copy_of_nothing():
    assert signature("，。 \n") == b""
    assert similarity(b"", signature("甲")) == similarity(b"", b"") == 0.0
    index = DuplicateIndex()
    index.add("doc:1", b"")
    assert (len(index), index.copies(b"")) == (0, [])


def test_short_texts_have_signatures():
    assert similarity(signature("锂"), signature("锂。")) == 1.0
    assert similarity(signature("锂"), signature("钠")) == 0.0


def test_a_foreign_signature_is_refused():
    with pytest.raises(ValueError, match="expected"):
        similarity(b"1234", signature("锂"))
    with pytest.raises(ValueError, match="expected"):
        DuplicateIndex().add("doc:1", b"1234")


def test_a_signature_is_the_same_on_every_machine():
    assert signature("碳酸锂价格下跌").hex()[:32] == "a108b92324e2d41be40ad460cc187159"


FAMILIES = [report(1), report(1, 390), report(2), report(2, 380), report(3), report(1, 300), report(2, 200), report(9)]
MARKS = [signature(text) for text in FAMILIES]


@given(st.permutations(range(8)))
def test_pairs_do_not_depend_on_the_order(order: list[int]):
    index = DuplicateIndex()
    pairs = set()
    for number in order:
        mark = MARKS[number]
        pairs |= {frozenset((f"doc:{number}", other)) for other in index.copies(mark)}
        index.add(f"doc:{number}", mark)
    alike = [(a, b) for a in range(8) for b in range(a) if similarity(MARKS[a], MARKS[b]) >= SAME]
    assert alike
    assert pairs == {frozenset((f"doc:{a}", f"doc:{b}")) for a, b in alike}


def test_removing_leaves_nothing_behind():
    index = DuplicateIndex()
    index.add("doc:1", signature(report(1)))
    before = {band: set(members) for band, members in index._bands.items()}
    index.add("doc:2", signature(report(1, 395)))
    assert index.copies(signature(report(1))) == ["doc:1", "doc:2"]
    index.remove("doc:2")
    index.remove("doc:2")
    assert dict(index._bands) == before
    assert index.copies(signature(report(1))) == ["doc:1"]
