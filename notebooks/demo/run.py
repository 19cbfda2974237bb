"""The demo: the real commands on the bundled reports, each with its time; pages in build/demo/pages/."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

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
    ("chain", "光伏"),
    ("chain", "锂电池"),
    ("impact", "碳酸锂价格", "--direction", "down"),
    ("impact", "生猪价格"),
    ("relate", "通威股份", "隆基绿能"),
    ("profile", "宁德时代"),
)


def main() -> int:
    """Run every stage, say what to open; the first failure ends the run with its exit code."""
    began = time.perf_counter()
    shutil.rmtree(ROOT / OUT, ignore_errors=True)
    (ROOT / OUT).mkdir(parents=True)
    times = [("ingest", _run("ingest", str(HERE.relative_to(ROOT) / "reports"))), ("weekly", _run("weekly"))]
    times.append(("3 × ask", sum(_run("ask", question) for question in QUESTIONS)))
    folder = OUT / "pages"
    drawn = [_run("draw", *page, "--out", str(folder / f"{'-'.join(page[:2])}.html")) for page in PAGES]
    times.append((f"{len(PAGES)} × draw", sum(drawn)))
    times.append(("exhibit", _run("exhibit", "--out", str(folder))))
    index = ROOT / folder / "index.html"
    print("\n" + "\n".join(f"{stage:<10}{seconds:6.1f} s" for stage, seconds in times))
    print(f"{'all':<10}{time.perf_counter() - began:6.1f} s\n\nopen {index.relative_to(ROOT)}  ({index.as_uri()})")
    return 0


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
