"""Write to and remove from a Neo4j store: one transaction per document, then one that publishes it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import neo4j
from neo4j.exceptions import DriverError, IncompleteCommit, Neo4jError

from kg.errors import StoreLocked, StoreUnusable
from kg.store import codec
from kg.store.neo4j import changes as cypher
from kg.store.neo4j.connection import STATEMENT_SECONDS, Moment
from kg.store.neo4j.reading import insert, purge
from kg.store.neo4j.statements import HAS_DOCUMENT
from kg.store.rules.validated import prepare, utc
from kg.store.visibility import microseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.judgement import Judgement
    from kg.model import Reading, Run
    from kg.store.neo4j.connection import Connection

T = TypeVar("T")
Examine = Callable[["Moment", "Judgement"], "Judgement | None"]

_ATTEMPTS = 3  # a commit without a response is checked, and repeated if it was not applied


@contextmanager
def writing(connection: Connection) -> Iterator[str]:
    """Hold the writer lock of a store; yield the token of this writer.

    Raises:
        StoreLocked: when another writer is active in this or another process.
    """
    token = secrets.token_hex(8)
    with connection.telling():
        session = connection.session()
        lock = session.begin_transaction(metadata={"liantu": "writer", "token": token})
    try:
        with connection.telling():
            rows = {row[2]: (_number(row[0]), row[1]) for row in Moment(lock, 0).rows(cypher.WRITERS)}
            mine, database = rows[token]
            if any(number < mine and other == database for number, other in rows.values()):
                raise StoreLocked(str(connection.address))
        yield token
    finally:
        with suppress(DriverError, Neo4jError):  # if the connection is lost, the server has already released the lock
            lock.close()
            session.close()


def _number(transaction_id: str) -> int:
    return int(transaction_id.rsplit("-", 1)[1])


class Neo4jWriter:
    """The only writer of a store."""

    def __init__(self, connection: Connection, token: str, examine: Examine) -> None:
        self._connection, self._token, self._examine = connection, token, examine
        self._block: Moment | None = None  # the open transaction of `together`
        self._changed = False
        self._needs_clean_up = True  # removed data may not be deleted yet, for example after a crash of a writer
        self._revision: int = self._run_alone(lambda t: Moment(t, 0).rows(cypher.TAKE, token=token)[0][0])
        self._clean_up()

    def write(self, reading: Reading) -> bool:
        """Write a document atomically."""
        prepared = prepare(reading)

        def work(moment: Moment) -> bool:
            if moment.rows(HAS_DOCUMENT, id=prepared.document.id):
                return False
            insert(moment, prepared)
            return True

        return self._change(work)

    def remove(self, document_id: str) -> bool:
        """Remove a document and everything that only it states."""
        self._needs_clean_up = True
        return self._change(lambda moment: bool(moment.rows(cypher.REMOVE, id=document_id)))

    def publish(self, run: Run) -> None:
        """Publish a weekly run."""
        recorded = None if run.recorded_at is None else microseconds(utc(run.recorded_at))
        self._needs_clean_up = True

        def work(moment: Moment) -> bool:
            moment.rows(cypher.WITHDRAW, id=run.id)
            moment.rows(cypher.PUBLISH_RUN, id=run.id, as_of=run.as_of, instant=recorded, record=codec.run_out(run))
            moment.rows(cypher.DROP_COMMUNITIES, run=run.id)
            rows = [
                {
                    "id": item.id,
                    "name": item.summary.title if item.summary else item.id,
                    "level": item.level,
                    "members": list(item.members),
                }
                for item in run.communities
            ]
            moment.rows(cypher.COMMUNITIES, run=run.id, as_of=run.as_of, communities=rows)
            return True

        self._change(work)

    def withdraw(self, run_id: str) -> bool:
        """Withdraw a weekly run."""
        self._needs_clean_up = True

        def work(moment: Moment) -> bool:
            moment.rows(cypher.DROP_COMMUNITIES, run=run_id)
            return bool(moment.rows(cypher.WITHDRAW, id=run_id))

        return self._change(work)

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Store a judgement."""

        def work(moment: Moment) -> Judgement | None:
            kept = self._examine(moment, judgement)
            if kept:
                moment.rows(
                    cypher.JUDGE,
                    id=kept.id,
                    day=kept.published_on,
                    instant=microseconds(kept.recorded_at),
                    record=codec.judgement_out(kept),
                )
            return kept

        return self._change(work)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run all calls in one transaction; a lost connection rolls all of them back."""
        if self._block is not None:
            yield
            return
        wanted = self._revision + 1
        self._changed = False
        try:
            with (
                self._connection.telling(),
                self._connection.session() as session,
                session.begin_transaction(timeout=STATEMENT_SECONDS) as transaction,
            ):
                self._block = self._begin(transaction, wanted)
                yield
                if not self._changed:
                    return
                self._block.rows(cypher.WRITTEN)
                with suppress(IncompleteCommit):  # checked below
                    transaction.commit()
        finally:
            self._block = None
        if self._written_revision() != wanted:
            raise StoreUnusable(
                str(self._connection.address), "the connection was lost; nothing of the transaction was kept"
            )
        self._publish_revision(wanted)

    def _change(self, work: Callable[[Moment], T]) -> T:
        """Run `work` in one transaction, exactly once; a truthy result means that it changed the store."""
        if self._block is not None:
            result = work(self._block)
            self._changed = self._changed or bool(result)
            return result
        wanted = self._revision + 1
        kept: list[T] = []

        @neo4j.unit_of_work(timeout=STATEMENT_SECONDS)
        def within(transaction: neo4j.ManagedTransaction) -> T:
            moment = self._begin(transaction, wanted)
            kept[:] = [work(moment)]
            if kept[0]:
                moment.rows(cypher.WRITTEN)
            return kept[0]

        with self._connection.telling():
            for _ in range(_ATTEMPTS):
                try:
                    with self._connection.session() as session:
                        result = session.execute_write(within)
                except IncompleteCommit:
                    if self._written_revision() != wanted:
                        continue
                    result = kept[0]
                if result:
                    self._publish_revision(wanted)
                return result
        raise StoreUnusable(
            str(self._connection.address), "the connection was lost at every commit; nothing of the change was kept"
        )

    def _begin(self, transaction: neo4j.Transaction | neo4j.ManagedTransaction, revision: int) -> Moment:
        """Begin a change after checking that this is still the active writer."""
        held = Moment(transaction, revision).rows(cypher.HOLD, token=self._token)
        if not held:
            raise StoreLocked(str(self._connection.address))
        return Moment(transaction, revision, held[0][1])

    def _written_revision(self) -> int:
        found = self._run_alone(lambda t: Moment(t, 0).rows(cypher.HOLD, token=self._token))
        return int(found[0][0]) if found else -1

    def _publish_revision(self, revision: int) -> None:
        """Make a committed change visible to readers and delete data that no reader sees."""
        self._run_alone(lambda t: Moment(t, revision).rows(cypher.PUBLISH, token=self._token))
        self._revision = revision
        self._clean_up()

    def _clean_up(self) -> None:
        """Delete removed data, unless an older reader is open; then a later change retries."""

        def work(transaction: neo4j.ManagedTransaction) -> bool:
            moment = Moment(transaction, self._revision)
            hidden = moment.rows(cypher.HIDDEN)
            if hidden or moment.rows(cypher.HIDDEN_RUNS):
                (now,) = moment.rows(cypher.NOW)[0]
                if moment.rows(cypher.READERS, moment=now)[0][0]:
                    return True
                self._begin(transaction, self._revision)
                purge(moment, [key for (key,) in hidden])
            return False

        if self._needs_clean_up:
            self._needs_clean_up = self._run_alone(work)

    def _run_alone(self, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        """Run an idempotent change in its own transaction."""
        with self._connection.telling(), self._connection.session() as session:
            return session.execute_write(work)
