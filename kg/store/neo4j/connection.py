"""Connect to a Neo4j server, read consistent states and convert driver errors to store errors."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from kg.errors import SettingsError, StoreError, StoreMissing, StoreTooNew, StoreUnusable
from kg.store.neo4j import schema

try:
    import neo4j
    from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired
except ModuleNotFoundError as absent:
    raise StoreUnusable("neo4j:", "the driver is not installed; pip install 'liantu[neo4j]'") from absent
# Driver warnings are also raised as store errors, so silence them unless the application configures logging.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
Row = tuple[Any, ...]

ADDRESS = re.compile(r"(?P<scheme>(?:neo4j|bolt)(?:\+s|\+ssc)?):/+(?P<host>[^/?#]+)/*(?P<database>[^/?#]*)")
CONNECT_SECONDS = 5.0
RETRY_SECONDS = 15.0
STATEMENT_SECONDS = 600.0
_FETCH = 5000

READER = {"liantu": "reader"}


@dataclass(frozen=True, slots=True)
class Address:
    """Location and credentials of a Neo4j store; its string form has no credentials."""

    server: str
    database: str | None
    user: str
    password: str = field(repr=False)

    @staticmethod
    def of(url: str, user: str, password: str) -> Address:
        """Parse a URL; also accept `neo4j:/host`, as produced by path types.

        Raises:
            SettingsError: when the URL is invalid or contains credentials, because URLs are printed and stored in
                shell histories.
        """
        found = ADDRESS.fullmatch(url)
        if found is None:
            raise SettingsError(
                "kb", "a Neo4j URL is neo4j://HOST:PORT or neo4j://HOST:PORT/DATABASE; bolt:// also works"
            )
        if "@" in found["host"]:
            raise SettingsError("kb", "no user or password in the URL; set KG_NEO4J_USER and KG_NEO4J_PASSWORD")
        return Address(f"{found['scheme']}://{found['host']}", found["database"] or None, user, password)

    def __str__(self) -> str:
        return f"{self.server}/{self.database}" if self.database else self.server


class Moment:
    """One state of the store, within one transaction; `identity` is that of the base."""

    def __init__(
        self, transaction: neo4j.Transaction | neo4j.ManagedTransaction, revision: int, identity: str = ""
    ) -> None:
        self._transaction, self.revision, self.identity = transaction, revision, identity

    @property
    def state(self) -> tuple[str, int]:
        """What names the state: equal ones have equal content."""
        return self.identity, self.revision

    def rows(self, statement: str, **parameters: object) -> list[Row]:
        """Run a statement and return all rows."""
        # Statements are built from constants (kg/store/neo4j/); external values are always parameters.
        found = self._transaction.run(statement, {"revision": self.revision, **parameters})
        return [tuple(record.values()) for record in found]


class Connection:
    """A driver for one store; each read sees the state at its start."""

    def __init__(self, address: Address) -> None:
        self.address = address
        with self.telling():
            self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
            self._driver = neo4j.GraphDatabase.driver(
                address.server,
                auth=(address.user, address.password),
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=RETRY_SECONDS,
                max_transaction_retry_time=RETRY_SECONDS,
                notifications_min_severity="OFF",  # ignore warnings about unused labels
                user_agent="liantu",
            )

    def session(self) -> neo4j.Session:
        """Return a session that sees all writes through this connection, also on cluster followers."""
        return self._driver.session(database=self.address.database, fetch_size=_FETCH, bookmark_manager=self._bookmarks)

    def read(self, work: Callable[[Moment], T]) -> T:
        """Call `work` with the current state; retry for up to 15 seconds if the connection is lost."""

        @neo4j.unit_of_work(metadata=READER, timeout=STATEMENT_SECONDS)
        def within(transaction: neo4j.ManagedTransaction) -> T:
            return work(_moment(transaction))

        with self.telling(), self.session() as session:
            return session.execute_read(within)

    def state(self) -> tuple[str, int]:
        """Return identity and revision of the current state, in one round trip; after a lost connection as `read`."""
        with suppress(StoreUnusable), self.telling(), self.session() as session:
            if found := session.run(schema.STATE).single():
                return found[0], found[1]
        return self.read(lambda moment: moment.state)

    @contextmanager
    def pinned(self) -> Iterator[Moment]:
        """Pin the current state for a `with` block, in one open transaction without a time limit."""
        with self.telling(), self.session() as session, session.begin_transaction(metadata=READER) as transaction:
            yield _moment(transaction)

    def make_ready(self, *, create: bool) -> int:
        """Check the version of the store, creating the store if needed, and return the version.

        Raises:
            StoreMissing: when there is no store and `create` is false.
            StoreTooNew: when a later version wrote it.
            StoreUnusable: when the server is unreachable, refuses access, or holds other data.
        """
        with self.telling(), self.session() as session:
            found = session.run(schema.BASE).single()
            if found is not None:
                if found[0] > schema.VERSION:
                    raise StoreTooNew(str(self.address), found[0], schema.VERSION)
                return int(found[0])
            if session.run(schema.ANYTHING).single() is not None:
                raise StoreUnusable(str(self.address), "the database holds something else, not a knowledge base")
            if not create:
                raise StoreMissing(str(self.address))
            for statement in schema.SCHEMA:
                session.run(statement).consume()
            session.run(schema.READY).consume()
            session.run(schema.CREATE_BASE, version=schema.VERSION).consume()
            return schema.VERSION

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Convert driver errors to store errors; none contains the password.

        Raises:
            StoreUnusable: for any error that makes the store unusable.
        """
        try:
            yield
        except StoreError:
            raise
        except AuthError as error:
            cause = "user or password refused; set KG_NEO4J_USER and KG_NEO4J_PASSWORD"
            raise StoreUnusable(str(self.address), cause) from error
        except (ServiceUnavailable, SessionExpired, OSError) as error:
            cause = "no answer, or the line dropped; nothing of the last document was kept. Is the server up?"
            raise StoreUnusable(str(self.address), cause) from error
        except (Neo4jError, DriverError) as error:
            raise StoreUnusable(str(self.address), f"Neo4j error: {str(error).splitlines()[0]}") from error

    def close(self) -> None:
        """Close all connections."""
        self._driver.close()


def _moment(transaction: neo4j.Transaction | neo4j.ManagedTransaction) -> Moment:
    """Return the published state at the first read of the transaction.

    Raises:
        ServiceUnavailable: when the store has disappeared since it was opened; the driver retries.
    """
    found = transaction.run(schema.STATE).single()
    if found is None:
        raise ServiceUnavailable("the knowledge base no longer exists")
    return Moment(transaction, found[1], found[0])
