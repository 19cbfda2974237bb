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
    read: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    if "fragments" in read:
        fragments: dict[str, str] = {}
        for key, part in read.pop("fragments").items():
            fragments[key] = _filled(part, fragments)
        read = {key: _filled(value, fragments) for key, value in read.items()}
    return read


@cache
def phrases(name: str) -> dict[str, re.Pattern[str]]:
    """Return the entries `phrases` of a table as compiled patterns."""
    return {key: re.compile(pattern) for key, pattern in table(name)["phrases"].items()}


def words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by blanks."""
    return frozenset(text.split())


def _filled(value: Any, fragments: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _FRAGMENT.sub(lambda found: fragments[found[1]], value)
    if isinstance(value, dict):
        return {key: _filled(each, fragments) for key, each in value.items()}
    return [_filled(each, fragments) for each in value] if isinstance(value, list) else value
