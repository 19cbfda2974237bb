from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.service.base import open_kb
from tests.kg.query.world import filled, solar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.service.base import KnowledgeBase


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_kb(tmp_path / "kb.liantu", create=True) as base:
        filled(solar(), base.store)
        yield base
