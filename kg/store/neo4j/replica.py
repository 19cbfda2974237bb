"""A local copy of a base on a server, kept in SQLite, that answers all questions on it.

The server holds the base and passes it on; every process that asks follows it: it compares the revision at each read,
and after a commit fetches what changed. All stores but the reference thus have one engine for questions.
"""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.neo4j.reading import read_back
from kg.store.sqlite.store import TemporaryStore
from kg.store.visibility import instant_of

if TYPE_CHECKING:
    from kg.judgement import Judgement
    from kg.model import Run
    from kg.relations import Vocabulary
    from kg.store.neo4j.connection import Connection, Moment
    from kg.store.sqlite.writer import SqliteWriter


class Replica:
    """Follows one base; thread-safe. `store` is the copy."""

    def __init__(self, connection: Connection, words: Vocabulary) -> None:
        self._connection = connection
        self.store = TemporaryStore(words, before_read=self._follow)
        self._guard = threading.Lock()
        self._state: tuple[str, int] | None = None  # identity and revision of the base that the copy equals
        self._documents: dict[str, int] = {}  # id and the revision that added it
        self._runs: dict[int, str] = {}  # number and id

    def examine(self, moment: Moment, judgement: Judgement) -> Judgement | None:
        """Return what a store keeps of a judgement on a state that may be rolled back, None if it is known.

        Raises:
            JudgementRefused: when it is invalid.
        """
        kept: list[Judgement | None] = []
        with self._guard:
            self._forget_other(moment)
            with self.store.writer() as writer, suppress(_Undo), writer.together():
                self._update(writer, moment)
                kept.append(writer.judge(judgement))
                raise _Undo
        return kept[0]

    def _follow(self) -> None:
        """Make the copy equal to the current state of the base."""
        if self._connection.state() == self._state:
            return
        with self._guard, self._connection.pinned() as moment:
            if moment.state != self._state:
                self._forget_other(moment)
                with self.store.writer() as writer, writer.together():
                    found = self._update(writer, moment)
                self._documents, self._runs = found
                self._state = moment.state

    def _forget_other(self, moment: Moment) -> None:
        """Empty the copy if another base has taken the place of the one that it followed."""
        if self._state is not None and self._state[0] != moment.identity:
            with closing(TemporaryStore()) as empty:
                self.store.become(empty)
            self._state, self._documents, self._runs = None, {}, {}

    def _update(self, writer: SqliteWriter, moment: Moment) -> tuple[dict[str, int], dict[int, str]]:
        """Write what changed up to a state; return its documents and runs."""
        documents: dict[str, int] = dict(moment.rows(cypher.DOCUMENTS))
        runs: dict[int, str] = dict(moment.rows(cypher.RUNS))
        for identity, _ in self._documents.items() - documents.items():
            writer.remove(identity)
        for identity, _ in sorted(documents.items() - self._documents.items()):
            if reading := read_back(moment, identity):
                writer.write(reading)
        for row in moment.rows(cypher.JUDGEMENTS, since=self._state[1] if self._state else -1):
            writer.judge(codec.judgement_in(*row))
        for run in set(self._runs.values()) - set(runs.values()):
            writer.withdraw(run)
        new = sorted(runs.keys() - self._runs.keys())
        for record, recorded_at in moment.rows(cypher.RUNS_OF, numbers=new) if new else ():
            writer.publish(_run(record, recorded_at))
        return documents, runs


class _Undo(Exception):
    """Rolls a transaction back."""


def _run(record: str, recorded_at: int | None) -> Run:
    return codec.run_in(record, None if recorded_at is None else instant_of(recorded_at))
