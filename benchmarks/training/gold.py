"""Read annotated notes as training examples: each edge becomes two spans of the unit that states it.

The format is one JSON line per note, {"id", "day", "edges": [{"s", "r", "o", "dirs", "mod", "pol", "quote", …}]}; the
text is in a file named by the id. An annotated name may differ from the text: it is matched exactly, else by the most
similar substring, else as a core and a separate scope (「生猪 … 价格」).
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from datetime import date
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from extraction.documents.open_file import read_file
from extraction.models.units import lines_of, units_of
from extraction.text.sentences import normalise
from kg.errors import DocumentError, KgError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from extraction.models.units import TextLine, Unit

_BOUNDARIES = frozenset("。；！？▸，、：")
_SHORTEST_QUOTE, _SHORTEST_CORE = 4, 2  # characters
_SIMILAR, _WEAKLY_SIMILAR = 0.75, 0.6
_LATEST = date(2100, 1, 1)
Span = tuple[int, int]


class GoldEdge(Struct, frozen=True):
    """An annotated edge as spans of its unit; a scope is a separate first part of the name, or None."""

    subject: Span
    object: Span
    relation: str
    directions: str
    modality: str
    negative: bool
    subject_kind: str
    object_kind: str
    subject_scope: Span | None = None
    object_scope: Span | None = None


class Example(Struct):
    """A unit with its annotated edges; `repeated` are edges of other units that its text may state again."""

    note: str
    day: str
    unit: Unit
    edges: list[GoldEdge]
    repeated: list[GoldEdge]


def read_notes(gold: Path, folders: Sequence[Path]) -> Iterator[tuple[list[Example], list[dict[str, Any]]]]:
    """Yield the examples and the annotated edges of each note.

    Raises:
        KgError: a note's text is in none of the folders.
    """
    for row in map(json.loads, gold.read_text(encoding="utf-8").splitlines()):
        file = next((folder / f"{row['id']}.md" for folder in folders if (folder / f"{row['id']}.md").exists()), None)
        if file is None:
            raise KgError(f"{gold}: no text for note {row['id']} in {', '.join(map(str, folders))}")
        document = next(iter(read_file(file, today=_LATEST, published_on=date.fromisoformat(row["day"]))))
        if isinstance(document, DocumentError):
            raise document
        lines = lines_of(document)
        examples = [Example(row["id"], row["day"], unit, [], []) for unit in units_of(document.title, lines)]
        _place(examples, lines, row["edges"])
        yield examples, row["edges"]


def _place(examples: list[Example], lines: Sequence[TextLine], edges: Sequence[dict[str, Any]]) -> None:
    """Assign each edge to the unit of its quote that matches both names best, and record repetitions in others."""
    texts = [line.sentence.text for line in lines]
    starts = [0, *accumulate(map(len, texts))]
    whole = "".join(texts)
    for edge in edges:
        quoted = set(_quoted(normalise(edge["quote"]), whole, starts))
        best: tuple[float, int, GoldEdge] | None = None
        for number, example in enumerate(examples):
            own = {piece.line for piece in example.unit.pieces if piece.at >= example.unit.body}
            if not own & quoted:
                continue
            placed = _aligned(edge, example.unit)
            if placed and (best is None or placed[0] > best[0]):
                best = placed[0], number, placed[1]
        if best:
            examples[best[1]].edges.append(best[2])
        subject, object_ = normalise(edge["s"]), normalise(edge["o"])
        for number, example in enumerate(examples):
            if best and number == best[1]:
                continue
            if subject in example.unit.text and object_ in example.unit.text and subject != object_:
                again = _aligned(edge, example.unit)
                if again:
                    example.repeated.append(again[1])


def _quoted(quote: str, whole: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the lines that a quote covers; if it is not verbatim, those of its longest sentence, start or end."""
    parts = [quote, *sorted(re.split("[。；！？…]+", quote), key=len, reverse=True)[:1], quote[:16], quote[-16:]]
    for part in parts:
        at = whole.find(part) if len(part) >= _SHORTEST_QUOTE else -1
        if at >= 0:
            first, last = bisect_right(starts, at) - 1, bisect_right(starts, at + len(part) - 1) - 1
            yield from range(first, last + 1)
            return


def _aligned(edge: dict[str, Any], unit: Unit) -> tuple[float, GoldEdge] | None:
    found = [find_name(normalise(edge[end]), unit.text, unit.body) for end in "so"]
    if not found[0] or not found[1] or found[0][1] == found[1][1]:
        return None
    (left, subject, subject_scope), (right, object_, object_scope) = found[0], found[1]
    return min(left, right) + 0.1 * max(left, right), GoldEdge(
        subject,
        object_,
        edge["r"],
        edge.get("dirs") or "",
        edge["mod"],
        edge["pol"] == "negative",
        edge.get("sk", ""),
        edge.get("ok", ""),
        subject_scope,
        object_scope,
    )


def find_name(name: str, text: str, body: int) -> tuple[float, Span, Span | None] | None:
    """Find a name in a text: (score, its span, the span of a separate scope or None)."""
    places = _occurrences(name, text)
    if places:
        return 3.0, _nearest(places, body), None
    similar = _most_similar(name, text, body)
    if similar and similar[0] >= _SIMILAR:
        return 1.0 + similar[0], similar[1], None
    for cut in range(2, len(name) - 1):
        core, scope = name[cut:].lstrip("的 "), name[:cut].strip()
        cores, scopes = _occurrences(core, text), _occurrences(scope, text)
        if len(core) >= _SHORTEST_CORE and cores and scopes and any(place[0] >= body for place in cores + scopes):
            return 2.5, _nearest(cores, body), _nearest(scopes, body)
    if similar and (
        similar[0] >= _WEAKLY_SIMILAR or (name in text[slice(*similar[1])] or text[slice(*similar[1])] in name)
    ):
        return similar[0], similar[1], None
    return None


def _occurrences(name: str, text: str) -> list[Span]:
    return [(match.start(), match.end()) for match in re.finditer(re.escape(name), text)] if name else []


def _nearest(places: Sequence[Span], body: int) -> Span:
    """Return the first place in the unit's own text, else the last one in its context."""
    inside = [place for place in places if place[0] >= body]
    return inside[0] if inside else places[-1]


def _most_similar(name: str, text: str, body: int) -> tuple[float, Span] | None:
    """Find the substring whose character pairs overlap most with a name's (Dice 1945)."""
    flat = name.replace(" ", "")
    pairs, letters = _pairs(flat), set(flat)
    best: tuple[float, Span] | None = None
    for start in range(len(text) - 1):
        if text[start] not in letters or text[start] in _BOUNDARIES:
            continue
        for end in range(start + 2, min(len(text), start + int(1.6 * len(flat)) + 3) + 1):
            if text[end - 1] in _BOUNDARIES:
                break
            if text[end - 1] not in letters or end - start < len(flat) * 0.5:
                continue
            other = _pairs(text[start:end].replace(" ", ""))
            value = 2 * sum((pairs & other).values()) / max(1, sum(pairs.values()) + sum(other.values()))
            value += 0.02 * (start >= body)
            if best is None or value > best[0]:
                best = value, (start, end)
    return best


def _pairs(text: str) -> Counter[str]:
    return Counter(text[at : at + 2] for at in range(len(text) - 1))


def fold(name: str) -> str:
    """Normalise a name: ignore width, case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).lower())
