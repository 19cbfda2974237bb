import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

LEXICON = Path(__file__).parents[2] / "extraction" / "lexicon"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
UNITS = {"currency", "percent", "count", "ratio", "price"}
TYPES = {
    "institution": {
        *("regulator", "central_bank", "international", "exchange", "board", "index_provider", "association"),
        *("research", "consultancy", "rating", "broker", "futures", "foreign_bank", "investor"),
    },
    "region": {"province", "city", "area", "country", "bloc"},
    "event": {"供给", "需求与库存", "价格与业绩", "公司", "市场", "外部冲击"},
}
# kind: (file, keys an entry must have, keys it may have)
SCHEMAS: dict[str, tuple[str, set[str], set[str]]] = {
    "product": ("products", {"industry"}, set()),
    "industry": ("industries", {"scheme"}, {"level", "parent"}),
    "indicator": ("indicators", {"unit"}, {"basis", "polarity", "product", "head"}),
    "indicator_head": ("indicator_heads", {"unit"}, {"basis", "polarity"}),
    "policy": ("policies", {"area"}, set()),
    "event": ("events", {"type"}, {"product"}),
    "theme": ("themes", {"group"}, set()),
    "region": ("regions", {"type"}, {"parent"}),
    "institution": ("institutions", {"type"}, {"country"}),
}
ENTITY_KINDS = [kind for kind in SCHEMAS if kind != "indicator_head"]
Entry = dict[str, Any]


def load(stem: str) -> dict[str, Any]:
    with (LEXICON / f"{stem}.yaml").open(encoding="utf-8") as file:
        table: dict[str, Any] = yaml.load(file, Loader=LOADER)  # noqa: S506 - a safe loader either way
    if stem == "indicators":
        table["entries"] += load("macro_indicators")["entries"]
    return table


FILES = {kind: load(stem) for kind, (stem, _, _) in SCHEMAS.items()}
STOPWORDS = load("stopwords")
ENTRIES: dict[str, list[Entry]] = {kind: file["entries"] for kind, file in FILES.items()}
SHORT_FORMS: list[Entry] = FILES["indicator_head"]["short_forms"]
NEVER = [word for line in STOPWORDS["never"] for word in line]


def surfaces(entry: Entry) -> list[str]:
    return [entry["name"], *entry.get("aliases", [])]


def names(kind: str) -> set[str]:
    return {entry["name"] for entry in ENTRIES[kind]}


def surfaces_of(kind: str) -> set[str]:
    return {surface for entry in ENTRIES[kind] for surface in surfaces(entry)}


def test_every_file_of_the_folder_is_known():
    others = {
        "changes",
        "companies",
        "company_details",
        "company_frames",
        "company_slots",
        "cues",
        "effects",
        "event_frames",
        "firms",
        "macro_indicators",
        "measuring",
        "relation_patterns",
        "stopwords",
        "units",
    }
    known = {stem for stem, _, _ in SCHEMAS.values()} | others
    assert {path.stem for path in LEXICON.glob("*.yaml")} == known


@pytest.mark.parametrize("kind", SCHEMAS)
def test_file_says_its_kind_and_opens_with_a_comment(kind):
    stem, _, _ = SCHEMAS[kind]
    assert FILES[kind]["kind"] == kind
    assert (LEXICON / f"{stem}.yaml").read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_entries_have_the_keys_of_their_schema(kind):
    _, must, may = SCHEMAS[kind]
    wrong = [
        entry
        for entry in ENTRIES[kind]
        if not {"name"} | must <= set(entry) <= {"name", "aliases"} | must | may or entry.get("aliases") == []
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", SCHEMAS)
def test_texts_are_whole_trimmed_and_nfkc(kind):
    def bad(text: object) -> bool:
        if not isinstance(text, str) or not text:
            return True
        return (
            text != text.strip()
            or text != unicodedata.normalize("NFKC", text)
            or re.search(r"\s\s|_", text) is not None
        )

    texts = [text for entry in ENTRIES[kind] for key, text in entry.items() if key not in {"aliases", "level", "type"}]
    texts += [surface for entry in ENTRIES[kind] for surface in surfaces(entry)]
    assert [text for text in texts if bad(text)] == []


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_name_or_alias_stands_once_in_its_kind(kind):
    counts = Counter(surface for entry in ENTRIES[kind] for surface in surfaces(entry))
    assert [surface for surface, count in counts.items() if count > 1] == []


def test_short_forms_stand_once_and_point_at_a_product_and_a_head():
    counts = Counter(surface for form in SHORT_FORMS for surface in surfaces(form))
    assert [surface for surface, count in counts.items() if count > 1] == []
    lost = [f for f in SHORT_FORMS if f["product"] not in names("product") or f["head"] not in names("indicator_head")]
    assert lost == []
    others = {surface for kind in ENTITY_KINDS for surface in surfaces_of(kind)}
    assert others & set(counts) == set()


def test_a_name_in_two_kinds_has_a_preferred_kind():
    found: dict[str, set[str]] = {}
    for kind in ENTITY_KINDS:
        for surface in surfaces_of(kind):
            found.setdefault(surface, set()).add(kind)
    double = {surface: kinds for surface, kinds in found.items() if len(kinds) > 1}
    preferred: dict[str, str] = STOPWORDS["ambiguous_kind"]
    assert {s: kinds for s, kinds in double.items() if s not in preferred} == {}
    assert {s: kind for s, kind in preferred.items() if kind not in double.get(s, set())} == {}


def test_products_stand_in_a_known_industry():
    assert [entry for entry in ENTRIES["product"] if entry["industry"] not in names("industry")] == []


@pytest.mark.parametrize("kind", ["industry", "region"])
def test_parents_exist_and_form_a_tree(kind):
    parents = {entry["name"]: entry.get("parent") for entry in ENTRIES[kind]}
    for name, parent in parents.items():
        path, at = [name], parent
        while at is not None:
            assert at in parents, f"{name}: no parent {at}"
            assert at not in path, f"{name}: circle through {at}"
            path.append(at)
            at = parents[at]


def test_shenwan_tree_has_its_levels():
    shenwan = {entry["name"]: entry for entry in ENTRIES["industry"] if entry["scheme"] == "sw2021"}
    levels = Counter(entry["level"] for entry in shenwan.values())
    assert (levels[1], levels[2]) == (31, 134)
    for entry in shenwan.values():
        if entry["level"] == 1:
            assert "parent" not in entry
        else:
            assert shenwan[entry["parent"]]["level"] == entry["level"] - 1, entry
    assert {entry["scheme"] for entry in ENTRIES["industry"]} == {"sw2021", "common"}
    assert [e for e in ENTRIES["industry"] if e["scheme"] == "common" and "level" in e] == []


@pytest.mark.parametrize("kind", ["indicator", "indicator_head"])
def test_indicators_have_a_unit_and_a_known_polarity(kind):
    assert [e for e in ENTRIES[kind] if e["unit"] not in UNITS or e.get("polarity", "up") not in {"up", "down"}] == []
    assert [e for e in ENTRIES[kind] if e.get("basis", "归母") not in {"归母", "扣非", "经调整"}] == []


def test_indicators_that_are_product_and_head_name_both():
    compound = [entry for entry in ENTRIES["indicator"] if "product" in entry or "head" in entry]
    assert compound
    lost = [e for e in compound if e["product"] not in names("product") or e["head"] not in names("indicator_head")]
    assert lost == []


@pytest.mark.parametrize("kind", TYPES)
def test_types_are_of_the_closed_list(kind):
    assert {entry["type"] for entry in ENTRIES[kind]} <= TYPES[kind]


def test_stopwords_never_name_an_entity():
    assert [word for word, count in Counter(NEVER).items() if count > 1] == []
    entities = {surface for kind in ENTITY_KINDS for surface in surfaces_of(kind)}
    assert entities & set(NEVER) == set()
    assert set(NEVER) & set(STOPWORDS["ambiguous_alone"]) == set()


def test_very_short_names_are_marked_as_needing_context():
    short = {
        surface
        for kind in ENTITY_KINDS
        for surface in surfaces_of(kind)
        if len(surface) == 1 or (len(surface) == 2 and surface.isascii())
    }
    assert short - set(STOPWORDS["ambiguous_alone"]) == set()


@pytest.mark.parametrize(
    ("kind", "least"),
    [("product", 1200), ("industry", 300), ("indicator", 300), ("indicator_head", 100), ("institution", 300)],
)
def test_lexicon_is_large_enough_to_be_of_use(kind, least):
    assert len(ENTRIES[kind]) >= least


@pytest.mark.parametrize(
    ("kind", "surface", "name"),
    [
        ("product", "锂离子电池", "锂电池"),
        ("product", "多晶硅", "硅料"),
        ("product", "CCL", "覆铜板"),
        ("industry", "券商", "证券"),
        ("indicator", "扣非净利润", "扣非归母净利润"),
        ("policy", "带量采购", "集采"),
        ("region", "印尼", "印度尼西亚"),
        ("institution", "上海有色网", "SMM"),
    ],
)
def test_aliases_lead_to_the_usual_name(kind, surface, name):
    assert [entry["name"] for entry in ENTRIES[kind] if surface in surfaces(entry)] == [name]
