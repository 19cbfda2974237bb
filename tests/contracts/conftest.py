from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.store.memory import MemoryStore
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.store.port import Store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else open_store(tmp_path / "kb.liantu", create=True)
    yield opened
    opened.close()
