"""Read tables of words from YAML, for all packages.

A table may have `fragments`, parts of regular expressions by name, and use them in other texts as `{name}`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

_FRAGMENT = re.compile(r"\{([a-z_]+)\}")


def read_table(file: Traversable) -> dict[str, Any]:
    """Read a table and fill in its fragments."""
    return filled_in(yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def compiled(phrases: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    """Compile the regular expressions of a table."""
    return {key: re.compile(pattern) for key, pattern in phrases.items()}


def filled_in(read: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a table or section without its fragments, which are filled in."""
    fragments: dict[str, str] = {}
    for key, part in read.get("fragments", {}).items():
        fragments[key] = _filled(part, fragments)
    return {key: _filled(value, fragments) for key, value in read.items() if key != "fragments"}


def _filled(value: Any, fragments: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _FRAGMENT.sub(lambda found: fragments.get(found[1], found[0]), value)
    if isinstance(value, dict):
        return {key: _filled(each, fragments) for key, each in value.items()}
    return [_filled(each, fragments) for each in value] if isinstance(value, list) else value
