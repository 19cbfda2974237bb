"""Works that are killed, each of which can be begun again at any time: `python -m tests.crash.works WORK BASE`."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kg.graph import cache as archive
from kg.graph.snapshot import Snapshot
from kg.interop.dumping import dump
from kg.interop.imports import rows
from kg.interop.imports.rows import FieldReader, RowImport
from kg.judgement import Judgement, Verdict
from kg.model import Community, Run
from kg.relations import vocabulary
from kg.store.open import open_store
from kg.store.sqlite.schema import STEPS
from tests.contracts.readings import BYD, CATL, LITHIUM, READ, day, denied, fact, reading, reported

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.model import Reading
    from kg.store.port import Store

DOCUMENTS = 80
# Takes the tables of the thirteenth schema back to those of the twelfth, and those of the eleventh to the tenth.
BEFORE_13 = "ALTER TABLE state DROP COLUMN identity;"
BEFORE_11 = f"{BEFORE_13} ALTER TABLE run DROP COLUMN recorded_at;"
# Takes the tables of the ninth schema back to those of the eighth, as far as they differ.
BEFORE_9 = """
DROP TABLE fact_end_place;
DROP TABLE fact_end;
CREATE INDEX fact_subject ON fact (subject, relation);
CREATE INDEX fact_object ON fact (object, relation);
"""
# Takes the tables of the eighth schema back to those of the seventh, as far as they differ.
BEFORE_8 = """
CREATE TABLE appearance_7 (
    profile INTEGER NOT NULL REFERENCES profile,
    document INTEGER NOT NULL REFERENCES document,
    PRIMARY KEY (profile, document)
) WITHOUT ROWID;
INSERT INTO appearance_7 SELECT a.value, b.document FROM appearance AS b, json_each(b.profiles) AS a;
DROP TABLE appearing_place;
DROP TABLE appearing;
DROP TABLE appearance;
ALTER TABLE appearance_7 RENAME TO appearance;
CREATE INDEX appearance_document ON appearance (document);
"""
_AGAIN = 1000
_ROWS = "rows.jsonl"
_STARTED = "ready"


def paper(number: int) -> Reading:
    """Return a document that shares claims with others, closes some, and is a copy of the one before it or not."""
    claims = [reported(number * 10 + place) for place in range(10)]
    shared = [fact(CATL, "uses", LITHIUM), reported(5), fact(BYD, "subsidiary_of", f"org:母公司{number % 3}")]
    shared += [denied(shared[0])] if number % 7 == 0 else []
    copies = (number - 1,) if number % 5 == 1 else ()
    text = f"第{number}篇：宁德时代的碳酸锂采购价格上涨，毛利率回升。" * 30
    return reading(number, number % 30, *claims, *shared, text=text, copies=copies, path=f"{number}.md")


def reread(number: int) -> Reading:
    """Return the same file with other bytes."""
    old = paper(number % _AGAIN)
    return replace(reading(number, number % 30, fact(BYD, "uses", LITHIUM), reported(number)), problems=old.problems)


def filled(path: Path) -> None:
    """Make a base with all documents."""
    with closing(open_store(path, create=True)) as store:
        _insert(store)


def _insert(store: Store) -> None:
    with store.writer() as writer:
        for number in range(DOCUMENTS):
            writer.write(paper(number))
            if number % 20 == 19:
                writer.publish(Run(f"r{number}", day(number), communities=(Community("c", 0, "", (CATL,)),)))
        merge = Judgement("", Verdict.MERGE, "org:母公司1", day(3), READ, "org:母公司2", by="张三", why="试")
        if not store.view().judgements():
            writer.judge(merge)


def _remove(store: Store) -> None:
    with store.writer() as writer:
        for number in range(0, DOCUMENTS, 2):
            writer.remove(f"doc:{number}")


def _reingest(store: Store) -> None:
    with store.writer() as writer:
        for number in range(0, DOCUMENTS, 2):
            with writer.together():
                writer.remove(f"doc:{number}")
                writer.write(reread(_AGAIN + number))


def _migrate(store: Store) -> None:
    """Opening is the work."""


def _compile(store: Store) -> None:
    """Compile graphs into files, over and over, with commits in between that make them be patched."""
    for number in range(0, DOCUMENTS, 16):
        with store.writer() as writer:
            writer.write(reread(_AGAIN + number))
        for back in (None, 9, 19, 29):
            Snapshot.compile(store.view(as_of=None if back is None else day(back)), vocabulary())


def _read_files(store: Store, base: Path) -> None:
    """Ingest a folder of small reports, as the command does."""
    from extraction.ingest import Job, ingest  # noqa: PLC0415 - slow to import, and only this work wants it

    ingest(store, Job((base.parent.parent / "reports",), datetime(2026, 1, 1, tzinfo=UTC), workers=1, ner=False))


def _import(store: Store, base: Path) -> None:
    """Import the rows of an existing graph."""
    rows.ROWS = 200
    RowImport("jsonl", FieldReader(vocabulary()), READ).run(base.parent.parent / _ROWS, store, refuse=print)


WORKS: dict[str, Callable[[Store], None]] = {
    "insertion": _insert,
    "removal": _remove,
    "re-ingest": _reingest,
    "migration": _migrate,
    "snapshot": _compile,
}


def prepare(work: str, base: Path) -> None:
    """Lay down what a work begins with."""
    if work == "files":
        folder = base.parent.parent / "reports"
        folder.mkdir(exist_ok=True)
        for number in range(24):
            head = f"---\ntitle: 第{number}篇\npublishedAt: 2025-08-{number + 1:02}\n---\n"
            body = f"宁德时代向特斯拉供应磷酸铁锂电池。硅料价格下跌推动光伏组件价格下降。2024年出货{number}GWh。\n"
            (folder / f"{number}.md").write_text(head + body * 12, encoding="utf-8")
    elif work == "import":
        lines = (
            f'{{"subject":"公司{number % 90}","subject_kind":"company","relation":"uses","object":"产品{number % 700}",'
            f'"object_kind":"product","published_on":"2025-{1 + number // 250:02}-{1 + number % 25:02}"}}\n'
            for number in range(3000)
        )
        (base.parent.parent / _ROWS).write_text("".join(lines), encoding="utf-8")
    elif work != "insertion":
        filled(base)
    if work == "migration":
        _age(base)


def _age(base: Path) -> None:
    """Take a base back to the first schema."""
    with closing(sqlite3.connect(base)) as connection:
        connection.executescript(BEFORE_11 + BEFORE_9 + BEFORE_8)
        connection.execute("UPDATE document SET head = json_remove(head, '$[8]')")
        connection.executescript(
            "DROP TABLE judgement; DROP TABLE change; DROP INDEX copy_other; DELETE FROM run; PRAGMA user_version = 1;"
        )
        assert len(STEPS) > 1


def run(work: str, base: Path) -> None:
    """Do a work to its end."""
    archive._WORTH_A_FILE = archive._LEAST_PATCH = 0  # small bases get files too
    with closing(open_store(base, create=True)) as store:
        if work == "files":
            _read_files(store, base)
        elif work == "import":
            _import(store, base)
        else:
            WORKS[work](store)


def content(base: Path) -> list[str]:
    """Return all that a base holds, as `liantu dump` writes it."""
    with closing(open_store(base)) as store:
        return list(dump(store))


if __name__ == "__main__":
    sys.stdout.write(f"{_STARTED}\n")
    sys.stdout.flush()
    run(sys.argv[1], Path(sys.argv[2]))
