"""Labelled causal text: one JSON object a line, types in Liantu's own words.

    {"text": "铜价上涨推高空调成本", "causes": [{"cause": "price up", "effect": "cost up",
     "cause_arguments": [["product", "铜"]], "effect_arguments": [["product", "空调"]]}]}

A type is a kind of `lexicon/factor_kinds.yaml` with up or down, or a happening of it; a type that Liantu has no kind
for is kept and never found. Roles are product, region and industry.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from extraction.training.labelled import labelled_lines
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Pair = tuple[str, str]  # type of the cause, type of the effect
Argument = tuple[str, str]  # role, text

ROLES = frozenset({"product", "region", "industry"})


@dataclass(frozen=True, slots=True)
class CausalExample:
    """A labelled text: its pairs of types, each with the arguments of the cause and of the effect."""

    text: str
    pairs: Mapping[Pair, tuple[frozenset[Argument], frozenset[Argument]]]


def read_causal_examples(path: Path) -> list[CausalExample]:
    """Read a file of labelled lines.

    Raises:
        DocumentError: a line is no such object; it is named.
    """
    examples = []
    for where, row in labelled_lines(path):
        try:
            examples.append(_example(row))
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentError(where, f"no labelled text ({error})", "see docs/extraction.md, Causal") from error
    return examples


def hash_of(examples: Iterable[CausalExample]) -> str:
    """Return the SHA-256 of labelled texts, whatever order their pairs have."""
    digest = hashlib.sha256()
    for example in examples:
        labels = sorted((pair, sorted(cause), sorted(effect)) for pair, (cause, effect) in example.pairs.items())
        digest.update(repr((example.text, labels)).encode())
    return digest.hexdigest()


def _example(record: Mapping[str, Any]) -> CausalExample:
    if not isinstance(record["text"], str):
        raise TypeError("text is no string")
    pairs: dict[Pair, tuple[frozenset[Argument], frozenset[Argument]]] = {}
    for item in record["causes"]:
        cause, effect = (
            frozenset((_role(role), str(name)) for role, name in item.get(f"{side}_arguments", ()))
            for side in ("cause", "effect")
        )
        pair = (str(item["cause"]), str(item["effect"]))
        known = pairs.get(pair, (frozenset(), frozenset()))
        pairs[pair] = (known[0] | cause, known[1] | effect)
    return CausalExample(record["text"], pairs)


def _role(role: str) -> str:
    if role not in ROLES:
        raise ValueError(f"role {role!r} is none of {', '.join(sorted(ROLES))}")
    return role
