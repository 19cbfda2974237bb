"""Read the tables of extraction/lexicon; all words of the extractor come through here.

A table may have `fragments`, parts of regular expressions by name, and use them in other texts as `{name}`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

import yaml

_FRAGMENT = re.compile(r"\{([a-z_]+)\}")


def table(name: str) -> dict[str, Any]:
    """Read a table and fill in its fragments."""
    text = resources.files("extraction").joinpath(f"lexicon/{name}.yaml").read_text(encoding="utf-8")
    return _filled_in(yaml.load(text, Loader=yaml.CSafeLoader))


def phrases(module: str) -> dict[str, re.Pattern[str]]:
    """Return the phrases of a module as compiled patterns: `measures/filters` is a section of phrases/measures.yaml."""
    package, _, section = module.partition("/")
    return {key: re.compile(pattern) for key, pattern in _filled_in(_sections(package)[section])["phrases"].items()}


@cache
def _sections(package: str) -> dict[str, dict[str, Any]]:
    return table(f"phrases/{package}")


def _filled_in(read: dict[str, Any]) -> dict[str, Any]:
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
