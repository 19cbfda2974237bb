"""Read edges from a model's reply, leniently: each item is read alone, and a bad one is a problem, never a lost pack.

Accepts lines, JSON of strings, arrays or objects, fences, bullets, prose around them, reasoning blocks and a cut end.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_ITEMS = 400  # of one reply
_MAX_REPLY = 1 << 18  # characters
_MAX_FIELD = 200  # characters
_FIELDS = 4  # line, subject, relation, object
_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[|｜\t]\s*")
_ORNAMENT = re.compile(r"^(?:[-*•+>]\s+|\d{1,3}[.)、]\s+(?=\S+[|｜]))|^[|｜]\s*|^```\w*|\s*[|｜]?\s*```$")
_NUMBER = re.compile(r"[\[【(（]?\s*(?:第|行|[Ll](?:ine)?)?\s*(\d{1,6})\s*行?\s*[\]】)）#\-]*")
_DIRECTIONS = re.compile(r"([udn])\s*[-/→>,]?\s*([udn])", re.IGNORECASE)
_CERTAINTY = re.compile(r"[fpcra]?\s*[-!]?", re.IGNORECASE)
_AMOUNT = re.compile(r"\d+(?:\.\d+)?\s*(?:%|％|[万亿]?[元股吨])?")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ROW = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")
_WORDS = {"up": "u", "down": "d", "none": "n", "升": "u", "降": "d", "无": "n", "上升": "u", "下降": "d"}
_KEYS = {
    "line": ("line", "l", "行号", "行", "n", "position", "ref", "quote", "引文", "原文"),
    "subject": ("subject", "s", "主体", "主语", "source", "head", "from", "cause"),
    "relation": ("relation", "r", "关系", "predicate", "type", "rel"),
    "object": ("object", "o", "客体", "宾语", "target", "tail", "to", "effect"),
    "directions": ("directions", "dirs", "d", "方向", "direction"),
    "certainty": ("certainty", "mod", "m", "确定性", "modality"),
    "amount": ("amount", "value", "比例", "数值"),
}


class EdgeItem(Struct, frozen=True):
    """One edge as a model wrote it.

    `line` is the number it cites, or None with the `quote` it typed; `directions` are two of u, d and n, or "";
    `certainty` is one of f, p, c, r or "" for asserted.
    """

    line: int | None
    quote: str
    subject: str
    relation: str
    object: str
    directions: str = ""
    certainty: str = ""
    negative: bool = False
    amount: str = ""


class BadItem(Struct, frozen=True):
    """An item that cannot be read, and why."""

    reason: str
    text: str


def read_reply(text: str) -> list[EdgeItem | BadItem]:
    """Return the items of a reply in order, the unreadable ones with their reason."""
    text = _REASONING.sub("", text[:_MAX_REPLY]).strip()
    rows = list(_rows(text))
    found: list[EdgeItem | BadItem] = []
    for fields in rows[:_MAX_ITEMS]:
        item = _item([field[:_MAX_FIELD] for field in fields])
        if item is not None:
            found.append(item)
    if len(rows) > _MAX_ITEMS:
        found.append(BadItem("too-many", f"{len(rows)} items"))
    return found


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the fields of each candidate item."""
    at = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if at >= 0 and not _SEPARATOR.search(text[:at]) and ('"' in text[at : at + 40]):
        yield from _json_rows(text[at:])
        return
    for raw in text.splitlines():
        line = _ORNAMENT.sub("", raw.strip()).strip()
        fields = _SEPARATOR.split(line)
        if len(fields) > 1:
            yield fields


def _json_rows(text: str) -> Iterator[list[str]]:
    """Yield items from JSON; of damaged JSON, what is whole in it."""
    try:
        data, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        yield from _damaged_rows(text)
        return
    yield from _walk(data, 0)


def _damaged_rows(text: str) -> Iterator[list[str]]:
    found = False
    for row in _ROW.findall(text):
        try:
            data = json.loads(row)
        except (ValueError, RecursionError):
            continue
        for fields in _walk(data, 0):
            found = True
            yield fields
    if not found:
        for match in _STRING.finditer(text):
            try:
                yield from _walk(json.loads(match[0]), 0)
            except ValueError:
                continue


def _walk(data: Any, depth: int) -> Iterator[list[str]]:
    """Yield the items of decoded JSON: strings with separators, arrays of scalars, objects with known keys."""
    if depth > 4:  # noqa: PLR2004 -- deeper than any schema asked for
        return
    if isinstance(data, str):
        fields = _SEPARATOR.split(data.strip())
        if len(fields) > 1:
            yield fields
    elif isinstance(data, dict):
        low = {str(key).lower(): value for key, value in data.items()}
        fields = [_scalar(next((low[key] for key in keys if key in low), "")) for keys in _KEYS.values()]
        if sum(map(bool, fields[1:4])) > 1:
            yield fields
            return
        for value in data.values():
            yield from _walk(value, depth + 1)
    elif isinstance(data, list):
        scalars = [_scalar(value) for value in data if not isinstance(value, (list, dict))]
        if len(scalars) == len(data) >= _FIELDS and not any(_SEPARATOR.search(field) for field in scalars):
            yield scalars
            return
        for value in data:
            yield from _walk(value, depth + 1)


def _scalar(value: Any) -> str:
    return "" if value is None or isinstance(value, (list, dict)) else str(value).strip()


def _item(fields: Sequence[str]) -> EdgeItem | BadItem | None:
    """Return the item of some fields; None for a heading or a separator row of a table."""
    text = "|".join(fields)
    if not re.search(r"\w", text) or fields[0] in _KEYS["line"] or fields[0].lower() == "line":
        return None
    at = next((place for place in (2, 1, 3) if place < len(fields) and _relation(fields[place])), None)
    if at is None or len(fields) < _FIELDS:
        return BadItem("format" if at is not None or len(fields) < _FIELDS else "relation", text[:_MAX_FIELD])
    ends = [field.strip(" `\"'“”「」") for place, field in enumerate(fields[1:4], start=1) if place != at]
    if len(ends) != 2 or not all(ends):  # noqa: PLR2004 -- subject and object
        return BadItem("format", text[:_MAX_FIELD])
    cited = _NUMBER.fullmatch(fields[0])
    rest = [*fields[4:7], "", "", ""]
    relation = _relation(fields[at])
    directions, certainty, amount = _attributes(rest)
    return EdgeItem(
        line=int(cited[1]) if cited else None,
        quote="" if cited else fields[0],
        subject=ends[0],
        relation=relation,
        object=ends[1],
        directions=directions,
        certainty=certainty.strip("-! ").replace("a", ""),
        negative=certainty.endswith(("-", "!")),
        amount=amount,
    )


def _attributes(fields: Sequence[str]) -> tuple[str, str, str]:
    """Return directions, certainty and amount, which a model may leave out or write in another order."""
    directions = certainty = amount = ""
    for field in fields:
        plain = field.strip().lower()
        words = [_WORDS.get(word, "") for word in re.split(r"[-/→, ]+", plain)]
        if not directions and (match := _DIRECTIONS.fullmatch(plain)):
            directions = (match[1] + match[2]).lower()
        elif not directions and len(words) == 2 and all(words):  # noqa: PLR2004 -- cause and effect
            directions = "".join(words)
        elif not certainty and plain and _CERTAINTY.fullmatch(plain):
            certainty = plain
        elif not amount and _AMOUNT.fullmatch(plain):
            amount = plain
        elif plain in _MODALITIES:
            certainty = _MODALITIES[plain]
    return directions, certainty, amount


_MODALITIES = {
    "asserted": "", "forecast": "f", "planned": "p", "conditional": "c", "rumoured": "r", "rumored": "r",
    "已述": "", "预测": "f", "预计": "f", "计划": "p", "有条件": "c", "条件": "c", "传闻": "r",
    "negative": "-", "否定": "-",
}  # fmt: skip


@cache
def _relation_names() -> dict[str, str]:
    """Map what a model may write to the relation: its name, and its Chinese and English wording."""
    names: dict[str, str] = {}
    for name, relation in vocabulary().relations.items():
        if relation.ask:
            for word in (name, name.replace("_", ""), relation.wording["zh"], relation.wording["en"]):
                names.setdefault(word.lower(), name)
    return names


def _relation(word: str) -> str:
    plain = word.strip(" `*\"'").lower()
    return _relation_names().get(plain) or _relation_names().get(plain.replace(" ", "_").replace("-", "_"), "")
