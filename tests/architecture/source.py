"""The project's own source as syntax trees: what the budgets and rules of this folder are measured on."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kg", "extraction", "communities", "viz")
OUTSIDE = ("benchmarks", "notebooks", "tests")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Its place in the repository, as tests name it."""
        return self.path.relative_to(ROOT).as_posix()

    def at(self, node: ast.AST, what: str) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 1)}: {what}"

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, walked once for all tests."""
        return list(ast.walk(self.tree))

    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def modules(*folders: str) -> tuple[Module, ...]:
    """Return every file of some folders, parsed."""
    return tuple(_module(path) for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")))


@cache
def _module(path: Path) -> Module:
    return Module(path, text := path.read_text(encoding="utf-8"), ast.parse(text))


@cache
def project() -> dict[str, Any]:
    """Read pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@cache
def tracked() -> tuple[Path, ...]:
    """List the files that are committed or about to be."""
    # The checkout may belong to somebody else (CI runs as root): git would refuse without the setting.
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8").stdout
    return tuple(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def dotted(node: ast.expr) -> str:
    """Write `a.b.c` of an expression, or nothing when it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{inner}.{node.attr}" if (inner := dotted(node.value)) else ""
    return ""
