"""One door to every kind of store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kg.errors import StoreMissing, StoreUnusable
from kg.settings import load
from kg.store.memory import MemoryStore
from kg.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from kg.store.port import Store

_SQLITE = "sqlite:"
_NEO4J = ("neo4j", "bolt")


def open_store(url: str | Path, *, create: bool = False) -> Store:
    """Open a knowledge base.

    Args:
        url: `memory:`, a path, `sqlite:PATH`, or `neo4j://HOST:PORT/DATABASE` (`bolt://` alike; +s with TLS); user and
            password come from the settings, never from the URL.
        create: make it when it is not there.

    Raises:
        StoreMissing: when it is not there and shall not be made.
        StoreTooNew: when a later version of Liantu wrote it.
        StoreUnusable: when it is no knowledge base, or cannot be opened.
        SettingsError: when the URL is none, or holds a password.
    """
    if str(url) == "memory:":
        return MemoryStore()
    if str(url).partition(":")[0].partition("+")[0] in _NEO4J:
        return _on_server(str(url), create=create)
    path = Path(str(url).removeprefix(_SQLITE))
    try:
        folder, there = path.is_dir(), path.exists()
    except OSError as error:  # a folder on the way that lets nobody in, a name too long
        raise StoreUnusable(path, f"cannot be reached ({error.strerror})") from error
    if folder:
        raise StoreUnusable(path, "a folder, not a knowledge base")
    if not there and not create:
        raise StoreMissing(path)
    return SqliteStore(path, create=create)


def _on_server(url: str, *, create: bool) -> Store:
    # Imported here: the driver is an optional extra.
    from kg.store.neo4j.connection import Address  # noqa: PLC0415
    from kg.store.neo4j.store import Neo4jStore  # noqa: PLC0415

    settings = load()
    return Neo4jStore(Address.of(url, settings.neo4j_user, settings.neo4j_password), create=create)
