from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from kg.store.open import open_store
from tests.kg.query.world import filled, solar

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """A base of the solar chain."""
    base = tmp_path / "kb.liantu"
    with closing(open_store(base, create=True)) as store:
        filled(solar(), store)
    return base
