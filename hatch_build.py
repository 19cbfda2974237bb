"""Build hook of the wheel: places all packages below `liantu/`, so that no other distribution can overwrite them.

The source layout has top-level packages (`kg`, `extraction`, `communities`, `viz`), whose names other distributions use
too. In the wheel they are `liantu.kg` and so on, `liantu.py` is `liantu/__init__.py`, and references are rewritten. An
editable install keeps the source layout. tests/architecture/test_wheel.py runs the result.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("kg", "extraction", "communities", "viz")
_OWN = "|".join(PACKAGES)
_IMPORT = re.compile(rf"^(\s*(?:from|import) )(?=(?:{_OWN})[. ])", re.MULTILINE)
_BARE = re.compile(rf"^\s*import (?:{_OWN})(?![\w.]* as )", re.MULTILINE)  # binds `kg`, so its uses would break
_QUOTED = re.compile(rf'(?<=")(?=((?:{_OWN})(?:\.\w+)+)")')
_RESOURCES = re.compile(rf'(?<=\b)((?:files|PackageLoader)\(")(?=(?:{_OWN})")')


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
        for package in PACKAGES:
            for source in sorted((root / package).rglob("*")):
                if source.is_file() and "__pycache__" not in source.parts:
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
    if source.suffix != ".py":
        shutil.copyfile(source, target)
        return
    text = source.read_text(encoding="utf-8")
    if found := _BARE.search(text):
        raise ValueError(f"{source}: write `from … import` or `import … as` instead of `{found.group().strip()}`")
    target.write_text(rewritten(text, root), encoding="utf-8")


def rewritten(text: str, root: Path) -> str:
    """Return source text with references to the packages prefixed: imports, resources, and quoted module names."""

    def prefix(found: re.Match[str]) -> str:
        place = root.joinpath(*found.group(1).split("."))
        return "liantu." if place.is_dir() or place.with_suffix(".py").is_file() else ""

    text = _IMPORT.sub(r"\1liantu.", text)
    return _QUOTED.sub(prefix, _RESOURCES.sub(r"\1liantu.", text))
