"""What the file store alone has to stand: other processes, crashes, damage, other people's files."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kg.errors import StoreLocked, StoreMissing, StoreTooNew, StoreUnusable
from kg.model import Entity, Kind
from kg.store.open import open_store
from kg.store.sqlite.connections import translated
from kg.store.sqlite.schema import STEPS, migrate
from kg.store.sqlite.store import SqliteStore
from tests.contracts.readings import BYD, CATL, LITHIUM, day, fact, reading, reported

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kb.liantu"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, create=True)) as opened:
        yield opened


def rows(path: Path) -> dict[str, int]:
    """Count the rows of every table of ours, inside and outside any view."""
    texts = ["document", "body", "copy", "chunk", "mention"]
    names = [
        *texts,
        "entity",
        "profile",
        "profile_name",
        "appearance",
        "fact",
        "evidence",
        "word_place",
        "appearing_place",
        "fact_end_place",
    ]
    with closing(sqlite3.connect(path)) as connection:
        counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}  # noqa: S608
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for name in ("word", "appearing", "fact_end"):
            connection.execute(f"INSERT INTO {name} ({name}) VALUES ('integrity-check')")  # noqa: S608
    return counts


def test_a_base_is_one_file_once_it_is_closed(path: Path):
    with closing(open_store(path, create=True)) as store, store.writer() as writer:
        writer.write(reading(1, 0, reported(20)))
        assert len(list(path.parent.iterdir())) > 1
    assert [item.name for item in path.parent.iterdir()] == ["kb.liantu"]
    with closing(open_store(f"sqlite:{path}")) as store:
        assert store.stats()["documents"] == 1


def test_an_odd_path_is_a_path(tmp_path: Path):
    odd = tmp_path / "研报 50%?a=b#c.liantu"
    with closing(open_store(odd, create=True)):
        pass
    assert odd.exists()
    with closing(open_store(odd)) as store:
        assert store.stats()["documents"] == 0


def test_removal_leaves_no_row_in_any_table(store: SqliteStore, path: Path):
    entity = Entity(LITHIUM, Kind.PRODUCT, "碳酸锂")
    with store.writer() as writer:
        writer.write(reading(1, 0, reported(20)))
        before = rows(path)
        writer.write(reading(2, 0, reported(20), fact(BYD, "uses", LITHIUM), entities=(entity,), copies=(1,)))
        writer.remove("doc:2")
        assert rows(path) == before
        writer.remove("doc:1")
    assert set(rows(path).values()) == {0}


@pytest.mark.parametrize("table", ["document", "body", "chunk", "mention", "profile", "fact", "evidence"])
def test_a_failure_at_any_table_keeps_nothing(store: SqliteStore, path: Path, table: str):
    with store.writer() as writer:
        writer.write(reading(1, 0, reported(20)))
    before = rows(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TRIGGER fail AFTER INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'injected'); END")
    with store.writer() as writer:
        with pytest.raises(StoreUnusable, match="injected"):
            writer.write(reading(2, 0, fact(BYD, "uses", LITHIUM), entities=()))
        assert rows(path) == before
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TRIGGER fail")
        assert writer.write(reading(2, 0, fact(BYD, "uses", LITHIUM), entities=()))


def test_a_full_disk_keeps_what_was_whole(store: SqliteStore):
    texts = random.Random(1)  # noqa: S311 - made-up text
    with store.writer() as writer:
        pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
        writer._connection.execute(f"PRAGMA max_page_count = {pages + 40}")
        with pytest.raises(StoreUnusable, match="disk is full"):  # noqa: PT012 - which write fails is the disk's affair
            for number in range(999):
                text = "".join(chr(texts.randrange(0x4E00, 0x9FA5)) for _ in range(2000))
                writer.write(reading(number, 0, reported(number), text=text))
    whole = store.stats()["documents"]
    assert whole > 0
    assert len(list(store.view().facts())) == whole
    assert {chunk.document for chunk in store.view().chunks_mentioning(CATL, 999)} == {f"doc:{n}" for n in range(whole)}


def test_a_second_process_cannot_write_but_can_read(store: SqliteStore, path: Path):
    script = textwrap.dedent("""
        import sys
        from contextlib import closing
        from kg.errors import StoreLocked
        from kg.store.open import open_store

        with closing(open_store(sys.argv[1])) as store:
            print(store.stats()["documents"], flush=True)
            try:
                with store.writer():
                    print("free")
            except StoreLocked:
                print("locked")
    """)

    def other() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script, str(path)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
        )
        return done.stdout.split()

    with store.writer() as writer:
        writer.write(reading(1, 0))
        assert other() == ["1", "locked"]
    assert other() == ["1", "free"]


def test_a_base_reached_by_a_link_has_the_same_one_writer(store: SqliteStore, path: Path):
    link = path.with_name("link.liantu")
    link.symlink_to(path)
    with closing(open_store(link)) as linked:
        with store.writer(), pytest.raises(StoreLocked), linked.writer():
            pass
        with linked.writer(), pytest.raises(StoreLocked), store.writer():
            pass


@pytest.mark.extended
def test_a_killed_writer_leaves_whole_documents_and_no_lock(path: Path):
    """Kill −9 at random moments, again and again, and go on each time; the end is the undisturbed result."""
    script = textwrap.dedent("""
        import sys
        from kg.store.open import open_store
        from tests.contracts.readings import reading, reported, fact, BYD

        store = open_store(sys.argv[1], create=True)
        with store.writer() as writer:
            print("ready", flush=True)
            for number in range(200):
                claims = [reported(number * 20 + place) for place in range(20)]
                writer.write(reading(number, number % 30, *claims, text="宁德时代的碳酸锂采购价格上涨。" * 40))
        print("done", flush=True)
    """)
    waits = random.Random(7)  # noqa: S311 - moments to kill at
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(waits.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
        with closing(SqliteStore(path)) as store:
            stats = store.stats()
            whole = stats["documents"]
            assert (stats["chunks"], stats["mentions"], stats["evidence"]) == (2 * whole, whole, 20 * whole)
        counts = rows(path)
        assert counts["body"] == counts["appearance"] == counts["appearing_place"] / 2 == whole
    assert whole > 0
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True, cwd=ROOT)
    with closing(SqliteStore(path)) as store:
        assert store.stats()["documents"] == 200
        assert len(store.view().search("碳酸锂", 1000)) == 400


def test_threads_read_side_by_side(store: SqliteStore):
    with store.writer() as writer:
        for number in range(8):
            writer.write(reading(number, number, reported(number)))
    view = store.view()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: (len(list(view.facts())), len(view.search("碳酸锂", 99))), range(40)))
    assert set(found) == {(8, 8)}


def test_what_is_missing_is_said(path: Path, tmp_path: Path):
    with pytest.raises(StoreMissing, match="liantu ingest"):
        open_store(path)
    with pytest.raises(StoreUnusable, match="folder"):
        open_store(tmp_path, create=True)
    with pytest.raises(StoreUnusable, match="cannot be opened"):
        open_store(tmp_path / "nowhere" / "kb.liantu", create=True)


@pytest.mark.parametrize("content", [b"%PDF-1.7 not a base" * 300, b"x", b"SQLite format 3\x00" + b"\xff" * 5000])
@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_no_base_is_left_alone(path: Path, content: bytes, *, create: bool):
    path.write_bytes(content)
    with pytest.raises(StoreUnusable, match=r"not a knowledge base|damaged|SQLite error"):
        open_store(path, create=create)
    assert path.read_bytes() == content


def test_an_empty_file_is_no_base_unless_one_is_to_be_made(path: Path):
    path.touch()
    with pytest.raises(StoreUnusable, match="empty"):
        open_store(path)
    with closing(open_store(path, create=True)) as store:
        assert store.stats()["documents"] == 0


def test_another_programs_database_is_left_alone(path: Path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(StoreUnusable, match="not a knowledge base of Liantu"):
            open_store(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.usefixtures("store")
def test_a_later_schema_is_refused(path: Path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StoreTooNew, match="upgrade"):
        open_store(path)


@pytest.mark.usefixtures("store")
def test_an_earlier_schema_takes_the_missing_steps_once(path: Path):
    steps = (*STEPS, "CREATE TABLE later (a);", "INSERT INTO later VALUES (1);")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for _ in range(2):
            migrate(connection, path, steps)
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (1,)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(steps),)


@pytest.mark.usefixtures("store")
def test_a_step_that_fails_changes_nothing(path: Path):
    steps = (*STEPS, "CREATE TABLE later (a); INSERT INTO nowhere VALUES (1);")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, path, steps)
        assert not connection.in_transaction
        assert connection.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'later'").fetchone() == (0,)


def test_a_damaged_page_is_said_and_not_answered_from(path: Path):
    with closing(open_store(path, create=True)) as store, store.writer() as writer:
        for number in range(60):
            writer.write(reading(number, number, reported(number), text="宁德时代的碳酸锂采购价格上涨。" * 30))
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 64] = os.urandom(64)
    path.write_bytes(content)
    with pytest.raises(StoreUnusable, match="damaged"), closing(open_store(path)) as store:
        list(store.view().facts())


@pytest.mark.parametrize(
    ("code", "fault", "line"),
    [
        (sqlite3.SQLITE_FULL, StoreUnusable, "disk is full"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, StoreUnusable, "read-only"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, StoreUnusable, "cannot be opened"),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnusable, "failed to read or write"),
        (sqlite3.SQLITE_NOTADB, StoreUnusable, "not a knowledge base"),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreUnusable, "damaged"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreLocked, "another process"),
        (sqlite3.SQLITE_MISUSE, StoreUnusable, "stated"),
    ],
)
def test_each_fault_is_one_clear_line(code: int, fault: type[Exception], line: str):
    error = sqlite3.OperationalError("stated")
    error.sqlite_errorcode = code
    found = translated(error, Path("kb.liantu"))
    assert type(found) is fault
    assert line in str(found)
    assert "\n" not in str(found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_said(path: Path):
    with closing(open_store(path, create=True)):
        pass
    path.parent.chmod(0o500)
    try:
        with pytest.raises(StoreUnusable), closing(open_store(path)) as store, store.writer():
            pass
    finally:
        path.parent.chmod(0o700)


def test_lengths_are_kept_only_while_the_base_does_not_change(store: SqliteStore):
    with store.writer() as writer:
        for number in range(3):
            writer.write(reading(number, number))
            views = [store.view(), *(store.view(as_of=day(back)) for back in range(8))]
            assert [len({chunk.document for chunk, _ in view.search("碳酸锂", 99)}) for view in views] == [
                number + 1,
                *(min(back, number) + 1 for back in range(8)),
            ]
    assert len(store._lengths) <= 4


def test_mentions_of_an_entity_outlive_the_first_document_that_named_it(store: SqliteStore):
    with store.writer() as writer:
        writer.write(reading(1, 0))
        writer.write(reading(2, 1))
        writer.remove("doc:1")
    assert [chunk.document for chunk in store.view().chunks_mentioning(CATL, 9)] == ["doc:2"]


def test_a_base_appears_whole(tmp_path: Path):
    """A reader that looks while it is being created finds none, or a complete one."""
    script = (
        "import sys\nfrom kg.store.open import open_store\n"
        "for line in sys.stdin: open_store(line.strip(), create=True).close(); print('made', flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as maker:
        assert maker.stdin
        assert maker.stdout
        for number in range(20):
            path = tmp_path / f"{number}.liantu"
            maker.stdin.write(f"{path}\n")
            maker.stdin.flush()
            while True:
                try:
                    with closing(open_store(path)) as store:
                        assert store.stats()["documents"] == 0
                    break
                except StoreMissing:
                    pass
            assert maker.stdout.readline() == "made\n"
        maker.stdin.close()
    assert not list(tmp_path.glob(".*"))


def test_a_forked_child_holds_no_lock_and_removes_none(tmp_path: Path):
    path = tmp_path / "kb.liantu"
    with closing(SqliteStore(path, create=True)) as store:
        with store.writer():
            if (child := os.fork()) == 0:
                with suppress(BaseException):
                    signal.pause()  # as a worker that outlives its parent's writer
                os._exit(0)
            assert (tmp_path / "kb.liantu-lock").exists()
        try:
            with store.writer():
                pass
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_a_disk_with_room_for_the_log_alone_leaves_no_base(tmp_path: Path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=388k", "liantu", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        with pytest.raises(StoreUnusable):
            open_store(disk / "kb.liantu", create=True)
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        open_store(disk / "kb.liantu", create=True).close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
