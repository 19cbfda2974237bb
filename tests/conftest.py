"""For all tests: how many cases a property is tried on, and a Neo4j server for those that ask for one.

120 cases in every run; 2,000 with `pytest --hypothesis-profile=long`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.neo4j.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.neo4j.server import Server

# How long a case takes is the machine's affair: no deadline, and no complaint about a slow one.
settings.register_profile("short", max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("short"), max_examples=2000)
settings.load_profile("short")


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Server]:
    """Start Neo4j for all tests that ask for it."""
    yield from running()
