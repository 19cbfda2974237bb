"""The graph as RDF (N-Triples): facts as reified statements with PROV sources and OWL-Time periods.

An asserted, affirmed and unsuperseded fact is also a plain triple. Terms: https://www.w3.org/TR/prov-o/,
https://www.w3.org/TR/owl-time/, https://www.w3.org/TR/n-triples/.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from kg.interop.exports.content import plain
from kg.interop.exports.tables import iso
from kg.model import Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from kg.interop.exports.content import ExportContent
    from kg.model import Entity, Evidence, Fact, Value
    from kg.period import Period
    from kg.store.port import DocumentHead

_SPACES = {
    "lt": "urn:liantu:term:",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "time": "http://www.w3.org/2006/time#",
}
Triple = tuple[str, str, str]


def write_rdf(content: ExportContent, path: Path) -> None:
    """Write N-Triples, which every RDF store loads, in the order of the base."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for triples in _resources(content):
            file.writelines(f"{one} {relation} {other} .\n" for one, relation, other in triples)


def _resources(content: ExportContent) -> Iterator[Iterator[Triple]]:
    for relation, entry in sorted(content.words.relations.items()):
        yield _relation(relation, entry.wording["zh"], entry.wording["en"])
    for entity in content.entities.values():
        yield _entity(entity)
    for head in content.documents():
        yield _document(head)
    for fact in content.facts():
        yield _fact(fact, content.text(fact))


def _relation(name: str, chinese: str, english: str) -> Iterator[Triple]:
    term = _term(f"lt:{name}")
    yield term, _term("rdf:type"), _term("rdf:Property")
    yield term, _term("rdfs:label"), f"{_text(chinese)}@zh"
    yield term, _term("rdfs:label"), f"{_text(english)}@en"


def _entity(entity: Entity) -> Iterator[Triple]:
    node = _iri(entity.id)
    yield node, _term("rdf:type"), _term(f"lt:{entity.kind.value.capitalize()}")
    yield node, _term("skos:prefLabel"), _text(entity.name)
    for name in dict.fromkeys(alias.name for alias in entity.aliases if alias.name != entity.name):
        yield node, _term("skos:altLabel"), _text(name)
    for code in entity.codes:
        yield node, _term("skos:notation"), _text(code)
    if entity.about:
        yield node, _term("lt:about"), _iri(entity.about)


def _document(head: DocumentHead) -> Iterator[Triple]:
    node = _iri(head.id)
    yield node, _term("rdf:type"), _term("prov:Entity")
    yield node, _term("dcterms:title"), _text(head.title)
    yield node, _term("dcterms:issued"), _day(head.published_on)
    yield node, _term("dcterms:language"), _text(head.language)
    if head.publisher:
        yield node, _term("dcterms:publisher"), _text(head.publisher)


def _fact(fact: Fact, text: str) -> Iterator[Triple]:
    node, relation = _iri(fact.id), _term(f"lt:{fact.relation}")
    ends = _iri(fact.subject), _iri(fact.object)
    if fact.modality is Modality.ASSERTED and fact.polarity is Polarity.POSITIVE and not fact.superseded_by:
        yield ends[0], relation, ends[1]
    yield node, _term("rdf:type"), _term("rdf:Statement")
    yield node, _term("rdf:subject"), ends[0]
    yield node, _term("rdf:predicate"), relation
    yield node, _term("rdf:object"), ends[1]
    yield node, _term("rdfs:label"), f"{_text(text)}@zh"
    yield node, _term("lt:modality"), _text(fact.modality.value)
    yield node, _term("lt:polarity"), _text(fact.polarity.value)
    yield node, _term("lt:confidence"), _number(fact.confidence)
    yield node, _term("lt:publishedOn"), _day(fact.published_on)
    if fact.sign:
        yield node, _term("lt:sign"), f"{_text(str(fact.sign))}^^{_term('xsd:integer')}"
    for name, value in fact.qualifiers:
        yield node, _term("lt:qualifier"), _text(f"{name}={value}")
    if fact.superseded_by:
        yield node, _term("lt:supersededBy"), _iri(fact.superseded_by)
    yield from _value(node, fact.value)
    yield from _period(node, fact.valid)
    for number, item in enumerate(fact.evidence):
        yield from _source(node, f"{fact.id}/evidence/{number}", item)


def _value(node: str, value: Value | None) -> Iterator[Triple]:
    if value is None:
        return
    yield node, _term("lt:value"), _number(value.number)
    if value.high is not None:
        yield node, _term("lt:high"), _number(value.high)
    for name in ("unit", "change", "basis"):
        if text := getattr(value, name):
            yield node, _term(f"lt:{name}"), _text(text)


def _period(node: str, period: Period | None) -> Iterator[Triple]:
    """Yield the stated period; the end is its first excluded day, as everywhere in Liantu."""
    if period is None:
        return
    interval = _iri(f"interval:{period.start or ''}/{period.end or ''}")
    yield node, _term("time:hasTime"), interval
    yield interval, _term("rdf:type"), _term("time:ProperInterval")
    for name, bound in (("time:hasBeginning", period.start), ("time:hasEnd", period.end)):
        if bound:
            instant = _iri(f"instant:{bound}")
            yield interval, _term(name), instant
            yield instant, _term("rdf:type"), _term("time:Instant")
            yield instant, _term("time:inXSDDate"), _day(bound)


def _source(fact: str, identity: str, item: Evidence) -> Iterator[Triple]:
    node = _iri(identity)
    yield fact, _term("prov:wasDerivedFrom"), node
    yield node, _term("rdf:type"), _term("prov:Entity")
    yield node, _term("prov:wasQuotedFrom"), _iri(item.document)
    yield node, _term("prov:value"), _text(item.quote)
    yield node, _term("prov:generatedAtTime"), f"{_text(iso(item.recorded_at))}^^{_term('xsd:dateTime')}"
    yield node, _term("lt:publishedOn"), _day(item.published_on)
    yield node, _term("lt:start"), f"{_text(str(item.start))}^^{_term('xsd:integer')}"
    yield node, _term("lt:end"), f"{_text(str(item.end))}^^{_term('xsd:integer')}"
    if item.speaker:
        speaker = _iri(f"speaker:{item.speaker}")
        yield node, _term("prov:wasAttributedTo"), speaker
        yield speaker, _term("rdf:type"), _term("prov:Agent")
        yield speaker, _term("rdfs:label"), _text(item.speaker)


def _iri(identity: str) -> str:
    """Return the IRI of an id; everything that could end or break one is percent-encoded."""
    return f"<urn:liantu:{quote(plain(identity), safe=':/')}>"


def _term(short: str) -> str:
    space, _, name = short.partition(":")
    return f"<{_SPACES[space]}{quote(name, safe='')}>"


def _text(text: str) -> str:
    """Return a string literal; JSON escapes are a subset of those of N-Triples once control characters are gone."""
    return json.dumps(plain(text), ensure_ascii=False)


def _day(day: date) -> str:
    return f"{_text(day.isoformat())}^^{_term('xsd:date')}"


def _number(number: float) -> str:
    return f"{_text(repr(float(number)))}^^{_term('xsd:double')}"
