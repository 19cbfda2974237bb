"""Code asks a relation for its role, not for its name: the readers in `extraction` alone write names."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from kg.relations import vocabulary
from tests.architecture.source import ROOT, modules

if TYPE_CHECKING:
    from collections.abc import Iterator

FREE_OF_NAMES = ("kg", "communities", "viz")


def test_no_name_of_a_relation_is_behaviour_outside_the_readers():
    """A name may be a key of a message (`word("rates")`) and an example of a parameter, nothing else."""
    names = set(vocabulary().relations)
    found = {
        f"{module.name}:{node.lineno} {node.value}"
        for module in modules(*FREE_OF_NAMES)
        for node in _outside_of_texts(module.tree)
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert found == set()


def test_the_explorer_names_no_relation():
    """Its relations come packed, with their roles; names of texts of the page are keys, not strings of code."""
    written = re.compile("[\"'`](" + "|".join(vocabulary().relations) + ")[\"'`]")
    sources = sorted((ROOT / "viz/explorer/src").glob("*.ts*"))
    found = [(path.name, name) for path in sources for name in written.findall(path.read_text(encoding="utf-8"))]
    assert sources
    assert found == []


def _outside_of_texts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree but those in calls of `word` and in examples."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "word":
        return
    if isinstance(tree, ast.keyword) and tree.arg == "examples":
        return
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _outside_of_texts(child)
