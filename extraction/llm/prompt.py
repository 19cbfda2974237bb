"""Turn a document into packs, the pieces that a language model reads, and each pack into a request.

A pack is a run of numbered lines with the headings and labels that apply to its first one. It depends on the document
and the names of the master alone, never on facts or models, so that the key of its request stays the same.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct

from extraction.facts.chunking import chunk_document
from extraction.facts.passage_class import with_classes
from extraction.models.units import lines_of
from extraction.text.sentences import normalise
from kg.llm.port import Request, tokens
from kg.model import BlockKind, ChunkKind, ValueClass
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from extraction.models.units import TextLine
    from extraction.sentence import EntityMention
    from extraction.text.sentences import Sentence
    from kg.model import Chunk, Document

    NameFinder = Callable[[Document, Sequence[Sentence]], list[list[EntityMention]]]

VERSION = "edges-1"  # of the templates; a change of their text needs a new version
_PACK = 1_300  # estimated tokens of the lines of a pack
_LEAST_REST = 0.4  # of a usual pack; less is not worth a request of its own
_SMALLEST = 240  # a pack is not split below this many
_REPLY_SHARE, _REPLY_LEAST = 2, 400  # tokens of a reply: per token of text, and at least
_WORTHLESS = frozenset({ValueClass.BOILERPLATE, ValueClass.REPEATED})
_MAX_NAMES, _MIN_NAME = 40, 4  # names offered by number; a shorter name is cheaper to write than to number
_LEAD_IN, _LABEL = 80, 24  # characters of a line that introduces those below it
_BLOCK_REACH = 6  # sentences of a paragraph that a later one may refer to
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"edges": {"type": "array", "items": {"type": "string"}}},
        "required": ["edges"],
        "additionalProperties": False,
    }
)


class NumberedLine(Struct, frozen=True):
    """A line as a prompt shows it; `number` is its index in the document, `mark` shows its kind."""

    number: int
    mark: str
    text: str


class Pack(Struct, frozen=True):
    """Lines that one request asks about, the context lines above them, and the names offered by number."""

    title: str
    day: str
    lang: Literal["zh", "en"]
    context: tuple[NumberedLine, ...]
    lines: tuple[NumberedLine, ...]
    names: tuple[str, ...]

    @property
    def request(self) -> Request:
        """The request that asks for the edges of this pack."""
        parts = [f"{'标题' if self.lang == 'zh' else 'Title'}: {self.title} ({self.day})"]
        if self.names:
            offered = " ".join(f"@{at}={name}" for at, name in enumerate(self.names, start=1))
            parts.append(f"{'名称' if self.lang == 'zh' else 'Names'}: {offered}")
        parts += [f"{line.number}{line.mark} {line.text}" for line in (*self.context, *self.lines)]
        size = sum(tokens(line.text) for line in self.lines)
        return Request(
            (("system", instructions(self.lang)), ("user", "\n".join(parts))),
            most_tokens=max(_REPLY_LEAST, size * _REPLY_SHARE),
            schema=_SCHEMA,
        )

    def halves(self) -> tuple[Pack, Pack] | None:
        """Split a pack that a model cannot read at once; None if it is small already."""
        sizes = [tokens(line.text) for line in self.lines]
        if sum(sizes) < _SMALLEST or len(sizes) < 2:  # noqa: PLR2004 -- two halves
            return None
        half, at = sum(sizes) / 2, 1
        while at < len(sizes) - 1 and sum(sizes[:at]) < half:
            at += 1
        first = Pack(self.title, self.day, self.lang, self.context, self.lines[:at], self.names)
        heads = tuple(line for line in self.lines[:at] if line.mark.startswith("#"))
        return first, Pack(self.title, self.day, self.lang, (*self.context, *heads[-3:]), self.lines[at:], self.names)


@cache
def instructions(lang: Literal["zh", "en"]) -> str:
    """Return the system prompt; the relations come from relations.yaml."""
    asked = [
        (name, "" if relation.ask[lang] == relation.wording[lang] else relation.ask[lang])
        for name, relation in vocabulary().relations.items()
        if relation.ask
    ]
    return render(VERSION, lang, relations=asked)


def render(name: str, lang: Literal["zh", "en"], **given: object) -> str:
    """Return a versioned template in one language, without trailing blanks."""
    # Plain text, not HTML.
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 -- a prompt is not HTML
    )
    text = environment.get_template(f"{name}.{lang}.j2").render(**given)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def packs_of(document: Document, find_names: NameFinder) -> list[Pack]:
    """Return the packs of a document, without boilerplate, repeated passages and tables of bare numbers.

    Args:
        document: with its blocks.
        find_names: returns the linked names of each sentence, in text order.
    """
    lines = lines_of(document)
    kept = _worth_reading(document, lines)
    if not kept:
        return []
    above = contexts(lines)
    names = find_names(document, [line.sentence for line in lines])
    lang: Literal["zh", "en"] = "en" if document.language == "en" else "zh"
    title, day = normalise(document.title), document.published_on.isoformat()
    return [
        Pack(
            title,
            day,
            lang,
            tuple(_numbered(lines, at) for at in above[run[0]] if at not in run),
            tuple(_numbered(lines, at) for at in run),
            _offered([ref for at in run for ref in names[at]]),
        )
        for run in _runs(kept, lines)
    ]


def contexts(lines: Sequence[TextLine]) -> list[tuple[int, ...]]:
    """Return for each line the lines that it is read under: headings, lead-in, list parents, its paragraph so far."""
    headings: dict[int, int] = {}
    parents: dict[int, int] = {}
    lead: int | None = None
    first = 0
    out: list[tuple[int, ...]] = []
    for at, line in enumerate(lines):
        block = line.block
        first = at if line.first else first
        if line.first and block.kind == BlockKind.HEADING:
            headings = {level: head for level, head in headings.items() if level < block.level}
            parents, lead = {}, None
        elif line.first and block.kind == BlockKind.ITEM:
            parents = {level: parent for level, parent in parents.items() if level < block.level}
        elif line.first:
            parents = {}
        own = range(max(first, at - _BLOCK_REACH), at) if block.kind != BlockKind.TABLE else range(first, at)[:1]
        introduced = [] if lead is None or lead == at else [lead]
        out.append(tuple(sorted({*headings.values(), *introduced, *parents.values(), *own})))
        if line.first and block.kind == BlockKind.HEADING:
            headings[block.level] = at
        elif line.first and block.kind == BlockKind.ITEM:
            parents[block.level] = at
        elif block.kind == BlockKind.PARAGRAPH and (at + 1 == len(lines) or lines[at + 1].first):
            lead = at if line.first and _introduces(line.sentence.text) else None
    return out


def _introduces(text: str) -> bool:
    return len(text) <= _LEAD_IN and (text.endswith("：") or (len(text) <= _LABEL and text[-1] not in "。；！？"))


def _worth_reading(document: Document, lines: Sequence[TextLine]) -> list[int]:
    """Return the lines outside worthless passages; a heading is kept where a line below it is."""
    chunks = with_classes(chunk_document(document), ())
    starts = [chunk.start for chunk in chunks]
    kept: list[int] = []
    heads: list[int] = []
    for at, line in enumerate(lines):
        if line.block.kind == BlockKind.HEADING:
            heads = [head for head in heads if lines[head].block.level < line.block.level] + [at]
            continue
        place = bisect_right(starts, line.sentence.start) - 1
        if place >= 0 and _is_worthless(chunks[place]):
            continue
        kept += [*heads, at]
        heads = []
    return kept


def _is_worthless(chunk: Chunk) -> bool:
    bare = chunk.value_class is ValueClass.BARE_NUMBERS and chunk.kind is ChunkKind.TABLE
    return bare or chunk.value_class in _WORTHLESS


def _runs(kept: Sequence[int], lines: Sequence[TextLine]) -> Iterator[list[int]]:
    """Divide the lines into runs of about equal size, cut before a heading or block if one is near."""
    sizes = [tokens(lines[at].sentence.text) + 3 for at in kept]
    count = -(-sum(sizes) // _PACK)
    target = sum(sizes) / max(count, 1)
    run: list[int] = []
    size, rest = 0, sum(sizes)
    for place, at in enumerate(kept):
        line = lines[at]
        heading = line.block.kind == BlockKind.HEADING
        full = size >= target * (0.8 if heading else 0.95) and (heading or line.first)
        if run and (full or size + sizes[place] > target * 1.25) and rest > target * _LEAST_REST:
            yield run
            run, size = [], 0
        run.append(at)
        size += sizes[place]
        rest -= sizes[place]
    if run:
        yield run


def _numbered(lines: Sequence[TextLine], at: int) -> NumberedLine:
    block = lines[at].block
    marks = {BlockKind.HEADING: "#", BlockKind.ITEM: "-"}
    mark = marks.get(block.kind, "") * max(1, min(block.level, 4)) if lines[at].first else ""
    return NumberedLine(at, mark, lines[at].sentence.text)


def _offered(refs: Sequence[EntityMention]) -> tuple[str, ...]:
    """Return the listed names that are worth a number: those that occur twice or more and are long."""
    counts: dict[str, int] = {}
    for ref in refs:
        if ref.entity.startswith("sec:") and len(ref.name) >= _MIN_NAME:
            counts[ref.name] = counts.get(ref.name, 0) + 1
    return tuple(name for name, count in counts.items() if count > 1)[:_MAX_NAMES]
