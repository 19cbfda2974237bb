"""Guard rails against slicing (STYLE.md): folders stay small, files hold one idea, names are unique."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from tests.architecture.source import PACKAGES, ROOT, modules

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES_IN_A_FOLDER, FILES_OF_A_PREFIX, LINES_OF_A_SLICE = 12, 3, 60
# A breach has one line here, with its reason.
SMALL = {
    "kg/securities/schemes/": "one identifier scheme a module, like python-stdnum",
}


def test_a_folder_holds_at_most_twelve_files():
    counts = Counter(module.path.parent for module in modules(*PACKAGES) if module.path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): n for folder, n in counts.items() if n > FILES_IN_A_FOLDER} == {}


def test_a_prefix_shared_by_more_than_three_files_is_a_folder():
    prefixes = Counter(
        (module.path.parent.relative_to(ROOT).as_posix(), module.path.stem.split("_")[0])
        for module in modules(*PACKAGES)
        if "_" in module.path.stem.strip("_")
    )
    assert {prefix: n for prefix, n in prefixes.items() if n > FILES_OF_A_PREFIX} == {}


def test_a_module_with_one_importer_is_worth_a_file():
    importers = defaultdict(set)
    for module in modules(*PACKAGES):
        for name in _imported(module.tree):
            importers[name].add(module.name)
    slices = [
        f"{module.name} has {lines} lines and is imported by {next(iter(importers[name]))} alone"
        for module in modules(*PACKAGES)
        for name in [module.name.removesuffix(".py").replace("/", ".")]
        for lines in [len(module.text.splitlines())]
        if len(importers[name]) == 1 and lines < LINES_OF_A_SLICE and not module.name.startswith(tuple(SMALL))
    ]
    assert not slices, "\n".join(slices)


def test_class_names_are_unique():
    public = sorted(
        (node.name, module.name)
        for module in modules(*PACKAGES)
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    taken = {name: [place for _, place in places] for name, group in groupby(public, key=lambda each: each[0])
             for places in [list(group)] if len(places) > 1}  # fmt: skip
    assert taken == {}


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names a file imports: of `from a import b` both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
