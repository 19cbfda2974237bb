"""How a question about filings says what is done with a value: the patterns and vocabularies of questions.yaml."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from kg.text.lexicon import read_table

_VOCABULARIES = ("plain", "kinds")


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns by name."""
    table = read_table(resources.files(__package__).joinpath("questions.yaml"))
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table.items() if name not in _VOCABULARIES}


@cache
def vocabulary(name: str) -> frozenset[str]:
    """Return the words of a vocabulary: plain, kinds."""
    return frozenset(read_table(resources.files(__package__).joinpath("questions.yaml"))[name].split())
