"""Colours and shapes of node kinds, colours and dashes of links; colour is never the only cue, for accessibility.

Hues follow Okabe & Ito (2008), "Color Universal Design". In China red means up, so + is vermilion and − is blue, a pair
that is distinguishable with all common forms of colour blindness.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kg.model import Kind, Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind is drawn; `shape` names a path in static/shapes.js."""

    shape: str
    fill: str
    line: str


@dataclass(frozen=True, slots=True)
class Stroke:
    """How a link is drawn: `dash` in pixels on, off (empty is solid)."""

    color: str
    dash: tuple[int, ...] = ()


KINDS: Final[Mapping[Kind, Look]] = MappingProxyType(
    {
        Kind.COMPANY: Look("plate", "#ffffff", "#475569"),
        Kind.PRODUCT: Look("pill", "#dcf3ea", "#00795a"),
        Kind.INDUSTRY: Look("hexagon", "#e8e4f8", "#5140a0"),
        Kind.BUSINESS: Look("tab", "#e2eefb", "#2b6cb0"),
        Kind.THEME: Look("octagon", "#f8e3f0", "#a8327a"),
        Kind.INDICATOR: Look("slant", "#fff0c9", "#a06800"),
        Kind.EVENT: Look("flag", "#fde3d5", "#b8480a"),
        Kind.POLICY: Look("leaf", "#fbe4e4", "#9b2c2c"),
        Kind.REGION: Look("trapeze", "#e9efd2", "#5d6b16"),
        Kind.INSTITUTION: Look("ticket", "#e8eaee", "#374151"),
        Kind.PERSON: Look("oval", "#f4e9dc", "#7d5022"),
    }
)

PLUS, MINUS, NEUTRAL, NEGATED, CONTESTED = "#c9401c", "#1f6bb0", "#8592a3", "#a9b1bc", "#ffd24d"

_DASHES: Final[Mapping[Modality, tuple[int, ...]]] = MappingProxyType(
    {
        Modality.ASSERTED: (),
        Modality.PLANNED: (12, 4),
        Modality.FORECAST: (7, 5),
        Modality.CONDITIONAL: (7, 4, 2, 4),
        Modality.RUMOURED: (2, 5),
    }
)


def sign_color(sign: int) -> str:
    """Return the colour of a sign: + vermilion, − blue, none slate."""
    return {1: PLUS, -1: MINUS}.get(sign, NEUTRAL)


def stroke_of(sign: int, modality: Modality, polarity: Polarity) -> Stroke:
    """Return a link's line style; a negated link is grey whatever its sign."""
    if polarity is Polarity.NEGATIVE:
        return Stroke(NEGATED, _DASHES[modality] or (1, 3))
    return Stroke(sign_color(sign), _DASHES[modality])
