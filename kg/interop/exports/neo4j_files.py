"""Files for `neo4j-admin database import`, a script of constraints and indexes, and a style for Neo4j Browser."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

from kg.interop.exports.content import best_evidence, edge_key, known, plain
from kg.interop.exports.tables import iso
from kg.messages.words import word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from kg.interop.exports.content import ExportContent
    from kg.model import Fact

_LISTED = "\x1f"  # separates the values of a list; `plain` drops it from every text, so that none can be split
_NODE_CLOCKS = ("published_on:date", "last_published_on:date", "known_from:datetime")
_ENTITY = ("id:ID(Entity)", "name", "kind", "aliases:string[]", "codes:string[]", "about", *_NODE_CLOCKS, ":LABEL")
_DOCUMENT = ("id:ID(Document)", "title", "kind", "publisher", "url", "published_on:date", ":LABEL")
_COMMUNITY = ("id:ID(Community)", "name", "level:int", "size:int", "summary:string[]", "published_on:date", ":LABEL")
_FACT = (
    *(":START_ID(Entity)", ":END_ID(Entity)", ":TYPE", "id", "caption", "text", "sign:int", "polarity", "modality"),
    *("valid_from:date", "valid_to:date", "qualifiers:string[]", "value:double", "high:double", "unit", "change"),
    *("confidence:double", "sources:int", *_NODE_CLOCKS, "superseded_by"),
    *("quote", "quotes:string[]", "documents:string[]", "speakers:string[]"),
)
_MEMBER = (":START_ID(Entity)", ":END_ID(Community)", ":TYPE")
_ABOUT = (":START_ID(Entity)", ":END_ID(Entity)", ":TYPE", "caption")
_ARGUMENTS = """\
--nodes=entities.csv
--nodes=documents.csv
--nodes=communities.csv
--relationships=facts.csv
--relationships=members.csv
--relationships=about.csv
--array-delimiter=U+001F
--multiline-fields=true
--skip-duplicate-nodes=true
"""
_SCHEMA = """\
// Run after the import: cypher-shell -f schema.cypher
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT community_id IF NOT EXISTS FOR (n:Community) REQUIRE n.id IS UNIQUE;
CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.name);
CREATE FULLTEXT INDEX entity_names IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.aliases, n.codes]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};
"""
_COLOURS: Mapping[str, str] = {
    "Company": "#4C78A8",
    "Institution": "#72B7B2",
    "Person": "#9D755D",
    "Product": "#54A24B",
    "Business": "#88B04B",
    "Industry": "#F58518",
    "Theme": "#B279A2",
    "Indicator": "#EECA3B",
    "Event": "#E45756",
    "Policy": "#FF9DA6",
    "Region": "#BAB0AC",
    "Community": "#B279A2",
    "Document": "#D3D3D3",
}


def write_neo4j(content: ExportContent, folder: Path) -> None:
    """Write node and relationship files, `import.args`, `schema.cypher` and `style.grass`."""
    _write(folder / "entities.csv", _ENTITY, _entities(content))
    _write(folder / "documents.csv", _DOCUMENT, _documents(content))
    _write(folder / "communities.csv", _COMMUNITY, _communities(content))
    _write(folder / "facts.csv", _FACT, (_fact(content, fact) for fact in content.facts()))
    _write(folder / "members.csv", _MEMBER, _members(content))
    measures = word("export.measures", content.lang, thing="").strip()
    _write(folder / "about.csv", _ABOUT, ((*each, "ABOUT", measures) for each in content.measures()))
    (folder / "import.args").write_text(_ARGUMENTS, encoding="utf-8")
    (folder / "schema.cypher").write_text(_SCHEMA + "".join(_indexes(content)), encoding="utf-8")
    (folder / "style.grass").write_text(_style(content), encoding="utf-8")


def relationship_type(relation: str) -> str:
    """Return the Neo4j type of a relation: `holds_stake_in` is HOLDS_STAKE_IN."""
    return re.sub(r"\W", "_", relation).upper()


def _entities(content: ExportContent) -> Iterator[tuple[Any, ...]]:
    for entity in content.entities.values():
        aliases = [alias.name for alias in entity.aliases if alias.name != entity.name]
        who = entity.id, entity.name, entity.kind.value, list(dict.fromkeys(aliases)), list(entity.codes), entity.about
        yield *who, *content.touched.get(entity.id, (None, None, None)), ["Entity", entity.kind.value.capitalize()]


def _documents(content: ExportContent) -> Iterator[tuple[Any, ...]]:
    for head in content.documents():
        yield head.id, head.title, head.kind, head.publisher, head.url, head.published_on, ["Document"]


def _communities(content: ExportContent) -> Iterator[tuple[Any, ...]]:
    for as_of, item in content.themes():
        title = item.summary.title if item.summary else item.id
        lines = [line.text for line in item.summary.lines] if item.summary else []
        yield item.id, title, item.level, len(item.members), lines, as_of, ["Community"]


def _members(content: ExportContent) -> Iterator[tuple[Any, ...]]:
    for _, item in content.themes():
        for member in item.members:
            if member in content.entities:
                yield member, item.id, "IN_COMMUNITY"


def _fact(content: ExportContent, fact: Fact) -> tuple[Any, ...]:
    value, best = fact.value, best_evidence((fact,))
    valid = (fact.valid.start, fact.valid.end) if fact.valid else (None, None)
    return (
        *(fact.subject, fact.object, relationship_type(fact.relation), fact.id, content.caption(edge_key(fact))),
        *(content.text(fact), fact.sign, fact.polarity.value, fact.modality.value, *valid),
        [f"{name}={word}" for name, word in fact.qualifiers],
        *((value.number, value.high, value.unit, value.change) if value else (None,) * 4),
        *(fact.confidence, fact.witnesses, *known(fact), fact.superseded_by, best.quote),
        [item.quote for item in fact.evidence],
        [item.document for item in fact.evidence],
        list(fact.speakers),
    )


def _indexes(content: ExportContent) -> Iterator[str]:
    for name in sorted(content.words.relations):
        kind = relationship_type(name)
        yield f"CREATE INDEX {name}_published_on IF NOT EXISTS FOR ()-[r:{kind}]-() ON (r.published_on);\n"
    yield "CALL db.awaitIndexes();\n"


def _style(content: ExportContent) -> str:
    """Return a GRASS style: dropped on the Browser window, it shows names and relations in the picture."""
    parts = ['node { caption: "{name}"; diameter: 56px; }\n', 'relationship { caption: "{caption}"; }\n']
    parts += [f'node.{label} {{ color: {colour}; caption: "{{name}}"; }}\n' for label, colour in _COLOURS.items()]
    parts.append('node.Document { caption: "{title}"; }\n')
    types = sorted(map(relationship_type, content.words.relations))
    parts += [f'relationship.{kind} {{ caption: "{{caption}}"; }}\n' for kind in types]
    return "".join(parts)


def _write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> str | int | float | None:
    """Return a cell; an empty one is no property."""
    if isinstance(value, list):
        return _LISTED.join(map(plain, value))
    if isinstance(value, str):
        return plain(value)
    return value if value is None or isinstance(value, int | float) else iso(value)
