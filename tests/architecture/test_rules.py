"""Rules of STYLE.md that no linter holds as we want them: names, and who may print, read the clock or the settings."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import OUTSIDE, PACKAGES, ROOT, dotted, modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.architecture.source import Module

BLANKET = frozenset({"Exception", "BaseException"})
CLOCKS = frozenset(
    {
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "time.time",
        "time.time_ns",
        "time.localtime",
        "time.gmtime",
    }
)
ENVIRONMENT = frozenset({"os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "environ", "getenv"})
EMPTY_WORDS = frozenset(
    {"utils", "util", "helpers", "helper", "common", "misc", "base", "core", "manager", "factory", "handler", "types"}
)
# A breach has one line here, with its reason.
NAMED = {
    "kg/service/base.py": "holds the knowledge base, in the sense of the domain",
}
STDLIB_NAMES = {
    "extraction/documents/html.py": "one reader a format, called like the format (DESIGN §2)",
    "kg/query/browse/profile.py": "one module a question, called like the question (DESIGN §7)",
}


def test_no_blanket_except():
    """One that tidies up and raises again swallows nothing, and may stand."""
    breaches = [
        module.at(node, "blanket except")
        for module in modules(*PACKAGES, *OUTSIDE)
        for node in module.nodes
        if isinstance(node, ast.ExceptHandler) and (node.type is None or BLANKET & set(_caught(node.type)))
        if not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
    ]
    assert not breaches, "\n".join(breaches)


def test_nothing_is_printed_outside_command_files():
    breaches = [
        module.at(node, "print")
        for module in modules(*PACKAGES)
        if module.path.name != "cli.py"
        for node in module.nodes
        if isinstance(node, ast.Call) and dotted(node.func) == "print"
    ]
    assert not breaches, "\n".join(breaches)


def test_the_environment_is_read_in_one_place():
    assert _uses(ENVIRONMENT, but=("kg/settings.py",)) == []


def test_the_clock_is_read_by_commands_only():
    """No look-ahead can be tested only where the day is an argument."""
    assert _uses(CLOCKS, but=tuple(f"{package}/cli.py" for package in PACKAGES)) == []


def test_modules_are_named_after_something():
    empty = {module.name for module in modules(*PACKAGES, *OUTSIDE) if module.path.stem in EMPTY_WORDS}
    assert empty == NAMED.keys()


def test_no_module_bears_a_name_of_the_standard_library():
    taken = {module.name for module in modules(*PACKAGES) if module.path.stem in sys.stdlib_module_names}
    taken |= {folder.name for folder in map(ROOT.joinpath, PACKAGES) if folder.name in sys.stdlib_module_names}
    assert taken - {"kg/__init__.py"} == STDLIB_NAMES.keys()


def test_imports_are_absolute():
    breaches = [
        module.at(node, "relative import")
        for module in modules(*PACKAGES, *OUTSIDE)
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not breaches, "\n".join(breaches)


def test_nothing_is_imported_from_a_package_itself():
    """`from kg.store import open_store` would hide where a thing lives; importing a module of a package is fine."""
    breaches = [
        module.at(node, f"{alias.name} from package {node.module}")
        for module, node in _own_imports(*PACKAGES, *OUTSIDE)
        for folder in [ROOT.joinpath(*(node.module or "").split("."))]
        if folder.is_dir()
        for alias in node.names
        if not (folder / f"{alias.name}.py").exists() and not (folder / alias.name).is_dir()
    ]
    assert not breaches, "\n".join(breaches)


def test_packages_define_nothing_themselves():
    filled = [
        module.name
        for module in modules(*PACKAGES, *OUTSIDE)
        if module.path.name == "__init__.py"
        and any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in module.tree.body)
    ]
    assert filled == []


def test_no_module_uses_what_another_keeps_to_itself():
    breaches = [
        module.at(node, f"{alias.name} of {node.module}")
        for module, node in _own_imports(*PACKAGES)
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert not breaches, "\n".join(breaches)


def test_what_a_module_says_it_exports_is_there():
    breaches = [
        f"{module.name}: {name}"
        for module in modules(*PACKAGES)
        for name in _declared(module)
        if name not in _bound(module)
    ]
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize("source", ["import os\nos.environ['A']", "from os import getenv\ngetenv('A')"])
def test_the_search_for_uses_finds_both_spellings(source: str):
    assert any(_names_used(ast.walk(ast.parse(source)), ENVIRONMENT))


def _uses(names: frozenset[str], *, but: tuple[str, ...]) -> list[str]:
    return [
        module.at(node, name)
        for module in modules(*PACKAGES)
        if module.name not in but
        for node, name in _names_used(module.nodes, names)
    ]


def _names_used(nodes: Iterable[ast.AST], names: frozenset[str]) -> Iterator[tuple[ast.AST, str]]:
    """Find `datetime.now` however the module was imported: `dt.datetime.now` ends in the same two words."""
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Name)):
            words = dotted(node).split(".")
            for name in (".".join(words[-2:]), ".".join(words) if len(words) == 1 else ""):
                if name in names:
                    yield node, name


def _caught(node: ast.expr) -> list[str]:
    return [dotted(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])]


def _own_imports(*folders: str) -> Iterator[tuple[Module, ast.ImportFrom]]:
    for module in modules(*folders):
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (*PACKAGES, "benchmarks"):
                yield module, node


def _declared(module: Module) -> list[str]:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and [dotted(target) for target in node.targets] == ["__all__"]:
            return list(ast.literal_eval(node.value))
    return []


def _bound(module: Module) -> set[str]:
    names = set()
    for node in module.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
