"""Open a store of any kind from its URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kg.errors import StoreMissing, StoreUnusable
from kg.settings import load
from kg.store.sqlite.store import SqliteStore, TemporaryStore

if TYPE_CHECKING:
    from kg.store.port import Store

_SQLITE = "sqlite:"
_NEO4J = ("neo4j", "bolt")


def open_store(url: str | Path, *, create: bool = False) -> Store:
    """Open a knowledge base.

    Args:
        url: `memory:`, a path, `sqlite:PATH`, or `neo4j://HOST:PORT/DATABASE` (`bolt://` alike; +s with TLS); user and
            password come from the settings, never from the URL.
        create: create the store if it does not exist.

    Raises:
        StoreMissing: when it does not exist and `create` is false.
        StoreTooNew: when a later version of Liantu wrote it.
        StoreUnusable: when it is not a knowledge base, or cannot be opened.
        SettingsError: when the URL is invalid or contains a password.
    """
    if str(url) == "memory:":
        return TemporaryStore()
    if str(url).partition(":")[0].partition("+")[0] in _NEO4J:
        return _open_neo4j(str(url), create=create)
    path = Path(str(url).removeprefix(_SQLITE))
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError as error:  # no permission on a parent folder, or name too long
        raise StoreUnusable(path, f"cannot be reached ({error.strerror})") from error
    if is_folder:
        raise StoreUnusable(path, "a folder, not a knowledge base")
    if not exists and not create:
        raise StoreMissing(path)
    return SqliteStore(path, create=create)


def _open_neo4j(url: str, *, create: bool) -> Store:
    # Imported here: the driver is an optional extra.
    from kg.store.neo4j.connection import Address  # noqa: PLC0415
    from kg.store.neo4j.store import Neo4jStore  # noqa: PLC0415

    settings = load()
    return Neo4jStore(Address.of(url, settings.neo4j_user, settings.neo4j_password), create=create)
