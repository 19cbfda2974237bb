from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.store.open import open_store
from tests.contracts.reference import MemoryStore
from tests.neo4j.server import emptied

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.store.port import Store


@pytest.fixture(params=["memory", "sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "neo4j":
        yield from emptied(request.getfixturevalue("neo4j_server"), monkeypatch)
        return
    opened: Store = MemoryStore() if request.param == "memory" else open_store(tmp_path / "kb.liantu", create=True)
    yield opened
    opened.close()
