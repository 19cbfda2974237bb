"""Build hook of the wheel: places all packages below `liantu/`, so that no other distribution can overwrite them.

The source layout has top-level packages (`kg`, `extraction`, `communities`, `viz`), whose names other distributions use
too. In the wheel they are `liantu.kg` and so on, `liantu.py` is `liantu/__init__.py`, and imports are rewritten, on the
syntax tree. Nothing else names a package: data is found by `__package__`, and a string that names one fails the build.
An editable install keeps the source layout. tests/architecture/test_wheel.py runs the result.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("kg", "extraction", "communities", "viz")
_TYPESCRIPT = "viz/explorer"  # the source of viz/static/explorer, which is what the wheel has
_DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+(?::\w+)?")


class WheelLayout(BuildHookInterface[Any]):
    """Includes a rewritten copy of the packages instead of the sources; builds may run beside each other."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Prepare a standard wheel; an editable one needs nothing."""
        if version == "editable":
            return
        self._staged = TemporaryDirectory(prefix="liantu-wheel-")
        root, tree = Path(self.root), Path(self._staged.name) / "liantu"
        tree.mkdir()
        _copy(root / "liantu.py", tree / "__init__.py", root)
        (tree / "py.typed").touch()
        for package in PACKAGES:
            for source in sorted((root / package).rglob("*")):
                unwanted = "__pycache__" in source.parts or (root / _TYPESCRIPT) in source.parents
                if source.is_file() and not unwanted:
                    _copy(source, tree / source.relative_to(root), root)
        build_data["force_include"][str(tree)] = "liantu"
        for commands in self.metadata.core.entry_points.values():
            for name, place in commands.items():
                commands[name] = f"liantu.{place}" if place.partition(".")[0] in PACKAGES else place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 -- hatchling's
        """Remove the copy."""
        if version != "editable":
            self._staged.cleanup()


def _copy(source: Path, target: Path, root: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix not in {".py", ".pyi"}:
        shutil.copyfile(source, target)
        return
    try:
        prefixed = source.name == "liantu.py"  # it finds the packages below its own name
        text = rewritten(source.read_text(encoding="utf-8"), root, strings=prefixed)
        target.write_text(text, encoding="utf-8")
    except ValueError as error:
        raise ValueError(f"{source}:{error}") from error


def rewritten(text: str, root: Path, *, strings: bool = False) -> str:
    """Return source text whose imports of the packages go through `liantu`; with `strings` these may name packages.

    Raises:
        ValueError: with the line, where a package is named in a way that the wheel would not have: `import kg.model`,
            which binds `kg`, or a string (`files("kg")`, "kg.model"); write `import kg.model as model`, `__package__`.
    """
    lines = text.encode().splitlines(keepends=True)
    places = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_own(node.module or ""):
            spelled = lines[node.lineno - 1][node.col_offset :]
            places.append((node.lineno - 1, node.col_offset + spelled.index((node.module or "").encode())))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _is_own(alias.name) and alias.asname is None:
                    raise ValueError(f"{node.lineno}: write `from … import` or `import {alias.name} as …`")
                places += [(alias.lineno - 1, alias.col_offset)] if _is_own(alias.name) else []
        elif not strings and (named := _named_in_strings(node, root)):
            raise ValueError(f"{getattr(node, 'lineno', 0)}: the string {named!r} names a package of the checkout")
    for line, column in sorted(places, reverse=True):
        lines[line] = lines[line][:column] + b"liantu." + lines[line][column:]
    return b"".join(lines).decode()


def _is_own(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def _named_in_strings(node: ast.AST, root: Path) -> str:
    """Return the package or module of ours that a string names, or nothing."""
    if isinstance(node, ast.Call):
        named = [each.value for each in node.args[:1] if isinstance(each, ast.Constant) and each.value in PACKAGES]
        return str(named[0]) if named else ""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not _DOTTED.fullmatch(node.value):
        return ""
    place = root.joinpath(*node.value.partition(":")[0].split("."))
    return node.value if place.is_dir() or place.with_suffix(".py").is_file() else ""
