"""What the explorer shows is what kg/query answers: its code runs in Node on packed pictures and facts."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kg.model import Kind, Polarity
from kg.query.browse.profile import profile
from kg.query.session import QuerySession
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from kg.store.open import open_store
from tests.architecture.source import ROOT
from tests.kg.query.world import CUT, LONGI, PRICE, PV, SILICON, SUNGROW, TONGWEI, claim, filled, moves, paper, solar
from viz.exhibit.content import ExhibitContent
from viz.exhibit.packing import day_number
from viz.exhibit.pictures import picture_of, wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kg.model import Fact
    from kg.query.answers import Link
    from kg.store.port import Store

HERE = ROOT / "tests" / "viz" / "explorer"
ESBUILD = ROOT / "viz" / "explorer" / "node_modules" / ".bin" / "esbuild"
PRODUCTS = [f"product:料{number}" for number in range(9)] + ["industry:业"]
FIRMS = [f"org:厂{number}" for number in range(5)]
FACTORS = [f"indicator:价{number}" for number in range(6)]


@pytest.fixture(scope="module")
def shown_by(tmp_path_factory) -> Callable[[dict[str, Any]], list[Any]]:
    node = shutil.which("node")
    if node is None or not ESBUILD.exists():
        pytest.skip("no node, or viz/explorer/node_modules is not installed: make explorer")
    folder: Path = tmp_path_factory.mktemp("engine")
    bundle = ["--bundle", "--format=esm", "--log-level=error", f"--outfile={folder / 'engine.mjs'}"]
    subprocess.run([ESBUILD, HERE / "engine.ts", *bundle], check=True)
    shutil.copyfile(HERE / "shown.mjs", folder / "shown.mjs")

    def shown(given: dict[str, Any]) -> list[Any]:
        command = [node, folder / "shown.mjs"]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
        found: list[Any] = json.loads(done.stdout)
        return found

    return shown


def _random_base(seed: int) -> Store:
    """Return a base of random chains, causes and suppliers, with denials, corrections and unsure readings."""
    pick = random.Random(seed)  # noqa: S311 -- a base for a test

    def fact() -> Fact:
        kind = pick.random()
        if kind < 0.35:
            return claim(*_two(pick, PRODUCTS, "upstream_of"))
        if kind < 0.55:
            return claim(pick.choice(FIRMS), "produces", pick.choice(PRODUCTS))
        if kind < 0.65:
            return claim(pick.choice(FIRMS), pick.choice(["supplies", "competes_with"]), pick.choice(FIRMS))
        effect = pick.choice([*FACTORS, *FIRMS, *PRODUCTS])
        return moves(pick.choice(FACTORS), effect, pick.choice([1, -1]), pick.choice([1, -1]))

    readings = []
    for number in range(40):
        said = []
        for place in range(pick.randint(1, 4)):
            each = fact()
            if each.subject == each.object:
                continue
            polarity = Polarity.NEGATIVE if pick.random() < 0.05 else Polarity.POSITIVE
            said.append((f"第{number}篇第{place}句。", replace(each, polarity=polarity)))
        reading = paper(number, str(date(2024, 1, 1) + timedelta(days=3 * number)), *said, speaker=f"甲{number % 3}")
        sure = pick.choice([0.35, 0.6, 0.8, 0.95])
        facts = tuple(
            each.with_evidence(tuple(replace(item, confidence=sure) for item in each.evidence))
            for each in reading.facts
        )
        readings.append(replace(reading, facts=facts))
    return filled(readings)


def _two(pick: random.Random, names: list[str], relation: str) -> tuple[str, str, str]:
    one, other = pick.sample(names, 2)
    return one, relation, other


def _key(link: Link) -> list[str]:
    denied = link.facts[0].polarity is Polarity.NEGATIVE
    return [link.source, link.relation, link.target, "no" if denied else str(link.sign)]


def _asked(session: QuerySession, questions: list[tuple[str, tuple[str, ...]]]) -> list[dict[str, Any]]:
    return [
        {"profile": ids[0]} if view == "profile" else {"picture": wire(picture_of(session, view, ids))}
        for view, ids in questions
    ]


def _given(store: Store, session: QuerySession, asked: list[dict[str, Any]]) -> dict[str, Any]:
    view = session.view
    content = ExhibitContent(store, view, min_confidence=session.min_confidence)
    return {
        "relations": content.meta["relations"],
        "records": [part for _, part, _ in content.parts()],
        "asked": asked,
        "day": day_number(max(head.published_on for head in view.documents())),
    }


def _stages(shown: dict[str, Any]) -> list[tuple[int, list[list[str]]]]:
    return [(step, [[item[0] for item in items] for items in sections]) for step, sections in shown["columns"]]


def check_chain(session: QuerySession, topic: str, shown: dict[str, Any]) -> None:
    """The same stages at the same place, with the same companies; every flow and maker between them."""
    answer = chain(session, topic)
    placed = [stage for layer in answer.layers if layer.placed for stage in layer.stages]
    last = max((stage.node.layer for stage in placed), default=0) + 1
    expected = [
        (stage.node.layer if layer.placed else last, [node.entity.id for node in (stage.node, *stage.companies)])
        for layer in answer.layers
        for stage in layer.stages
    ]
    assert [(step, items) for step, sections in _stages(shown) for items in sections] == sorted(
        expected, key=lambda each: each[0]
    )
    assert shown["links"] == sorted(_key(link) for link in answer.graph.links)


def check_factor(session: QuerySession, factor: str, shown: dict[str, Any]) -> None:
    """The same ends, each with the same direction, and the same routes with the same sign."""
    answers = (causes(session, factor, hops=3), impact(session, factor, hops=3))
    drawn = {identity: move for _, sections in shown["columns"] for items in sections for identity, move in items}
    nodes = {node.entity.id: node.direction for answer in answers for node in answer.graph.nodes}
    nodes |= {node.entity.id: node.direction for node in answers[1].graph.nodes}
    assert drawn.keys() == nodes.keys() | {answers[1].topic.id}
    starts = {
        node.entity.id for answer in answers for node in answer.graph.nodes if not node.layer
    }  # names of the topic
    assert {identity: drawn[identity] for identity in nodes.keys() - starts} == {
        identity: move for identity, move in nodes.items() if identity not in starts
    }
    routes = [[[_key(link) for link in path.links], path.sign] for answer in answers for path in answer.paths]
    assert [[links, sign] for links, _, sign in shown["paths"]] == routes
    links = {tuple(_key(link)) for answer in answers for link in answer.graph.links}
    assert shown["links"] == sorted(map(list, links))


def check_path(session: QuerySession, ends: tuple[str, str], shown: dict[str, Any]) -> None:
    """The same routes, the most credible first."""
    answer = relate(session, *ends)
    routes = [[[_key(link) for link in path.links], path.sign] for path in answer.paths]
    assert [[links, sign] for links, _, sign in shown["paths"]] == routes


def check_profile(session: QuerySession, name: str, shown: dict[str, Any]) -> None:
    """The same links that are sure enough; what an entity reports is listed, not drawn."""
    answer = profile(session, name)
    drawn = [link for link in answer.links if session.words[link.relation].family != "measured"]
    assert shown["links"] == sorted(_key(link) for link in drawn if not link.weak)


CHECKS: dict[str, Callable[..., None]] = {
    "chain": lambda session, ids, shown: check_chain(session, ids[0], shown),
    "factor": lambda session, ids, shown: check_factor(session, ids[0], shown),
    "path": check_path,
    "profile": lambda session, ids, shown: check_profile(session, ids[0], shown),
}


def _agree(store: Store, questions: list[tuple[str, tuple[str, ...]]], shown_by) -> None:
    session = QuerySession(store.view())
    shown = shown_by(_given(store, session, _asked(session, questions)))
    for (view, ids), each in zip(questions, shown, strict=True):
        CHECKS[view](QuerySession(store.view()), ids, each)


def test_a_small_world_is_shown_as_answered(shown_by):
    questions = [
        *(("chain", (topic,)) for topic in (PV, SILICON, LONGI)),
        *(("factor", (factor,)) for factor in (PRICE, CUT)),
        ("path", (TONGWEI, SUNGROW)),
        ("profile", (LONGI,)),
    ]
    _agree(filled(solar()), questions, shown_by)


@pytest.mark.parametrize("seed", range(6))
def test_a_random_base_is_shown_as_answered(shown_by, seed):
    store = _random_base(seed)
    known = {entity.id for entity in store.view().entities()}
    names = [name for name in (*PRODUCTS, *FIRMS, *FACTORS) if name in known]
    questions = [("chain", (name,)) for name in names if name in PRODUCTS]
    questions += [("factor", (name,)) for name in names if name in FACTORS]
    questions += [("profile", (name,)) for name in names]
    questions += [("path", (FIRMS[0], name)) for name in names[1:8] if name != FIRMS[0] and FIRMS[0] in known]
    _agree(store, questions, shown_by)


def test_the_demo_is_shown_as_answered(shown_by, demo_base):
    store = open_store(demo_base)
    try:
        view = store.view()
        kinds = {Kind.INDUSTRY: "chain", Kind.INDICATOR: "factor", Kind.COMPANY: "profile"}
        session = QuerySession(view)
        ranked = sorted(
            (entity for entity in view.entities() if entity.kind in kinds and session.index(entity.id) is not None),
            key=lambda entity: (-session.graph.degree(session.index(entity.id)), entity.id),
        )
        questions = [
            (view_, (entity.id,))
            for kind, view_ in kinds.items()
            for entity in [entity for entity in ranked if entity.kind is kind][:8]
        ]
        companies = [entity.id for entity in ranked if entity.kind is Kind.COMPANY][:5]
        questions += [("path", (companies[0], other)) for other in companies[1:]]
        _agree(store, questions, shown_by)
    finally:
        store.close()


def test_an_earlier_day_leaves_out_what_was_not_published(shown_by):
    store = filled(solar())
    session = QuerySession(store.view())
    asked = _asked(session, [("chain", (PV,))])
    day = date(2024, 1, 31)
    (shown,) = shown_by(_given(store, session, [{**asked[0], "asOf": day_number(day)}]))
    earlier = chain(QuerySession(store.view(as_of=day)), PV)
    assert shown["links"] == sorted(_key(link) for link in earlier.graph.links)
