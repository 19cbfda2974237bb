"""Hostile files and paths cost one line each; the rest is read. Every case is made here."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import zlib
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from reportlab.pdfgen.canvas import Canvas

from extraction import ingest as ingesting
from extraction.ingest import Job, Outcome, ingest
from extraction.reading import FileReader
from extraction.worker_process import MEGABYTE, Limits
from kg.errors import DocumentError
from tests.contracts.reference import MemoryStore
from tests.goldens import reports

if TYPE_CHECKING:
    from collections.abc import Callable

READ = datetime(2025, 9, 1, 8, tzinfo=UTC)
NOTE = "---\ntitle: 点评\npublishedAt: 2025-08-20\n---\n宁德时代向特斯拉供应磷酸铁锂电池。\n"


@pytest.fixture(autouse=True)
def one_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = reports.extractor()
    monkeypatch.setattr(ingesting.Extractor, "default", lambda **_: ready)


def run(*paths: Path) -> Outcome:
    return ingest(MemoryStore(), Job(paths, READ, workers=1, ner=False))


def pdf(content: bytes, filters: bytes = b"/FlateDecode") -> bytes:
    """Return a PDF of one page with this compressed content."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>",
        b"<< /Length %d /Filter [%s] >>\nstream\n%s\nendstream" % (len(content), filters, content),
    )
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, 1))
    return body + b"trailer << /Size 5 /Root 1 0 R >>\n%%EOF\n"


def bomb(megabytes: int) -> bytes:
    """Return a PDF whose page inflates to so many megabytes of blanks."""
    packer = zlib.compressobj(9)
    packed = b"".join([packer.compress(b" " * MEGABYTE) for _ in range(megabytes)]) + packer.flush()
    return pdf(zlib.compress(packed, 9), b"/FlateDecode /FlateDecode")


def test_a_decompression_bomb_is_one_line_and_the_next_file_is_read(tmp_path: Path):
    (tmp_path / "a.pdf").write_bytes(bomb(1500))
    (tmp_path / "b.md").write_text(NOTE, encoding="utf-8")
    assert (tmp_path / "a.pdf").stat().st_size < 10_000
    outcome = run(tmp_path)
    assert outcome.written == 1
    (fault,) = outcome.refused
    assert "memory" in str(fault)
    assert fault.source == str(tmp_path / "a.pdf")


def test_a_file_that_takes_too_long_is_one_line_and_the_next_file_is_read(tmp_path: Path):
    slow, note = tmp_path / "a.md", tmp_path / "b.md"
    slow.write_text(
        "2025-08-20\n\n" + "[" * 5000 + "\n" + "![" * 0 + "\n\n" + ("![" * 2400 + "\n\n") * 40, encoding="utf-8"
    )
    note.write_text(NOTE, encoding="utf-8")
    reader = FileReader(date(2025, 9, 1), limits=Limits(memory=512 * MEGABYTE, seconds=0.3))
    (fault,) = reader.read(slow)
    (document,) = reader.read(note)
    reader.close()
    assert "takes more than 0.3 s of processor time" in str(fault)
    assert "KG_READ_SECONDS" in str(fault)
    assert not isinstance(document, DocumentError)


def test_a_pdf_that_takes_too_long_keeps_the_pages_read_until_then(tmp_path: Path):
    path, store, pages = tmp_path / "2025-08-20.pdf", MemoryStore(), 300
    canvas = Canvas(str(path))
    for number in range(pages):
        for line in range(40):
            canvas.drawString(60, 800 - 18 * line, f"Page {number}: demand rose and prices followed {line}.")
        canvas.showPage()
    canvas.save()
    job = Job([path], READ, workers=1, ner=False, read_seconds=0.8)
    outcome = ingest(store, job)
    (fault,) = outcome.refused
    (document,) = [store.view().document(head.id) for head in store.view().documents()]
    assert document is not None
    assert document.tags == ("partial",)
    assert 1 < len(document.pages) < pages
    assert f"pages after {len(document.pages)} are not read" in str(fault)
    assert not ingest(store, replace(job, read_seconds=180.0)).refused
    (document,) = [store.view().document(head.id) for head in store.view().documents()]
    assert document is not None
    assert (document.tags, len(document.pages)) == ((), pages)


def _unreadable(path: Path) -> None:
    path.write_text(NOTE, encoding="utf-8")
    path.chmod(0)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


PATHS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "fifo": ("a.md", os.mkfifo, "not a regular file"),
    "loop": ("a.md", _loop, "symbolic links"),
    "dangling": ("a.md", lambda path: path.symlink_to("nowhere"), "No such file"),
    "folder": ("a.md/b.md/c.md", lambda path: path.mkdir(), ""),
    "sparse": ("a.txt", _sparse, "3,072 MB, more than 40 MB"),
    "newline": ("a\nb.md", lambda path: path.write_bytes(b""), "a\\nb.md: the file is empty"),
}


@pytest.mark.parametrize("case", PATHS)
def test_a_path_that_cannot_be_read_is_one_line(tmp_path: Path, case: str):
    name, make, cause = PATHS[case]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    make(tmp_path / name)
    (tmp_path / "z.md").write_text(NOTE, encoding="utf-8")
    outcome = run(tmp_path)
    assert outcome.written == 1
    assert [cause in str(fault) for fault in outcome.refused] == ([True] if cause else [])
    assert all("\n" not in str(fault) for fault in outcome.refused)


def test_a_name_that_is_not_utf_8_is_one_line(tmp_path: Path):
    name = os.fsencode(tmp_path) + b"/" + "公告.md".encode("gbk")
    Path(os.fsdecode(name)).write_text(NOTE, encoding="utf-8")
    (tmp_path / "z.md").write_text(NOTE, encoding="utf-8")
    outcome = run(tmp_path)
    (fault,) = outcome.refused
    assert outcome.written == 1
    assert "\\xb9\\xab\\xb8\\xe6.md: the file name is not UTF-8" in str(fault)
    str(fault).encode()


def test_a_name_that_is_too_long_is_one_line(tmp_path: Path):
    (tmp_path / "z.md").write_text(NOTE, encoding="utf-8")
    outcome = run(tmp_path / f"{'长' * 200}.md", Path("/".join(["a"] * 5000)), tmp_path / "z.md")
    assert outcome.written == 1
    assert all("File name too long" in str(fault) for fault in outcome.refused)
    assert len(outcome.refused) == 2


def test_linked_folders_are_read_once(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "z.md").write_text(NOTE, encoding="utf-8")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "other").symlink_to(tmp_path / "in")
    outcome = run(tmp_path)
    assert (outcome.written, outcome.known, outcome.refused) == (1, 0, [])


def test_what_a_user_may_not_read_is_one_line_each(tmp_path: Path):
    """Run as nobody where the tests run as root."""
    tmp_path.chmod(0o755)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.md").write_text(NOTE, encoding="utf-8")
    _unreadable(tmp_path / "a.md")
    (tmp_path / "z.md").write_text(NOTE, encoding="utf-8")
    (tmp_path / "sub").chmod(0)
    script = (
        "import os, sys\nfrom collections import Counter\nfrom datetime import date\nfrom pathlib import Path\n"
        "from extraction.documents.open_file import read_file, walk\n"
        "os.chdir(sys.argv[1])\n"
        "os.geteuid() or (os.setgid(65534), os.setuid(65534))\n"
        "for path in walk([Path()], Counter()):\n"
        "    for item in read_file(path, today=date(2025, 9, 1)):\n"
        "        print(path.name, item if isinstance(item, Exception) else 'read')\n"
    )
    try:
        done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    finally:
        (tmp_path / "sub").chmod(0o755)
    lines = sorted(done.stdout.splitlines())
    assert [line.split(" ")[0] for line in lines] == ["a.md", "sub", "z.md"]
    assert ["Permission denied" in line for line in lines] == [True, True, False]


def test_a_file_that_vanishes_is_one_line(tmp_path: Path):
    reader = FileReader(date(2025, 9, 1))
    (fault,) = reader.read(tmp_path / "gone.md")
    reader.close()
    assert "No such file" in str(fault)


@pytest.mark.extended
def test_under_a_memory_limit_of_the_shell_the_run_goes_on(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.pdf").write_bytes(bomb(3000))
    (tmp_path / "in" / "b.md").write_text(NOTE, encoding="utf-8")
    command = [Path(sys.executable).with_name("liantu"), "ingest", tmp_path / "in", "--kb", tmp_path / "kb"]
    limit = 3_000_000 * 1024
    done = subprocess.run(
        [*map(str, command), "--no-ner", "--edge-model", "off"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("未处理：") == 1
    assert "1 篇新写入" in done.stdout


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("deep.html", "<p>2025-08-20" + "<div>" * 90_000, "nested more than 1,000 deep"),
        ("tables.html", "<p>2025-08-20" + "<table><tr><td>" * 6_000, "nested more than 1,000 deep"),
        (
            "attributes.html",
            "<p>2025-08-20<i " + " ".join(f"a{n}=1" for n in range(50_000)),
            "more than 1,000 attributes",
        ),
        ("deep.md", "2025-08-20\n\n" + "<div>" * 50_000, "nested more than 1,000 deep"),
        ("images.md", "2025-08-20\n\n" + "![" * 30_000, ""),
        ("script.html", "<p>2025-08-20<script>" + "for(i=0;i<n;i++)" * 5_000 + "</script><p>正文。", ""),
        ("comment.html", "<p>2025-08-20 正文。" + "<!--" * 30_000, ""),
        ("data.html", f"<p>2025-08-20<img src='data:image/png;base64,{'QUJD ' * 20_000}'>正文。", ""),
    ],
)
def test_what_takes_a_parser_quadratic_time_is_read_in_linear_time_or_refused(tmp_path: Path, name, text, cause):
    (tmp_path / name).write_text(text, encoding="utf-8")
    reader = FileReader(date(2025, 9, 1), limits=Limits(memory=512 * MEGABYTE, seconds=10.0))
    (item,) = reader.read(tmp_path / name)
    reader.close()
    assert isinstance(item, DocumentError) == bool(cause), str(item)
    assert cause in str(item)


def test_a_page_of_scattered_letters_is_read_in_linear_time(tmp_path: Path):
    letters = b"".join(
        b"1 0 0 1 %d %d Tm (%c) Tj " % (n * 7919 % 590, n * 104729 % 840, 97 + n % 8) for n in range(20_000)
    )
    content = zlib.compress(b"BT /F1 8 Tf " + letters + b"ET")
    (tmp_path / "2025-08-20.pdf").write_bytes(pdf(content))
    reader = FileReader(date(2025, 9, 1), limits=Limits(memory=512 * MEGABYTE, seconds=10.0))
    (item,) = reader.read(tmp_path / "2025-08-20.pdf")
    reader.close()
    assert not isinstance(item, DocumentError), str(item)
