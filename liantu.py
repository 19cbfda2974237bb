"""Liantu 链图: a time-stamped knowledge graph of financial research. The one import for programs and notebooks.

    from liantu import open_kb

    with open_kb("kb.liantu") as kb:
        answer = kb.ask("光伏产业链上下游有哪些公司？")

Names are imported on first use, so that asking does not load the extractor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from communities.weekly import JobOptions, Week, run_week
    from extraction.documents.open_file import read_file
    from extraction.ingest import Job, Outcome, ingest
    from extraction.pipeline import Extractor
    from kg.errors import KgError
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
    from kg.service.base import KnowledgeBase, open_kb

_HOMES = {
    "communities.weekly": ("JobOptions", "Week", "run_week"),
    "extraction.documents.open_file": ("read_file",),
    "extraction.ingest": ("Job", "Outcome", "ingest"),
    "extraction.pipeline": ("Extractor",),
    "kg.errors": ("KgError",),
    "kg.query.answers": (
        *("AnswerLine", "AskAnswer", "ChainAnswer", "Citation", "ImpactAnswer", "Link", "Node", "Passage", "Path"),
        *("ProfileAnswer", "RelateAnswer", "ThemeAnswer"),
    ),
    "kg.service.base": ("KnowledgeBase", "open_kb"),
}

__all__ = [
    "AnswerLine",
    "AskAnswer",
    "ChainAnswer",
    "Citation",
    "Extractor",
    "ImpactAnswer",
    "Job",
    "JobOptions",
    "KgError",
    "KnowledgeBase",
    "Link",
    "Node",
    "Outcome",
    "Passage",
    "Path",
    "ProfileAnswer",
    "RelateAnswer",
    "ThemeAnswer",
    "Week",
    "ingest",
    "open_kb",
    "read_file",
    "run_week",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker must report misspelt names

    def __getattr__(name: str) -> Any:
        for home, names in _HOMES.items():
            if name in names:
                return globals().setdefault(name, getattr(import_module(home), name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
