"""JSON lines in, JSON lines out: in order, over processes; a bad line is said with its number and the rest goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from extraction.pool import ordered_map
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Record = dict[str, Any]
    Work = Callable[[Record, str], Record]

_BATCH = 8  # lines that travel together: a news item is too short for a trip of its own


@dataclass(frozen=True, slots=True)
class Line:
    """What became of one line: its answer as JSON, or, where `refused`, why there is none."""

    text: str
    refused: bool = False


def transform(lines: Iterable[bytes], build: Callable[[], Work], *, source: str, workers: int = 0) -> Iterator[Line]:
    """Answer each line; blank ones are passed over.

    Args:
        lines: UTF-8, an object each.
        build: makes the function record, place → answer, once in each process; that may raise DocumentError.
        source: what the lines come from, for messages.
        workers: processes; 0 takes one a processor.
    """
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    return ordered_map(numbered, partial(_answering, build, source), workers=workers, size=_BATCH)


def _answering(build: Callable[[], Work], source: str) -> Callable[[tuple[int, bytes]], Line]:
    return partial(_answer, build(), source)


def _answer(work: Work, source: str, numbered: tuple[int, bytes]) -> Line:
    number, line = numbered
    where = f"{source}:{number}"
    try:
        return Line(json.dumps(work(_record(where, line), where), ensure_ascii=False))
    except DocumentError as fault:  # such an error does not travel between processes; its one line does
        return Line(str(fault), refused=True)


def _record(where: str, line: bytes) -> Record:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise DocumentError(where, f"not a line of JSON in UTF-8 ({fault})"[:200], "mend or remove the line") from fault
    if not isinstance(record, dict):
        raise DocumentError(where, "not an object", 'write {"id": …, "text": …, "date": …}')
    return record
