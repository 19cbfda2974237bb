"""A dated graph of industrial chains, 43,000 facts, in both stores: same chains, impacts and paths."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kg.errors import QuestionError
from kg.interop.copying import copy
from kg.interop.imports.rows import FieldReader, RowImport
from kg.query.session import QuerySession
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from kg.relations import vocabulary
from kg.store.open import open_store
from tests.neo4j.bases import ICKG25, READ
from tests.neo4j.server import emptied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.store.port import Store
    from tests.neo4j.server import Server

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.real_data,
    pytest.mark.skipif(not ICKG25.is_dir(), reason="no ickg25 here; LIANTU_DATA says where the sets are"),
]


@pytest.fixture(scope="module")
def bases(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    path = tmp_path_factory.mktemp("chains") / "kb.liantu"
    with pytest.MonkeyPatch.context() as patch, closing(open_store(path, create=True)) as local:
        RowImport("ickg25", FieldReader(vocabulary()), READ).run(ICKG25, local, refuse=lambda _: None)
        opened = emptied(neo4j_server, patch)
        served = next(opened)
        copy(local, served)
        yield local, served
        opened.close()


@pytest.mark.parametrize("day", [None, date(2025, 4, 30)])
def test_chains_impacts_and_paths_are_the_same(bases: tuple[Store, Store], day: date | None):
    local, served = (QuerySession(store.view(as_of=day)) for store in bases)
    questions = asked(local)
    answered = 0
    for name, question in questions.items():
        expected = outcome(question, local)
        assert outcome(question, served) == expected, name
        answered += not isinstance(expected, str)
    assert answered == len(questions)


def asked(session: QuerySession) -> dict[str, Callable[[QuerySession], object]]:
    """Return questions about the most connected industries and companies: hubs are where a walk is cut."""
    edges = session.graph.edges()
    degree = np.bincount(np.concatenate([edges.source, edges.target]), minlength=len(session.graph.entity_ids))
    ids = [session.graph.entity_ids[node] for node in np.argsort(-degree, kind="stable")[:2000].tolist()]
    industries = [identity for identity in ids if identity.startswith("industry:")][:4]
    companies = [identity for identity in ids if identity.startswith(("sec:", "org:"))][:6]
    found: dict[str, Callable[[QuerySession], object]] = {}
    for topic in industries:
        found[f"chain {topic}"] = lambda view, topic=topic: chain(view, topic)
        found[f"impact {topic}"] = lambda view, topic=topic: impact(view, topic)
        found[f"causes {topic}"] = lambda view, topic=topic: causes(view, topic)
    for one, other in pairwise(companies):
        found[f"relate {one} {other}"] = lambda view, ends=(one, other): relate(view, *ends)
    return found


def outcome(question: Callable[[QuerySession], object], session: QuerySession) -> object:
    try:
        return question(session)
    except QuestionError as error:
        return str(error)
