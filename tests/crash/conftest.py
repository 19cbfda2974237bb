from __future__ import annotations

import pytest

from kg.graph import cache as archive


@pytest.fixture(autouse=True)
def archive_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Works set these, so that small bases have files too; other tests mean what the module says."""
    for name in ("_WORTH_A_FILE", "_LEAST_PATCH"):
        monkeypatch.setattr(archive, name, getattr(archive, name))
