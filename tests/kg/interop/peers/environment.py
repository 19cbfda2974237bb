"""The real packages, each in an environment of its own, and the stub model that they ask."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent


def python_of(peer: str) -> Path:
    """Return the interpreter of a peer's environment, or skip."""
    python = ROOT / "build" / peer / "bin" / "python"
    if not (ROOT / "build" / peer / ".ready").is_file() or not python.exists():
        pytest.skip(f"no {peer} here; `make {peer}` installs it in build/{peer}")
    return python


def documented(peer: str, method: str) -> list[str]:
    """Return what docs/interop.md says that the context of a peer holds."""
    text = (ROOT / "docs" / "interop.md").read_text(encoding="utf-8")
    found = re.findall(rf"^{peer} +{method} +\w+ +(.+)$", text, re.MULTILINE)
    assert found, f"no line for {peer} {method} in docs/interop.md"
    return found


def run(command: list[str], *, folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command of a peer, offline but for the stub, and return what it printed."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
