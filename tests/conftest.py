from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.neo4j.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.neo4j.server import Server


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Server]:
    """Start Neo4j for all tests that ask for it."""
    yield from running()
