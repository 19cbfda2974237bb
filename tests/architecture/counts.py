"""Print size and imports of every package: `python -m tests.architecture.counts [CHECKOUT]`, for docs/architecture.md.

Lines are those of Python files. Imports are between modules and at run time, without those of annotations. Patterns are
the texts given to `re.compile` and its like in Python files, and their branches what `|` separates.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.architecture.source import PACKAGES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE = 60  # lines
_REGEX_CALLS = frozenset({"compile", "fullmatch", "match", "search", "findall", "finditer", "split", "sub"})
_BRANCH = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\|")  # a | that is neither escaped nor in a class


def main(root: Path) -> None:
    """Print one line per package."""
    trees = {_module(path, root): ast.parse(path.read_text(encoding="utf-8")) for path in _files(root)}
    lines = {_module(path, root): len(path.read_text(encoding="utf-8").splitlines()) for path in _files(root)}
    imports = {name: set(_imported(tree, trees)) - {name} for name, tree in trees.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, found in imports.items():
        for each in found:
            importers[each].add(name)
    sys.stdout.write(f"{'':12} modules  lines  imports  one importer  of these < {SLICE} lines  patterns  branches\n")
    for package in (*PACKAGES, ""):
        names = [name for name in trees if name.startswith(package)]
        alone = [name for name in names if len(importers[name]) == 1]
        patterns = [text for name in names for text in _patterns(trees[name])]
        sys.stdout.write(
            f"{package or 'all':12} {sum(lines[name] > 0 for name in names):7} {sum(lines[name] for name in names):6}"
            f" {sum(len(imports[name]) for name in names):8} {len(alone):13}"
            f" {sum(lines[name] < SLICE for name in alone):20} {len(patterns):9}"
            f" {sum(1 + _BRANCH.findall(text).count('|') for text in patterns):9}\n"
        )


def _files(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((root / package).rglob("*.py"))


def _module(path: Path, root: Path) -> str:
    return path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


def _imported(node: ast.AST, known: dict[str, ast.Module]) -> Iterator[str]:
    """Yield the modules of ours that a tree imports at run time."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield from (each for each in [whole if whole in known else node.module] if each in known)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child, known)


def _patterns(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of regular expressions: the first argument of a call of `re`, without what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _REGEX_CALLS:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re" and node.args:
                parts = (part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant))
                yield "".join(part for part in parts if isinstance(part, str))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
