"""The questions that Liantu answers: one table, from which every door is made."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg.query.questions.parameters import DatedQuestion

_MODULES = {
    "chain": ("chain",),
    "effects": ("impact", "causes", "history"),
    "entities": ("relate", "profile", "neighbours", "resolve", "entities"),
    "facts": ("facts", "diff", "stats"),
    "themes": ("themes", "theme", "theme_changes"),
    "documents": ("passages", "document", "filing_pages", "filing_value", "filing_outline"),
    "asking": ("ask", "context", "prose"),
}
"""The module of each question; its class is the one with this key."""

KEYS = tuple(key for keys in _MODULES.values() for key in keys)


@cache
def questions() -> Mapping[str, type[DatedQuestion]]:
    """Return all questions by key."""
    return {key: question(key) for key in KEYS}


@cache
def question(key: str) -> type[DatedQuestion]:
    """Return the question with a key, importing no other."""
    name = next(module for module, keys in _MODULES.items() if key in keys)
    classes = vars(import_module(f"{__name__.rpartition('.')[0]}.{name}")).values()
    found: type[DatedQuestion] = next(
        each for each in classes if isinstance(each, type) and vars(each).get("key") == key
    )
    return found
