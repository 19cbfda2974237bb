"""The demo: the real commands on the bundled reports, each with its time, and pages in build/demo/ (`make demo`)."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from viz.pages import IndexEntry, index_page

if TYPE_CHECKING:
    from collections.abc import Sequence

LIANTU = str(Path(sys.executable).with_name("liantu"))
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = Path("build/demo")
KB = OUT / "kb.liantu"

QUESTIONS = (
    "光伏产业链上下游有哪些公司？",
    "猪周期拐点会影响哪些板块？",
    "历史上加息周期银行板块怎么表现？",
)
PAGES = (
    ("chain-pv.html", "光伏产业链", "上游、中游、下游与各环节公司", ("chain", "光伏")),
    ("chain-battery.html", "锂电池产业链", "上游、中游、下游与各环节公司", ("chain", "锂电池")),
    (
        "impact-lithium.html",
        "碳酸锂价格下跌的影响",
        "带符号的传导路径",
        ("impact", "碳酸锂价格", "--direction", "down"),
    ),
    ("impact-hog.html", "生猪涨价", "会带动什么，逐级的方向", ("impact", "生猪价格")),
    ("relate.html", "通威股份与隆基绿能", "两家公司之间最可信的路径", ("relate", "通威股份", "隆基绿能")),
    ("profile-catl.html", "宁德时代", "名称、代码与全部关系", ("profile", "宁德时代")),
    ("themes/index.html", "主题图册", "本周的主题，每个一页", ("themes",)),
)


def main() -> int:
    """Run every stage, write the index, say what to open; the first failure ends the run with its exit code."""
    began = time.perf_counter()
    shutil.rmtree(ROOT / OUT, ignore_errors=True)
    (ROOT / OUT).mkdir(parents=True)
    times = [("ingest", _run("ingest", str(HERE.relative_to(ROOT) / "reports"))), ("weekly", _run("weekly"))]
    times.append(("3 × ask", sum(_run("ask", question) for question in QUESTIONS)))
    times.append((f"{len(PAGES)} × draw", sum(_draw(file, arguments) for file, _, _, arguments in PAGES)))
    index = ROOT / OUT / "index.html"
    entries = [IndexEntry(file, name, about) for file, name, about, _ in PAGES]
    index.write_text(index_page("链图 · 演示", entries, subtitle="示例研报 2021–2026"), encoding="utf-8")
    print("\n" + "\n".join(f"{stage:<10}{seconds:6.1f} s" for stage, seconds in times))
    print(f"{'all':<10}{time.perf_counter() - began:6.1f} s\n\nopen {index.relative_to(ROOT)}  ({index.as_uri()})")
    return 0


def _draw(file: str, arguments: Sequence[str]) -> float:
    out = OUT / file
    return _run("draw", *arguments, "--out", str(out.parent if arguments[0] == "themes" else out))


def _run(*arguments: str) -> float:
    """Show a command, run it in the checkout, and return its seconds; a failing one ends the demo."""
    command = [*arguments, "--kb", str(KB)]
    print(f"\n$ liantu {shlex.join(command)}", flush=True)
    began = time.perf_counter()
    code = subprocess.run([LIANTU, *command], cwd=ROOT, check=False).returncode  # noqa: S603 -- the stages above, nobody's input
    if code:
        sys.exit(code)
    seconds = time.perf_counter() - began
    print(f"  ({seconds:.1f} s)", flush=True)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
