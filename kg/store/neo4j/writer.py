"""Writing to and removing from a Neo4j base: one transaction per document, in batches, then one that publishes it."""

from __future__ import annotations

import secrets
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
from kg.store.rules.identities import examined
from kg.store.rules.validated import prepare, utc
from kg.store.sight import microseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.judgement import Judgement
    from kg.model import Reading, Run
    from kg.store.neo4j.connection import Connection, ReadSession
    from kg.store.port import View

T = TypeVar("T")

_TRIES = 3  # a commit whose answer was lost is looked up, and made again when it did not arrive


@contextmanager
def writing(connection: Connection) -> Iterator[str]:
    """Hold the writer's lock of a base; gives the name under which this writer may write.

    Raises:
        StoreLocked: when another writer, here or in another process, is at work.
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
        with suppress(DriverError, Neo4jError):  # the line may be down: then the server has freed the lock already
            lock.close()
            session.close()


def _number(transaction_id: str) -> int:
    return int(transaction_id.rsplit("-", 1)[1])


class Neo4jWriter:
    """The one that may change the base."""

    def __init__(self, connection: Connection, token: str, seen: Callable[[ReadSession], View]) -> None:
        self._connection, self._token, self._seen = connection, token, seen
        self._block: Moment | None = None  # of `together`
        self._changed = False
        self._litter = True  # something may be removed and not yet deleted, if only by a writer that died
        self._revision: int = self._alone(lambda t: Moment(t, 0).rows(cypher.TAKE, token=token)[0][0])
        self._clean_up()

    def write(self, reading: Reading) -> bool:
        """Write a document whole or not at all."""
        prepared = prepare(reading)

        def work(moment: Moment) -> bool:
            if moment.rows(HAS_DOCUMENT, id=prepared.document.id):
                return False
            insert(moment, prepared)
            return True

        return self._change(work)

    def remove(self, document_id: str) -> bool:
        """Take a document out, and what only it said."""
        self._litter = True
        return self._change(lambda moment: bool(moment.rows(cypher.REMOVE, id=document_id)))

    def publish(self, run: Run) -> None:
        """Make a weekly run visible at once."""
        recorded = None if run.recorded_at is None else microseconds(utc(run.recorded_at))
        self._litter = True

        def work(moment: Moment) -> bool:
            moment.rows(cypher.WITHDRAW, id=run.id)
            moment.rows(cypher.PUBLISH_RUN, id=run.id, as_of=run.as_of, instant=recorded, record=codec.run_out(run))
            return True

        self._change(work)

    def withdraw(self, run_id: str) -> bool:
        """Take a weekly run back."""
        self._litter = True
        return self._change(lambda moment: bool(moment.rows(cypher.WITHDRAW, id=run_id)))

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Keep a judgement."""

        def work(moment: Moment) -> Judgement | None:
            kept = examined(judgement, self._seen(_Within(moment)))
            if moment.rows(cypher.KNOWN_JUDGEMENT, id=kept.id):
                return None
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
        """Make all calls within one transaction; a line that drops undoes all of them."""
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
                self._block = self._held(transaction, wanted)
                yield
                if not self._changed:
                    return
                self._block.rows(cypher.WRITTEN)
                with suppress(IncompleteCommit):  # looked up below
                    transaction.commit()
        finally:
            self._block = None
        if self._written() != wanted:
            raise StoreUnusable(str(self._connection.address), "the line dropped; nothing of the block was kept")
        self._published(wanted)

    def _change(self, work: Callable[[Moment], T]) -> T:
        """Let `work` change the base in one transaction, once; what it returns says whether it did."""
        if self._block is not None:
            done = work(self._block)
            self._changed = self._changed or bool(done)
            return done
        wanted = self._revision + 1
        kept: list[T] = []

        @neo4j.unit_of_work(timeout=STATEMENT_SECONDS)
        def within(transaction: neo4j.ManagedTransaction) -> T:
            moment = self._held(transaction, wanted)
            kept[:] = [work(moment)]
            if kept[0]:
                moment.rows(cypher.WRITTEN)
            return kept[0]

        with self._connection.telling():
            for _ in range(_TRIES):
                try:
                    with self._connection.session() as session:
                        done = session.execute_write(within)
                except IncompleteCommit:
                    if self._written() != wanted:
                        continue
                    done = kept[0]
                if done:
                    self._published(wanted)
                return done
        raise StoreUnusable(str(self._connection.address), "the line drops at every commit; nothing of it was kept")

    def _held(self, transaction: neo4j.Transaction | neo4j.ManagedTransaction, revision: int) -> Moment:
        """Begin a change: nobody else may have become the writer."""
        moment = Moment(transaction, revision)
        if not moment.rows(cypher.HOLD, token=self._token):
            raise StoreLocked(str(self._connection.address))
        return moment

    def _written(self) -> int:
        found: list[tuple[int]] = self._alone(lambda t: Moment(t, 0).rows(cypher.HOLD, token=self._token))
        return found[0][0] if found else -1

    def _published(self, revision: int) -> None:
        """Let readers see a change that is committed, and drop what none of them sees any more."""
        self._alone(lambda t: Moment(t, revision).rows(cypher.PUBLISH, token=self._token))
        self._revision = revision
        self._clean_up()

    def _clean_up(self) -> None:
        """Delete what was removed, unless a reader is open that began before; then a later change does it."""

        def work(transaction: neo4j.ManagedTransaction) -> bool:
            moment = Moment(transaction, self._revision)
            hidden = moment.rows(cypher.HIDDEN)
            if hidden or moment.rows(cypher.HIDDEN_RUNS):
                (now,) = moment.rows(cypher.NOW)[0]
                if moment.rows(cypher.READERS, moment=now)[0][0]:
                    return True
                self._held(transaction, self._revision)
                purge(moment, [key for (key,) in hidden])
            return False

        if self._litter:
            self._litter = self._alone(work)

    def _alone(self, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        """Make a change that may be made twice, in a transaction of its own."""
        with self._connection.telling(), self._connection.session() as session:
            return session.execute_write(work)


class _Within:
    """What the writer itself sees: its own transaction."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def read(self, work: Callable[[Moment], T]) -> T:
        """Let `work` read it."""
        return work(self._moment)
