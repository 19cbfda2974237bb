"""One door to every kind of store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kg.errors import StoreMissing, StoreUnusable
from kg.store.memory import MemoryStore
from kg.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from kg.store.port import Store

_SQLITE = "sqlite:"


def open_store(url: str | Path, *, create: bool = False) -> Store:
    """Open a knowledge base.

    Args:
        url: `memory:`, a path, or `sqlite:PATH`.
        create: make it when it is not there.

    Raises:
        StoreMissing: when it is not there and shall not be made.
        StoreTooNew: when a later version of Liantu wrote it.
        StoreUnusable: when it is no knowledge base, or cannot be opened.
    """
    if str(url) == "memory:":
        return MemoryStore()
    path = Path(str(url).removeprefix(_SQLITE))
    if path.is_dir():
        raise StoreUnusable(path, "a folder, not a knowledge base")
    if not path.exists() and not create:
        raise StoreMissing(path)
    return SqliteStore(path, create=create)
