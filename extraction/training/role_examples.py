"""Labelled triples that a reader of roles learns from: JSON lines, checked one by one, and their hash.

    {"text": "天山矿业主营铜精矿。", "triples": [["天山矿业", "operates", "铜精矿"]]}

A triple is two names as the text spells them and a word of the vocabulary between them. A text without triples says
that it holds none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from extraction.training.labelled import labelled_lines
from kg.errors import DocumentError
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_ENDS = 3


@dataclass(frozen=True, slots=True, order=True)
class Triple:
    """Two names of a text, as it spells them, and their relation."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What is known of text[start:end] before reading: a name and its kind, or a name that a wording lists.

    A listed name has its relation for a label, the wording in `read` and the place of whom it is told in `owner`.
    """

    start: int
    end: int
    label: str
    read: str = ""
    owner: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class RoleExample:
    """A text, its triples, and what is known of it beforehand."""

    text: str
    triples: frozenset[Triple]
    marks: tuple[Mark, ...] = ()


def read_role_examples(path: Path) -> list[RoleExample]:
    """Read a file of labelled lines.

    Raises:
        DocumentError: with the line, what is wrong with it, and what to do.
    """
    return [_example(row, where) for where, row in labelled_lines(path)]


def _example(row: Any, where: str) -> RoleExample:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not isinstance(row.get("triples"), list):
        raise DocumentError(
            where, "no text or no triples", 'write {"text": …, "triples": [[subject, relation, object]]}'
        )
    return RoleExample(row["text"], frozenset(_triple(each, row["text"], where) for each in row["triples"]))


def _triple(row: Any, text: str, where: str) -> Triple:
    if not isinstance(row, list) or len(row) != _ENDS or not all(isinstance(word, str) and word for word in row):
        raise DocumentError(where, f"no triple: {row}", "write [subject, relation, object]")
    triple = Triple(*row)
    if triple.relation not in vocabulary().relations:
        raise DocumentError(where, f"no relation {triple.relation}", "use a word of kg/relations.yaml")
    if triple.subject not in text or triple.object not in text:
        raise DocumentError(where, "a name does not stand in the text", "spell subject and object as the text does")
    return triple


def in_order(examples: Iterable[RoleExample]) -> list[RoleExample]:
    """Return examples in the one order that a model is fitted in."""
    return sorted(examples, key=lambda example: (example.text, sorted(example.triples)))


def hash_of(examples: Iterable[RoleExample]) -> str:
    """Return the SHA-256 of labelled texts, whatever order they and their triples have."""
    digest = sha256()
    for example in in_order(examples):
        triples = sorted((each.subject, each.relation, each.object) for each in example.triples)
        digest.update(json.dumps([example.text, triples], ensure_ascii=False).encode())
    return digest.hexdigest()
