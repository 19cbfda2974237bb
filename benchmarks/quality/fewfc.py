"""FewFC: events of companies and shareholders (pledge, share transfer, lawsuit …) with their main arguments.

A text's items are its event types and, per type, agent, other party or target, and amount (money, number of shares,
proportion). Several names of one entity in one role (盛跃网络 and its full name) are one argument, and any of them
counts. Amounts are compared as numbers. Triggers, dates, titles and kinds of collateral are not scored.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality.score import Report, Score
from extraction.claims.events.frames import read_frames
from extraction.documents.jsonl import read_record
from extraction.documents.metadata import SourceFile
from extraction.pipeline import Extractor
from extraction.quantities.reader import find_quantities
from extraction.text.sentences import split
from extraction.workers import ordered_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.quality.score import Options
    from extraction.claims.events.frames import EventFrame
    from extraction.sentence import AnnotatedSentence, EntityMention

# Liantu's kind of event → the set's types with its roles for agent, other party and target.
_BUYER = (("投资", "sub", "", "obj"), ("股份股权转让", "obj", "sub", "target"), ("收购", "sub", "", "obj"))
TYPES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "pledge": (("质押", "sub", "obj", ""),),
    "acquisition": _BUYER,
    "stake_rise": _BUYER[:2],
    "funding": _BUYER[:1],
    "stake_cut": (("减持", "sub", "", "obj"), ("股份股权转让", "sub", "obj", "target")),
    "stake_sale": (("股份股权转让", "sub", "obj", "target"),),
    "buyback": (("股份股权转让", "obj", "", "target"),),
    "lawsuit": (("起诉", "sub", "obj", ""),),
    "judgement": (("判决", "sub", "obj", ""),),
    "guarantee": (("担保", "sub", "obj", ""),),
    "bid": (("中标", "sub", "", "obj"),),
    "contract": (("签署合同", "sub", "obj", ""),),
}
_ROLES = {
    "sub": "sub", "sub-org": "sub", "sub-per": "sub", "obj": "obj", "obj-org": "obj", "obj-per": "obj",
    "target-company": "target", "money": "money", "amount": "money", "number": "number", "proportion": "share",
    "share-org": "share", "share-per": "share",
}  # fmt: skip
_DAY = date(2020, 1, 1)


@dataclass(frozen=True, slots=True)
class Item:
    """A gold argument with its acceptable names, or its number."""

    type: str
    role: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class FrameText:
    """An event frame as text spans and absolute numbers."""

    kind: str
    agents: tuple[str, ...]
    parties: tuple[str, ...]
    targets: tuple[str, ...]
    amounts: tuple[tuple[str, float], ...]


def measure(options: Options) -> Report:
    """Score JSONL files with rows {"content", "events": [{"type", "mentions": [{"word", "role"}]}]}."""
    rows = [row for path in options.files for row in _rows(path)][: options.limit or None]
    known = {event["type"] for row in rows for event in row["events"]}
    kinds, whole = Score("event types"), Score("event types + main arguments", at_least=0.60)
    roles = {role: Score(f"· {role}") for role in ("sub", "obj", "target", "money", "number", "share")}
    report = Report([whole, kinds, *roles.values()], texts=len(rows))
    read = ordered_map((row["content"] for row in rows), _reader, _nothing, size=16)
    for number, (row, frames) in enumerate(zip(rows, read, strict=True)):
        gold_types = {event["type"] for event in row["events"]}
        items, found = set(gold_items(row["events"])), set(found_items(frames, known))
        types = {type_ for frame in frames for type_, *_ in _types(frame, known)}
        pairs = match(items, found)
        kinds.add(((number, each) for each in gold_types), ((number, each) for each in types))
        _count(whole, len(items) + len(gold_types), len(found) + len(types), len(pairs) + len(gold_types & types))
        for role, score in roles.items():
            _count(
                score,
                sum(item.role == role for item in items),
                sum(each[1] == role for each in found),
                sum(item.role == role for item in pairs),
            )
        _faults(report, row["content"], items - set(pairs), found - set(pairs.values()))
    return report


def _count(score: Score, gold: int, found: int, right: int) -> None:
    score.gold, score.found, score.right = score.gold + gold, score.found + found, score.right + right


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def gold_items(events: Iterable[dict[str, Any]]) -> Iterator[Item]:
    """Yield the arguments of a text's events, with alternative names grouped."""
    words: dict[tuple[str, str], list[str]] = defaultdict(list)
    for event in events:
        for mention in event["mentions"]:
            role = _ROLES.get(mention["role"])
            if role:
                words[event["type"], role].append(_normalised(role, mention["word"]))
    for (type_, role), given in words.items():
        groups: list[set[str]] = []
        for word in sorted(set(given), key=len, reverse=True):
            home = next(
                (group for group in groups if role in _NAMED and any(_is_short_form(word, long) for long in group)),
                None,
            )
            if home is None:
                groups.append({word})
            else:
                home.add(word)
        for group in groups:
            yield Item(type_, role, frozenset(group))


_NAMED = frozenset({"sub", "obj", "target"})


def _is_short_form(word: str, long: str) -> bool:
    """Whether `word` is a short form of `long`: a subsequence of its characters."""
    rest = iter(long)
    return all(char in rest for char in word)


def _normalised(role: str, word: str) -> str:
    """Normalise a name (no whitespace, half-width brackets) or an amount (its number, four significant digits)."""
    if role in _NAMED:
        return re.sub(r"\s", "", word).replace("（", "(").replace("）", ")")
    unit = {"money": "元", "number": "股", "share": ""}[role]
    text = split(word, 0, len(word))[0].text if word.strip() else ""
    stated = find_quantities(text) or find_quantities(text + unit)
    return f"{stated[0].number:.4g}" if stated else text


def found_items(frames: Iterable[FrameText], known: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (type, role, word) of the frames, in the set's terms."""
    for frame in frames:
        for type_, agent, party, target in _types(frame, known):
            for role, words in ((agent, frame.agents), (party, frame.parties), (target, frame.targets)):
                if role:
                    yield from ((type_, role, _normalised(role, word)) for word in words)
            yield from ((type_, role, f"{number:.4g}") for role, number in frame.amounts if (type_, role) in _MEASURED)


_MEASURED = {
    ("质押", "money"), ("质押", "number"), ("质押", "share"), ("投资", "money"), ("股份股权转让", "money"),
    ("股份股权转让", "number"), ("股份股权转让", "share"), ("减持", "share"), ("收购", "money"), ("收购", "number"),
    ("收购", "share"), ("担保", "money"), ("中标", "money"), ("签署合同", "money"), ("判决", "money"),
}  # fmt: skip


def _types(frame: FrameText, known: set[str]) -> list[tuple[str, str, str, str]]:
    """Return the set's types for an event; a file without 判决 counts judgements as lawsuits."""
    types = TYPES[frame.kind]
    if frame.kind == "judgement" and "判决" not in known:
        types = (("起诉", *types[0][1:]),)
    return [each for each in types if each[0] in known]


def match(items: set[Item], found: set[tuple[str, str, str]]) -> dict[Item, tuple[str, str, str]]:
    """Map each gold argument to the matching found item, if any."""
    out = {}
    for item in items:
        hit = next(
            (each for each in sorted(found) if each[:2] == (item.type, item.role) and each[2] in item.words), None
        )
        if hit is not None:
            out[item] = hit
    return out


def _faults(report: Report, text: str, missed: set[Item], wrong: set[tuple[str, str, str]]) -> None:
    for item in sorted(missed, key=lambda each: (each.type, each.role, sorted(each.words))):
        others = [each for each in wrong if each[:2] == (item.type, item.role)]
        word = "/".join(sorted(item.words))
        bounds = any(part in each[2] or each[2] in part for each in others for part in item.words)
        kind = "wrong boundary" if bounds else "wrong filler" if others else "missed"
        report.fault(f"{kind}: {item.role}", f"{item.type} {word} | found {[each[2] for each in others]} | {text}")
    for each in sorted(wrong):
        if not any((item.type, item.role) == each[:2] for item in missed):
            report.fault(f"spurious: {each[1]}", f"{each[0]} {each[2]} | {text}")


def _reader() -> Callable[[str], list[FrameText]]:
    return partial(_read, Extractor.default())


def _nothing(_: str, cause: str) -> list[FrameText]:
    print(f"a text was not read: {cause}", file=sys.stderr)
    return []


def _read(extractor: Extractor, text: str) -> list[FrameText]:
    record = {"text": text, "date": _DAY.isoformat()}
    document = read_record(record, SourceFile(Path("fewfc"), b"", _DAY))
    return [
        _frame_text(frame, annotated)
        for annotated in extractor.annotate(document).sentences
        for frame in read_frames(annotated)
    ]


def _frame_text(frame: EventFrame, annotated: AnnotatedSentence) -> FrameText:
    def words(refs: tuple[EntityMention, ...]) -> tuple[str, ...]:
        return tuple(annotated.text[ref.start : ref.end] for ref in refs)

    amounts = (("money", frame.money), ("number", frame.number), ("share", frame.share))
    numbers = tuple((role, abs(amount.number)) for role, amount in amounts if amount is not None)
    return FrameText(frame.kind, words(frame.agents), words(frame.parties), words(frame.targets), numbers)
