from __future__ import annotations

import pytest

pytest.importorskip("pycrfsuite")

from extraction.training.role_features import Mark, Words
from extraction.training.roles import RoleExample, RoleTagger, Triple

FIRMS = ["天山矿业", "青松建材", "北岭重工", "禾澄环保", "东湖轴承", "西岭造纸"]
GOODS = ["阴极铜", "硫酸镍", "水泥", "商砼", "轴承", "活性炭", "纸浆", "齿轮"]


def examples() -> list[RoleExample]:
    made = []
    for at, firm in enumerate(FIRMS):
        for step in range(len(GOODS)):
            one, other = GOODS[(at + step) % len(GOODS)], GOODS[(at + step + 1) % len(GOODS)]
            text = f"报告期内，{firm}主要生产{one}、{other}，销量增长。"
            triples = frozenset(Triple(firm, "produces", name) for name in (one, other))
            made.append(RoleExample(text, triples, (mark(text, firm),)))
            used = f"{firm}的{one}主要用于{other}行业。"
            made.append(RoleExample(used, frozenset([Triple(one, "upstream_of", other)]), (mark(used, firm),)))
    return made


def mark(text: str, name: str) -> Mark:
    return Mark(text.index(name), text.index(name) + len(name), "company")


@pytest.fixture(scope="module")
def tagger() -> RoleTagger:
    return RoleTagger.fit(examples())


def test_what_was_taught_is_read_of_other_names(tagger):
    text = "报告期内，南山机械主要生产减速机、丝杠，销量增长。"
    found = tagger.read(text, (mark(text, "南山机械"),))
    assert found == {Triple("南山机械", "produces", "减速机"), Triple("南山机械", "produces", "丝杠")}


def test_what_is_used_is_a_subject_of_its_own(tagger):
    text = "天山矿业的硫酸镍主要用于齿轮行业。"
    assert tagger.read(text, (mark(text, "天山矿业"),)) == {Triple("硫酸镍", "upstream_of", "齿轮")}


def test_a_text_of_other_things_holds_nothing(tagger):
    assert tagger.read("今天天气晴朗。") == set()
    assert tagger.read("") == set()


def test_the_same_examples_give_the_same_model(tagger):
    assert RoleTagger.fit(examples()).model == tagger.model


def test_words_over_a_place_are_whole():
    words = Words.of("天山矿业生产水泥。")
    covered = words.covering(6, 8)
    assert "".join(words.words[at] for at in covered) == "水泥"
    assert list(words.covering(20, 21)) == []
