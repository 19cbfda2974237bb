"""The server is killed under a write: what was written is whole, and a second run completes it.

Few kills here; `python -m tests.neo4j.test_killed_server 20` is the long run.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from kg.errors import StoreUnusable
from kg.store.neo4j import connection as neo4j_connection
from kg.store.open import open_store
from tests.contracts.readings import CATL, LITHIUM, fact, reading, reported
from tests.contracts.reference import MemoryStore
from tests.neo4j.server import PASSWORD, missing, started
from tests.neo4j.test_connection import stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.model import Reading
    from kg.store.port import Store
    from tests.neo4j.server import Server

DOCUMENTS = 60
PATIENCE = 60.0  # seconds, for a server that has just started on a busy machine
pytestmark = pytest.mark.neo4j


def _reading(number: int) -> Reading:
    facts = (fact(CATL, "uses", LITHIUM), *(reported(number * 10 + place) for place in range(6)))
    return reading(number, number % 30, *facts, fact(CATL, "uses", f"product:料{number}"))


def _reference(ids: set[str]) -> MemoryStore:
    store = MemoryStore()
    _write(store, ids)
    return store


def _write(store: Store, ids: set[str] | None = None) -> None:
    with store.writer() as writer:
        for number in range(DOCUMENTS):
            item = _reading(number)
            if ids is None or item.document.id in ids:
                writer.write(item)


@contextmanager
def _serving(home: Path, *, again: bool) -> Iterator[Server]:
    generator = started(home, again=again)
    yield next(generator)
    next(generator, None)  # it ends the server, if that still runs


def killed(home: Path, kills: int) -> tuple[int, int]:
    """Kill the server at random moments of a write; return how often it was at work, and how many documents it has.

    Raises:
        AssertionError: what is left is not whole documents, or the end differs.
    """
    chance, hit, seconds = random.Random(1), 0, 6.0  # noqa: S311 -- moments, no secrets
    for number in range(kills + 1):
        with _serving(home, again=number > 0) as server, closing(open_store(server.url, create=True)) as store:
            written = {head.id for head in store.view().documents()}
            assert stated(store.view()) == stated(_reference(written).view()), f"after kill {number}"
            if len(written) == DOCUMENTS:
                with store.writer() as writer:
                    for identity in written:
                        writer.remove(identity)
            if number == kills:
                _write(store)
                assert stated(store.view()) == stated(_reference({f"doc:{at}" for at in range(DOCUMENTS)}).view())
                return hit, store.stats()["documents"]
            timer = threading.Timer(chance.uniform(0, seconds), server.process.kill)
            began = time.perf_counter()
            timer.start()
            try:
                _write(store)
                seconds = time.perf_counter() - began
            except StoreUnusable:
                hit += 1
            timer.cancel()
    raise AssertionError


@pytest.mark.extended
def test_a_server_killed_under_a_write_keeps_whole_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if reason := missing():
        pytest.skip(reason)
    monkeypatch.setenv("KG_NEO4J_PASSWORD", PASSWORD)
    monkeypatch.setattr(neo4j_connection, "CONNECT_SECONDS", PATIENCE)
    hit, documents = killed(tmp_path, 2)
    assert (hit > 0, documents) == (True, DOCUMENTS)


def main() -> None:
    """Print how many kills met a server at work."""
    os.environ["KG_NEO4J_PASSWORD"], neo4j_connection.CONNECT_SECONDS = PASSWORD, PATIENCE
    kills = int(sys.argv[1])
    with TemporaryDirectory(prefix="liantu-neo4j-") as folder:
        hit, documents = killed(Path(folder), kills)
    sys.stdout.write(
        f"{kills} kills, {hit} of them under a write; every state whole; {documents} documents at the end\n"
    )


if __name__ == "__main__":
    main()
