"""Read about 250 hostile inputs, each by its own `liantu read`, and print time and peak memory.

    python -m benchmarks.hostile [--ingest] [--only PREFIX] [--keep FOLDER]

`--ingest` reads all of them by one `liantu ingest` instead. Every input is made here; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.hostile_formats import FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

KILOBYTES = 100
SECONDS_PER_100_KB, MEGABYTES = 2.0, 600  # the targets
DAY = "2025-08-20"
_DEADLINE = 240
_RANDOM = random.Random(18)  # noqa: S311 -- reproducible inputs, no secrets

MARKDOWN = (
    *(
        "![",
        "[",
        "[](",
        "](",
        "<",
        "<!--",
        "`a``b",
        "*a_ ",
        "**a ",
        "> ",
        "- a\n ",
        "|",
        "&a;",
        "a|b\n-|-\n",
        "[a]: b\n",
    ),
    *(
        "<http://a>",
        "\\",
        "~~a~",
        "![](a",
        "* a\n",
        "1. ",
        "[x][y]",
        "\n[",
        "<a ",
        "a](",
        "`",
        "# a\n",
        "---\n",
        "<div>",
    ),
    *("<b><i>", "***", "_a", "\t", "    a\n", "```\n", "![a](b)", "<?", "<![CDATA[", "&#0;", "\u202e"),
)
HTML = (
    *(
        "<div>",
        "<p>",
        "<b>",
        "<table>",
        "<table><tr><td>",
        "<ul><li>",
        "<a href=x>",
        "<!--",
        "<script>",
        "<svg>",
        "<h1>",
    ),
    *(
        "<select><option>",
        "<form>",
        "<font>",
        "</div>",
        "<td>",
        "<frameset>",
        "<template>",
        "<math>",
        "<a b='",
        '<a b="',
    ),
    *(
        "<",
        ">",
        "&lt;",
        "<!",
        "<?",
        "<nobr><p>",
        "<button>",
        "<b><i></b>",
        "<article>",
        "<meta name=date content=2>",
        "<br>",
    ),
)
TEXT = (
    *(
        "宁德时代",
        "a",
        " ",
        "\n",
        "|",
        "| a |\n",
        "1.",
        "图1：",
        "资料来源：",
        "...... 1\n",
        "一、\n",
        "2025-08-20",
        "2025年",
        "%",
    ),
    *(
        "同比增长",
        "（",
        "“",
        "宁德时代（300750.SZ）",
        "不",
        "、",
        "，",
        "。",
        "\u3000",
        "亿元",
        "3.5%",
        "\t",
        "-",
        "@a.com ",
        "至",
    ),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One input: bytes, wall and processor time, the largest memory of all its processes, and how it ended."""

    name: str
    size: int
    seconds: float
    busy: float
    megabytes: int
    outcome: str


def inputs() -> Iterator[tuple[str, bytes]]:
    """Yield names and contents."""
    size = KILOBYTES * 1024
    for number, unit in enumerate(MARKDOWN):
        yield f"md-repeat-{number:02}.md", f"{DAY}\n\n{unit * (size // len(unit.encode()))}".encode()
    for number, unit in enumerate(HTML):
        yield f"html-repeat-{number:02}.html", f"<p>{DAY}</p>{unit * (size // len(unit))}".encode()
    for number, unit in enumerate(TEXT):
        yield f"txt-repeat-{number:02}.txt", f"{DAY}\n{unit * (size // len(unit.encode()))}".encode()
    yield from _large()
    yield from _broken_text()
    yield from _jsonl()
    yield from _pdfs()
    for name, make in FILES.items():
        yield f"formats-{name.replace(' ', '-')}", make()


def _large() -> Iterator[tuple[str, bytes]]:
    yield "large-div.html", ("<div>" * 90_000 + DAY + "</div>" * 90_000).encode()
    yield "large-attributes.html", f"<p>{DAY}<i {' '.join(f'a{n}=1' for n in range(100_000))}>".encode()
    yield "large-line.txt", ("宁德时代" * (50_000_000 // 12)).encode()
    yield "large-line-20mb.txt", (DAY + "宁德时代" * (20_000_000 // 12)).encode()
    yield "large-lines.txt", (DAY + "\n" + "宁德时代向特斯拉供货。\n" * 30_000).encode()
    yield "large-table.md", (DAY + "\n\n|" + "a|" * 1000 + "\n|" + "-|" * 1000 + "\n" + "|a\n" * 20_000).encode()
    yield "large-rows.html", (f"<p>{DAY}<table>" + "<tr><td>1<td>a" * 20_000 + "</table>").encode()


def _broken_text() -> Iterator[tuple[str, bytes]]:
    note = f"---\ntitle: 点评\npublishedAt: {DAY}\n---\n" + "宁德时代向特斯拉供应磷酸铁锂电池。\n" * 200
    for encoding in ("utf-16", "utf-16-le", "gb18030", "big5", "utf-7", "utf-32"):
        yield f"encoding-{encoding}.md", note.encode(encoding, "replace")
    for number in range(10):
        data = bytearray(note.encode())
        for _ in range(20):
            data[_RANDOM.randrange(len(data))] = _RANDOM.randrange(256)
        yield f"flipped-{number}.md", bytes(data)
    laughs = "a0: &a0 [x,x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1},*a{n - 1},*a{n - 1}]\n" for n in range(1, 25))
    yield "yaml-aliases.md", f"---\n{laughs}---\n{DAY} 正文。".encode()
    yield "yaml-deep.md", f"---\na: {'[' * 20_000}\n---\n{DAY} 正文。".encode()
    yield "zeros.txt", bytes(100_000)
    yield "random.txt", _RANDOM.randbytes(100_000)
    yield "random.html", _RANDOM.randbytes(100_000)
    yield "empty.md", b""
    for mark in (b"PK\x03\x04", b"\x89PNG", b"%PDF-1.4"):
        yield f"disguised-{mark[1:3].decode('ascii', 'replace')}.md", mark + bytes(1000)


def _jsonl() -> Iterator[tuple[str, bytes]]:
    good = json.dumps({"title": "a", "date": DAY, "text": "宁德时代向特斯拉供货。" * 20}).encode()
    bad = (
        *(b"{", b"[]", b"null", b'"' + b"a" * 100_000, b"[" * 100_000, b'{"a":' * 50_000, b"1e999999", b"\xff\xfe"),
        *(
            b'{"text": 1, "date": "2025-08-20"}',
            b'{"text": "a", "date": "9999-99-99"}',
            b'{"text": "\\ud800", "date": "x"}',
        ),
        b'{"text": "a", "date": ' + b"9" * 100_000 + b"}",
    )
    for number, line in enumerate(bad):
        yield f"line-{number:02}.jsonl", b"\n".join([good, line, good])


def _pdfs() -> Iterator[tuple[str, bytes]]:
    words = b"BT /F1 9 Tf 12 TL 40 800 Td " + b"(CATL 2025-08-20 supplies cells to Tesla.) Tj T* " * 60 + b"ET"
    plain = _pdf(zlib.compress(words))
    for megabytes in (100, 500, 1000, 4000):
        packer = zlib.compressobj(9)
        once = b"".join([packer.compress(b" " * (1 << 20)) for _ in range(megabytes)]) + packer.flush()
        yield f"pdf-bomb-{megabytes}.pdf", _pdf(once)
        yield f"pdf-bomb-twice-{megabytes}.pdf", _pdf(zlib.compress(once, 9), b"/FlateDecode /FlateDecode")
    for count in (5_000, 20_000, 60_000):
        letters = (
            b"1 0 0 1 %d %d Tm (%c) Tj " % (_RANDOM.randrange(590), _RANDOM.randrange(840), _RANDOM.choice(b"abcdefgh"))
            for _ in range(count)
        )
        yield f"pdf-scattered-{count}.pdf", _pdf(zlib.compress(b"BT /F1 8 Tf " + b"".join(letters) + b"ET"))
    for lines in (500, 2_000, 8_000):
        dense = b"BT /F1 1 Tf 1 TL " + b"(%s) Tj T* " % (b"ab cd 12 34 " * 20) * lines + b"ET"
        yield f"pdf-dense-{lines}.pdf", _pdf(zlib.compress(dense, 9))
    rules = b"".join(b"%d %d m %d %d l S " % tuple(_RANDOM.randrange(800) for _ in range(4)) for _ in range(20_000))
    grid = b"".join(b"0 %d m 590 %d l S %d 0 m %d 840 l S " % (n, n, n, n) for n in range(0, 840, 2))
    yield "pdf-rules.pdf", _pdf(zlib.compress(words + rules))
    table = (
        b"BT /F1 9 Tf 12 TL 40 800 Td (Table 1: a) Tj T* "
        + b"(a          1          2          3) Tj T* " * 50
        + b"ET "
    )
    yield "pdf-grid.pdf", _pdf(zlib.compress(table + grid))
    yield "pdf-nested-q.pdf", _pdf(zlib.compress(b"q " * 200_000 + words))
    yield "pdf-arrays.pdf", plain.replace(b"/MediaBox [0 0 595 842]", b"/MediaBox " + b"[" * 50_000)
    yield "pdf-huge-page.pdf", plain.replace(b"595 842", b"99999999 99999999")
    yield "pdf-page-loop.pdf", plain.replace(b"/Kids [3 0 R]", b"/Kids [2 0 R 3 0 R]")
    yield "pdf-many-kids.pdf", plain.replace(b"[3 0 R] /Count 1", b"[" + b"3 0 R " * 5_000 + b"] /Count 5000")
    yield "pdf-count.pdf", plain.replace(b"/Count 1", b"/Count 2000000000")
    for number in range(25):
        yield f"pdf-cut-{number:02}.pdf", plain[: len(plain) * number // 25]
    for number in range(58):
        data = bytearray(plain)
        for _ in range(1 + number):
            data[_RANDOM.randrange(len(data))] = _RANDOM.randrange(256)
        yield f"pdf-flipped-{number:02}.pdf", bytes(data)


def _pdf(content: bytes, filters: bytes = b"/FlateDecode") -> bytes:
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        b"<< /Length %d /Filter [%s] >>\nstream\n%s\nendstream" % (len(content), filters, content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, 1))
    return body + b"trailer << /Size 6 /Root 1 0 R >>\n%%EOF\n"


def measure(path: Path) -> Measured:
    """Read one file by `liantu read` and watch its processes."""
    command = [sys.executable, "-m", "benchmarks.hostile", "--liantu", "read", str(path), "--date", DAY, "--lang", "en"]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        most, busy = 0, 0.0
        while process.poll() is None and time.perf_counter() - began < _DEADLINE:
            now = _resources(process.pid)
            most, busy = max(most, now[0]), max(busy, now[1])
            time.sleep(0.02)
        seconds = time.perf_counter() - began
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.wait()
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    return Measured(path.name, path.stat().st_size, seconds, busy, most >> 20, _outcome(process.returncode, said))


def _outcome(code: int, said: str) -> str:
    if "Traceback" in said:
        return "TRACEBACK " + said.strip().splitlines()[-1][:80]
    if code == 0:
        return "read"
    refusals = [line for line in said.splitlines() if line.startswith("refused: ")]
    if code == 3 and refusals:
        return "refused: " + refusals[0].partition(": ")[2].partition(": ")[2][:80]
    return f"KILLED or lost, exit code {code}"


def _resources(session: int) -> tuple[int, float]:
    """Return bytes of resident memory and processor seconds of all processes of a session, and of their children."""
    total, ticks = 0, 0
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            if entry.name.isdigit():
                fields = (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
                if int(fields[3]) == session:
                    total += int(fields[21]) * 4096
                    ticks += sum(map(int, fields[11:15]))
    return total, ticks / os.sysconf("SC_CLK_TCK")


def _print(found: list[Measured], start: float) -> None:
    print(f"a note of one line takes {start:.1f} s of the processor; the figures include that, the targets do not")
    print("| input | bytes | s | processor s | MB | outcome |\n|---|---|---|---|---|---|")
    for one in sorted(found, key=lambda each: -each.busy):
        figures = f"{one.size:,} | {one.seconds:.1f} | {one.busy:.1f} | {one.megabytes}"
        print(f"| {one.name} | {figures} | {one.outcome} |")
    slow = [one for one in found if one.busy - start > SECONDS_PER_100_KB * max(1.0, one.size / 102_400)]
    large = [one for one in found if one.megabytes > MEGABYTES]
    print(f"\n{len(found)} inputs; read {sum(one.outcome == 'read' for one in found)}, refused "
          f"{sum(one.outcome.startswith('refused') for one in found)}, tracebacks "
          f"{sum(one.outcome.startswith('TRACEBACK') for one in found)}, lost "
          f"{sum(one.outcome.startswith('KILLED') for one in found)}")  # fmt: skip
    print(f"more than {SECONDS_PER_100_KB:g} processor seconds per 100 KB: {len(slow)} {[one.name for one in slow]}")
    print(f"more than {MEGABYTES} MB: {len(large)} {[one.name for one in large]}")
    print(f"largest {max(one.megabytes for one in found)} MB, most {max(one.busy for one in found):.1f} processor s")


def main() -> None:
    if sys.argv[1:2] == ["--liantu"]:
        from kg.cli import main as liantu  # noqa: PLC0415 -- the command, in whatever version stands here

        liantu(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingest", action="store_true", help="read all inputs by one `liantu ingest` instead")
    parser.add_argument("--only", default="", help="names that begin so")
    parser.add_argument("--keep", type=Path, help="write the inputs here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "inputs"
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for name, content in inputs():
            if name.startswith(options.only):
                files.append(folder / name)
                files[-1].write_bytes(content)
        if not options.ingest:
            _measure_all(files, Path(temporary))
        else:
            _ingest(folder, len(files), temporary)


def _measure_all(files: list[Path], temporary: Path) -> None:
    note = Path(temporary) / "note.md"
    note.write_text(f"{DAY}\n\n正文。\n", encoding="utf-8")
    start = min(measure(note).busy for _ in range(3))
    _print([measure(file) for file in files], start)


def _ingest(folder: Path, count: int, temporary: str) -> None:
    began = time.perf_counter()
    command = ["ingest", str(folder), "--kb", f"{temporary}/kb.liantu", "--date", DAY]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.hostile", "--liantu", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"\ningest of {count}: exit code {done.returncode}, {time.perf_counter() - began:.0f} s, "
          f"tracebacks {done.stderr.count('Traceback')}\n{done.stdout}")  # fmt: skip


if __name__ == "__main__":
    main()
