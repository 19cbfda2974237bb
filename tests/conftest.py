"""For all tests: how many cases a property is tried on, a Neo4j server, and a base of the bundled reports.

25 cases in `make test`, 120 in `make test-all`, 2,000 with `pytest --hypothesis-profile=long`.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.goldens.demo_corpus import read
from tests.neo4j.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.neo4j.server import Server

# How long a case takes is the machine's affair: no deadline, and no complaint about a slow one.
settings.register_profile("short", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("all", settings.get_profile("short"), max_examples=120)
settings.register_profile("long", settings.get_profile("short"), max_examples=2000)
settings.load_profile("short")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, so that none is left to one process at the end."""
    items.sort(key=lambda item: item.get_closest_marker("extended") is None)


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Server]:
    """Start Neo4j for all tests that ask for it."""
    yield from running()


@pytest.fixture(scope="session")
def demo_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a base of the bundled reports, ingested once for all processes of a run; copy it to write to it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    base = shared / "demo.liantu"
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not base.exists():
            (unfinished := shared / "unfinished.liantu").unlink(missing_ok=True)
            read(unfinished).close()
            unfinished.rename(base)
    return base
