"""Read the tables of extraction/lexicon; all words of the extractor come through here."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from kg.text.lexicon import compiled, filled_in, read_table

if TYPE_CHECKING:
    import re


def table(name: str) -> dict[str, Any]:
    """Read a table and fill in its fragments."""
    return read_table(resources.files(__package__).joinpath(f"../lexicon/{name}.yaml"))


def phrases(module: str) -> dict[str, re.Pattern[str]]:
    """Return the phrases of a module as compiled patterns: `measures/filters` is a section of phrases/measures.yaml."""
    package, _, section = module.partition("/")
    return compiled(filled_in(_sections(package)[section])["phrases"])


@cache
def _sections(package: str) -> dict[str, dict[str, Any]]:
    return table(f"phrases/{package}")
