from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from kg.errors import VocabularyError
from kg.model import Kind
from kg.relations import load, parse, vocabulary

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = resources.files("kg").joinpath("relations.yaml").read_text(encoding="utf-8")


def test_the_shipped_vocabulary_is_whole():
    words = vocabulary()
    assert set(words.kinds) == set(Kind)
    assert words.of_family("causal") == ("affects",)
    assert set(words.of_family("structure", "chain", "causal", "measured")) == set(words.relations)
    assert words.of_family() == ()
    assert words["upstream_of"].stage == "downstream"
    assert [name for name, relation in words.relations.items() if relation.symmetric] == [
        "partners_with",
        "competes_with",
        "trades_with",
        "merges_with",
        "disputes_with",
        "related_to",
    ]


def test_a_relation_knows_what_may_stand_at_its_ends():
    produces = vocabulary()["produces"]
    assert produces.allows(Kind.COMPANY, Kind.PRODUCT)
    assert not produces.allows(Kind.PRODUCT, Kind.COMPANY)
    assert not produces.allows(Kind.COMPANY, Kind.COMPANY)


def without(line: str) -> str:
    """Return the shipped file without the first line that begins so."""
    lines = SHIPPED.splitlines(keepends=True)
    place = next(number for number, text in enumerate(lines) if text.strip().startswith(line))
    return "".join(lines[:place] + lines[place + 1 :])


def changed(old: str, new: str) -> str:
    assert old in SHIPPED
    return SHIPPED.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kinds: [", "line 1: not valid YAML"),
        ("a: 1\nb: {", "line 2: not valid YAML"),
        ("day: 2024-13-45", "file: not valid YAML"),
        ("", "file: "),
        ("- 1", "file: "),
        ("kinds: {}", "relations: Field required"),
        (without("zh: 供应"), "relations → supplies → zh: Field required"),
        (without("half_life"), "relations → belongs_to → half_life: Field required"),
        (without("person:"), "kinds: person missing"),
        (changed("subject: [company]", "subject: [planet]"), "→ subject → 0: "),
        (changed("subject: [company]", "subject: []"), "→ subject: "),
        (changed("  region: ", "  planet: {zh: 星, en: p, note: n}\n  region: "), "kinds → planet"),
        (changed("weight: 0.8", "weight: 1.5"), "relations → belongs_to → weight: "),
        (changed("half_life: 1460", "half_life: 0"), "relations → belongs_to → half_life: "),
        (changed("family: structure", "family: gossip"), "relations → belongs_to → family: "),
        (changed("zh: 属于", "zh: ''"), "relations → belongs_to → zh: "),
        (changed("zh: 属于", "zh: 属于\n    colour: red"), "relations → belongs_to → colour: "),
        (changed("zh: 供应", "zh: 供应\n    symmetric: true\n    zh: 供应"), "duplicate key zh"),
        (changed("  part_of:", "  belongs_to:"), "duplicate key belongs_to"),
        (changed("half_life: 1460", "half_life: 1460\n    symmetric: true"), "relations → belongs_to: a symmetric"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, says: str):
    with pytest.raises(VocabularyError) as fault:
        parse(text)
    assert says in str(fault.value)
    assert str(fault.value).startswith("relations.yaml: ")


def test_a_vocabulary_of_ones_own_is_read_from_a_file(tmp_path: Path):
    path = tmp_path / "relations.yaml"
    path.write_text(changed("zh: 供应", "zh: 供货给"), encoding="utf-8")
    assert load(path)["supplies"].wording["zh"] == "供货给"
    with pytest.raises(VocabularyError, match="cannot be read"):
        load(tmp_path / "none.yaml")
    path.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(VocabularyError, match="cannot be read"):
        load(path)
