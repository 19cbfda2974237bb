"""RDF is read by rdflib and answers SPARQL: what was known of a factor, from which document, for which period."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rdflib

from kg.interop.exports.content import plain
from tests.kg.interop.exports.sample import HOSTILE, base, exported

if TYPE_CHECKING:
    from pathlib import Path

_QUESTION = """
PREFIX lt: <urn:liantu:term:> PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX time: <http://www.w3.org/2006/time#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?cause ?effect ?sign ?begin ?end ?title ?quote ?speaker WHERE {
  ?fact rdf:predicate lt:affects ; rdf:subject/skos:prefLabel ?cause ; lt:sign ?sign ;
        lt:publishedOn ?day ; prov:wasDerivedFrom ?source ; time:hasTime ?period .
  OPTIONAL { ?fact rdf:object/skos:prefLabel ?effect }
  ?period time:hasBeginning/time:inXSDDate ?begin ; time:hasEnd/time:inXSDDate ?end .
  ?source prov:wasQuotedFrom/dcterms:title ?title ; prov:value ?quote .
  ?source prov:wasAttributedTo/<http://www.w3.org/2000/01/rdf-schema#label> ?speaker .
  FILTER (?day <= "2024-01-31"^^xsd:date)
}"""


def _graph(path: Path) -> rdflib.Graph:
    return rdflib.Graph().parse(path, format="nt")


def test_rdf_answers_with_source_and_period(tmp_path: Path):
    (row,) = _graph(exported("rdf", tmp_path / "graph.nt")).query(_QUESTION)
    cause, effect, sign, begin, end, title, quote, speaker = (str(term) for term in row)
    assert (cause, effect, sign) == ("碳酸锂价格", "毛利率", "-1")
    assert (begin, end, title, speaker) == ("2024-01-01", "2024-04-01", "报告1", "示例证券甲")
    document = base().view().document("doc:1")
    assert document
    assert quote in document.text


def test_only_what_is_asserted_and_affirmed_is_a_plain_triple(tmp_path: Path):
    graph = _graph(exported("rdf", tmp_path / "graph.nt"))
    produces = rdflib.URIRef("urn:liantu:term:produces")
    statements = list(graph.subjects(rdflib.RDF.predicate, produces))
    assert len(list(graph.triples((None, produces, None)))) == len(HOSTILE)
    assert len(statements) == len(HOSTILE) + 2  # a plan and a denial


def test_hostile_names_stay_literals(tmp_path: Path):
    graph = _graph(exported("rdf", tmp_path / "graph.nt"))
    labels = {
        str(label) for label in graph.objects(None, rdflib.URIRef("http://www.w3.org/2004/02/skos/core#prefLabel"))
    }
    assert {plain(name) for name in HOSTILE} <= labels
