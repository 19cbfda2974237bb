"""The words of data/phrases.yaml as compiled patterns, by module."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from kg.text.lexicon import compiled, read_table

if TYPE_CHECKING:
    import re


def phrases(module: str) -> dict[str, re.Pattern[str]]:
    """Return the patterns of a module."""
    return compiled(_table()[module])


@cache
def _table() -> dict[str, Any]:
    return read_table(resources.files(__package__).joinpath("data/phrases.yaml"))
