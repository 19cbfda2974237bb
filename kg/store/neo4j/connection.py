"""The line to a Neo4j server: one driver, states to read from, and the server's complaints as ours."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kg.errors import SettingsError, StoreError, StoreMissing, StoreTooNew, StoreUnusable
from kg.store.neo4j import schema

try:
    import neo4j
    from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired
except ModuleNotFoundError as absent:
    raise StoreUnusable("neo4j:", "the driver is not installed; pip install 'liantu[neo4j]'") from absent
# What the driver warns of comes back as an error of ours; who logs still gets it.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
Row = tuple[Any, ...]

ADDRESS = re.compile(r"(?P<scheme>(?:neo4j|bolt)(?:\+s|\+ssc)?):/+(?P<host>[^/?#]+)/*(?P<database>[^/?#]*)")
CONNECT_SECONDS = 5.0
RETRY_SECONDS = 15.0
STATEMENT_SECONDS = 600.0  # a compile of a large view; anything longer is a runaway
_FETCH = 5000

READER = {"liantu": "reader"}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a base is: what may be shown, and what opens it."""

    server: str
    database: str | None
    user: str
    password: str = field(repr=False)

    @staticmethod
    def of(url: str, user: str, password: str) -> Address:
        """Take a URL apart; `neo4j:/host`, as a path type makes it, will do.

        Raises:
            SettingsError: when it is no such URL, or holds a password: URLs are printed and kept in shell histories.
        """
        found = ADDRESS.fullmatch(url)
        if found is None:
            raise SettingsError("kb", "a Neo4j base is neo4j://HOST:PORT or neo4j://HOST:PORT/DATABASE, bolt:// alike")
        if "@" in found["host"]:
            raise SettingsError("kb", "no user or password in the URL; set KG_NEO4J_USER and KG_NEO4J_PASSWORD")
        return Address(f"{found['scheme']}://{found['host']}", found["database"] or None, user, password)

    def __str__(self) -> str:
        return f"{self.server}/{self.database}" if self.database else self.server


class Moment:
    """One state of the base, within one transaction."""

    def __init__(self, transaction: neo4j.Transaction | neo4j.ManagedTransaction, revision: int) -> None:
        self._transaction, self.revision = transaction, revision

    def rows(self, statement: str, **parameters: object) -> list[Row]:
        """Run a statement and return all it gives."""
        return list(self.stream(statement, **parameters))

    def stream(self, statement: str, **parameters: object) -> Iterator[Row]:
        """Run a statement and go through what it gives."""
        # The texts are put together from constants (kg/store/neo4j_*.py); all that comes from outside is a parameter.
        found = self._transaction.run(statement, {"revision": self.revision, **parameters})
        for record in found:
            yield tuple(record.values())


class ReadSession(Protocol):
    """Where a view reads from."""

    def read(self, work: Callable[[Moment], T]) -> T:
        """Let `work` read one state; it may be called again when the line drops."""


class Connection:
    """A driver for one base; each reading is the state it begins with."""

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
                notifications_min_severity="OFF",  # a label that nothing bears yet is no fault
                user_agent="liantu",
            )

    def session(self) -> neo4j.Session:
        """Return a session that sees all that was written through this connection, also on a cluster's follower."""
        return self._driver.session(database=self.address.database, fetch_size=_FETCH, bookmark_manager=self._bookmarks)

    def read(self, work: Callable[[Moment], T]) -> T:
        """Let `work` read the present state; again, for up to 15 seconds, when the line drops."""

        @neo4j.unit_of_work(metadata=READER, timeout=STATEMENT_SECONDS)
        def within(transaction: neo4j.ManagedTransaction) -> T:
            return work(_moment(transaction))

        with self.telling(), self.session() as session:
            return session.execute_read(within)

    @contextmanager
    def pinned(self) -> Iterator[PinnedSession]:
        """Hold the present state for the length of a `with` block, in one open transaction."""
        with self.telling(), self.session() as session, session.begin_transaction(metadata=READER) as transaction:
            yield PinnedSession(self, _moment(transaction))

    def make_ready(self, *, create: bool) -> int:
        """See that a base is there and of no later version than this; return its version.

        Raises:
            StoreMissing: when there is none and none shall be made.
            StoreTooNew: when a later version wrote it.
            StoreUnusable: when the server does not answer, refuses, or holds something else.
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
        """Turn the driver's errors into ours; none of them tells the password.

        Raises:
            StoreUnusable: for anything that stops the base from serving.
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
            raise StoreUnusable(str(self.address), f"Neo4j refuses: {str(error).splitlines()[0]}") from error

    def close(self) -> None:
        """Close all lines."""
        self._driver.close()


class PinnedSession:
    """A line whose every reading is the same state."""

    def __init__(self, connection: Connection, moment: Moment) -> None:
        self._connection, self._moment = connection, moment

    def read(self, work: Callable[[Moment], T]) -> T:
        """Let `work` read the state."""
        with self._connection.telling():
            return work(self._moment)


def _moment(transaction: neo4j.Transaction | neo4j.ManagedTransaction) -> Moment:
    """Return the state that is published when the transaction first reads.

    Raises:
        ServiceUnavailable: when the base was there when it was opened and cannot be seen now; the driver tries again.
    """
    found = transaction.run("MATCH (b:Base {name: 'liantu'}) RETURN b.revision").single()
    if found is None:
        raise ServiceUnavailable("the base is not there any more")
    return Moment(transaction, found[0])
