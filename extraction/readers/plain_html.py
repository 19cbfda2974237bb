"""HTML to bare text, for the scraps of it that stand in other formats."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

HIDDEN = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head"]


def strip_tags(markup: str) -> str:
    """Return the visible text; scripts and styles go with their content."""
    tree = LexborHTMLParser(markup)
    tree.strip_tags(HIDDEN)
    return " ".join(tree.text(separator=" ").split())
