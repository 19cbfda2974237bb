"""A full disk, a read-only folder, another writer, a later version, a damaged page: one clear line, nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from kg.cli import main
from kg.errors import StoreUnusable
from kg.store.open import open_store
from kg.store.sqlite.schema import STEPS
from tests.crash import works
from tests.crash.killing import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534
COMMANDS = (
    ("remove", "doc:1"),
    ("entity", "merge", "org:母公司0", "org:母公司1", "--by", "张三", "--why", "试"),
    ("check",),
    ("profile", "宁德时代"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "kb.liantu"
    works.filled(path)
    return path


@pytest.fixture
def base(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "kb.liantu"))


def reported(capsys: pytest.CaptureFixture[str], base: Path, *arguments: str) -> tuple[int, str]:
    """Call `liantu`; return its exit code and what it says on the standard error."""
    code = 0
    try:
        main([*arguments, "--kb", str(base), "--lang", "en"])
    except SystemExit as left:
        code = int(left.code or 0)
    return code, capsys.readouterr().err


def one_line(message: str) -> bool:
    return message.count("\n") == 1 and message.startswith("liantu: ") and "Traceback" not in message


@contextmanager
def as_nobody() -> Iterator[None]:
    """Go on without root's right to write everywhere."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def refused(base: Path) -> str:
    """Return what is said to somebody who may not write."""
    with (
        as_nobody(),
        pytest.raises(StoreUnusable) as reported,
        closing(open_store(base)) as store,
        store.writer() as writer,
    ):
        writer.remove("doc:1")
    return str(reported.value)


@pytest.mark.parametrize("kilobytes", [300, 700])
def test_a_disk_that_is_full_keeps_whole_documents_and_can_be_gone_on_with(tmp_path: Path, kilobytes: int):
    base = tmp_path / "kb.liantu"
    with closing(open_store(base, create=True)):
        pass
    room = kilobytes * 1024
    command = [sys.executable, "-m", "tests.crash.works", "insertion", str(base)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.returncode != 0
    assert "StoreUnusable" in done.stderr.splitlines()[-1]
    assert "nothing of the last document was kept" in done.stderr.splitlines()[-1]
    with closing(open_store(base)) as store:
        assert not list(store.breaches())  # type: ignore[attr-defined] # a file can be checked
        assert 0 < store.stats()["documents"] < works.DOCUMENTS
    works.run("insertion", base)
    other = tmp_path / "other.liantu"
    works.run("insertion", other)
    assert works.content(base) == works.content(other)


def test_a_read_only_folder_is_said():
    # Not under pytest's own folder, which it closes to all but its owner.
    with TemporaryDirectory() as name:
        folder = Path(name)
        base = folder / "kb.liantu"
        works.filled(base)
        before = base.read_bytes()
        base.chmod(0o444)
        folder.chmod(0o555)
        try:
            assert "read-only" in refused(base)
            folder.chmod(0o600)
            assert "cannot be reached" in refused(base) or "cannot be opened" in refused(base)
        finally:
            folder.chmod(0o755)
        assert base.read_bytes() == before


def test_a_path_that_no_file_can_have_is_said(tmp_path: Path):
    with pytest.raises(StoreUnusable, match="cannot be reached"):
        open_store(tmp_path / ("名" * 300))


@pytest.mark.parametrize("arguments", COMMANDS[:2])
def test_another_writer_is_said(capsys, base: Path, arguments: tuple[str, ...]):
    with closing(open_store(base)) as store, store.writer():
        code, message = reported(capsys, base, *arguments)
        assert (code, one_line(message)) == (4, True)
        assert "is writing; wait until it ends" in message
        assert reported(capsys, base, "check")[0] == reported(capsys, base, "profile", "宁德时代")[0] == 0
    assert reported(capsys, base, *arguments)[0] == 0


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_later_version_is_said(capsys, base: Path, arguments: tuple[str, ...]):
    with closing(sqlite3.connect(base)) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    before = base.read_bytes()
    code, message = reported(capsys, base, *arguments)
    assert (code, one_line(message)) == (4, True)
    assert "upgrade liantu" in message
    assert base.read_bytes() == before


def test_a_damaged_page_is_said_and_a_backup_serves(capsys, base: Path):
    whole = base.read_bytes()
    with closing(sqlite3.connect(base)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'evidence'").fetchone()
    content = bytearray(whole)
    content[(root - 1) * size : root * size] = b"\xa5" * size
    base.write_bytes(content)
    for arguments in COMMANDS:
        code, message = reported(capsys, base, *arguments)
        assert (code, one_line(message)) == (4, True), arguments
        assert "damaged" in message or "faults" in message
    base.write_bytes(whole)
    assert reported(capsys, base, "check")[0] == 0
