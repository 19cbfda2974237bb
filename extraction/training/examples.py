"""Labelled pairs that the local model learns from: JSON lines, checked one by one, and their hash.

    {"text": "甲公司去年收购乙公司。", "subject": "甲公司", "object": "乙公司", "relation": "acquires"}
    {"text": "甲与乙签约。", "subject": "甲", "object": "乙", "relation": "partners_with", "form": "agreement"}
    {"text": "甲公司和乙公司上涨。", "subject": "甲公司", "object": "乙公司", "relation": null}

`relation` is a word of the vocabulary, `same_as` for two names of one firm, or null; `subject_kind` and `object_kind`
(company where not given) are kinds of the vocabulary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from extraction.training.labelled import labelled_lines
from kg.errors import DocumentError
from kg.model import Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SAME = "same_as"


@dataclass(frozen=True, slots=True)
class Example:
    """Two names in a text and what relates them, `relation` being empty where nothing does."""

    text: str
    subject: str
    object: str
    relation: str = ""
    form: str = ""
    subject_kind: Kind = Kind.COMPANY
    object_kind: Kind = Kind.COMPANY


def read_examples(path: Path) -> list[Example]:
    """Read labelled pairs from a file of JSON lines.

    Raises:
        DocumentError: with the line, what is wrong with it, and what to do.
    """
    return [_example(row, where) for where, row in labelled_lines(path)]


def _example(row: Any, where: str) -> Example:
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("text", "subject", "object")):
        raise DocumentError(where, "no text, subject or object", "give all three as strings")
    relation = row.get("relation") or ""
    if relation and relation != SAME and relation not in vocabulary().relations:
        raise DocumentError(where, f"no relation {relation}", "use a word of kg/relations.yaml, same_as or null")
    if not (row["subject"] and row["object"] and row["subject"] in row["text"] and row["object"] in row["text"]):
        raise DocumentError(where, "a name does not stand in the text", "spell subject and object as the text does")
    try:
        kinds = Kind(row.get("subject_kind", "company")), Kind(row.get("object_kind", "company"))
    except ValueError as error:
        raise DocumentError(where, str(error), "use a kind of kg/relations.yaml") from error
    return Example(row["text"], row["subject"], row["object"], relation, str(row.get("form", "")), *kinds)


def written(examples: Iterable[Example]) -> str:
    """Return examples as JSON lines, one spelling for one list."""
    return "".join(
        json.dumps(
            {
                "text": each.text,
                "subject": each.subject,
                "object": each.object,
                "relation": each.relation or None,
                "form": each.form,
                "subject_kind": each.subject_kind.value,
                "object_kind": each.object_kind.value,
            },
            ensure_ascii=False,
        )
        + "\n"
        for each in examples
    )


def hash_of(examples: Sequence[Example]) -> str:
    """Return the SHA-256 of the examples as written, whatever file they came from."""
    return sha256(written(examples).encode()).hexdigest()
