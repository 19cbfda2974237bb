"""Liantu 链图: a time-stamped knowledge graph of financial research. The one import for programs and notebooks.

    from liantu import open_kb

    with open_kb("kb.liantu") as kb:
        answer = kb.ask("光伏产业链上下游有哪些公司？")

Names are imported on first use, so that asking does not load the extractor.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path as _File
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from communities.weekly import JobOptions, Week, run_week
    from extraction.documents.open_file import read_file
    from extraction.ingest import Job, Outcome, ingest
    from extraction.pipeline import Extractor
    from kg.errors import KgError, QuestionError, UnknownName
    from kg.model import Entity, Fact, Kind, Value
    from kg.period import Period
    from kg.query.answers import (
        AnswerLine,
        AskAnswer,
        ChainAnswer,
        Citation,
        ImpactAnswer,
        Link,
        Node,
        Passage,
        Path,
        ProfileAnswer,
        RelateAnswer,
        ThemeAnswer,
    )
    from kg.query.browse.diff import DiffAnswer
    from kg.query.browse.facts import FactsAnswer
    from kg.query.browse.neighbours import NeighboursAnswer
    from kg.query.grounding.context import ContextAnswer
    from kg.query.grounding.prose import ProseAnswer
    from kg.query.history import HistoryAnswer
    from kg.query.resolve import ResolveAnswer
    from kg.service.base import KnowledgeBase, open_kb

_HOMES = {
    "communities.weekly": ("JobOptions", "Week", "run_week"),
    "extraction.documents.open_file": ("read_file",),
    "extraction.ingest": ("Job", "Outcome", "ingest"),
    "extraction.pipeline": ("Extractor",),
    "kg.errors": ("KgError", "QuestionError", "UnknownName"),
    "kg.model": ("Entity", "Fact", "Kind", "Value"),
    "kg.period": ("Period",),
    "kg.query.answers": (
        *("AnswerLine", "AskAnswer", "ChainAnswer", "Citation", "ImpactAnswer", "Link", "Node", "Passage", "Path"),
        *("ProfileAnswer", "RelateAnswer", "ThemeAnswer"),
    ),
    "kg.query.browse.diff": ("DiffAnswer",),
    "kg.query.browse.facts": ("FactsAnswer",),
    "kg.query.browse.neighbours": ("NeighboursAnswer",),
    "kg.query.grounding.context": ("ContextAnswer",),
    "kg.query.grounding.prose": ("ProseAnswer",),
    "kg.query.history": ("HistoryAnswer",),
    "kg.query.resolve": ("ResolveAnswer",),
    "kg.service.base": ("KnowledgeBase", "open_kb"),
}

__all__ = [
    "AnswerLine",
    "AskAnswer",
    "ChainAnswer",
    "Citation",
    "ContextAnswer",
    "DiffAnswer",
    "Entity",
    "Extractor",
    "Fact",
    "FactsAnswer",
    "HistoryAnswer",
    "ImpactAnswer",
    "Job",
    "JobOptions",
    "KgError",
    "Kind",
    "KnowledgeBase",
    "Link",
    "NeighboursAnswer",
    "Node",
    "Outcome",
    "Passage",
    "Path",
    "Period",
    "ProfileAnswer",
    "ProseAnswer",
    "QuestionError",
    "RelateAnswer",
    "ResolveAnswer",
    "ThemeAnswer",
    "UnknownName",
    "Value",
    "Week",
    "ingest",
    "open_kb",
    "read_file",
    "run_week",
]


_PACKAGES = ("kg", "extraction", "communities", "viz")
_PREFIX = f"{__name__}." if __spec__ is not None and __spec__.submodule_search_locations else ""
"""Packages are top-level in a checkout, and below `liantu` where the wheel is installed."""


def shadowed() -> list[str]:
    """Return one line for each package of Liantu that would be imported from another distribution."""
    home, faults = _File(__file__).resolve().parent, []
    for name in _PACKAGES:
        found = find_spec(_PREFIX + name)
        place = found.origin if found else None
        if place is None or _File(place).resolve() != home / name / "__init__.py":
            where = f"comes from {place}" if place else "cannot be found"
            faults.append(f"package {name} {where}, not from {home}; install liantu in an environment of its own")
    return faults


def main() -> None:
    """Run the command line, unless another distribution shadows a package."""
    if faults := shadowed():
        sys.stderr.write(f"liantu: {faults[0]}\n")
        sys.exit(2)
    import_module(f"{_PREFIX}kg.cli").main()


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker must report misspelt names

    def __getattr__(name: str) -> Any:
        for home, names in _HOMES.items():
            if name in names:
                return globals().setdefault(name, getattr(import_module(_PREFIX + home), name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    main()
