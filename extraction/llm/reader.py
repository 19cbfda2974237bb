"""Turn a model's replies into claims, checked against the text they cite, and weigh them with the local reader's.

Replies are not trusted: the cited line must exist, both names must be in it or in what it is read under,
the relation must allow their kinds, and numbers and certainty must be in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, structs
from rapidfuzz.fuzz import partial_ratio_alignment

from extraction.llm.parsing import BadItem, EdgeItem, read_reply
from extraction.llm.prompt import VERSION, contexts
from extraction.models.linking import EdgeEnd, Statement, claim_of, trimmed
from extraction.models.scheme import GROUP_OF
from extraction.models.units import TITLE
from extraction.quantities.reader import find_quantities
from extraction.sentence import CONTEXT
from extraction.text.sentences import normalise
from kg.ids import normal_name
from kg.model import BlockKind, Modality, Problem, Value
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from extraction.llm.prompt import Pack
    from extraction.models.linking import NameLinker
    from extraction.sentence import AnnotatedDocument, AnnotatedSentence, Claim, ClaimRow, EntityMention


MODEL_READER = "llm/"  # readers of this kind: llm/MODEL@TEMPLATE
_LOCAL = "edges@"  # readers whose claims are probabilities
MODEL_PRECISION = 0.8  # of a checked item that nothing else supports, until verdicts correct it
_ALIGNED = 0.9  # factor of an item whose line was found by its words
# Two careful readers agree at F1 0.76: what one states, the other repeats in about three of four cases, and a wrong
# edge of the local reader is repeated seldom. Silence of a model is therefore evidence against a local edge.
REPEATS_RIGHT, _REPEATS_WRONG = 0.76, 0.1
_MOST = 0.98
_MIN_ALIGNMENT = 85  # of 100, rapidfuzz
_MIN_QUOTE, _MAX_PER_LINE = 6, 40
_PIECES, _MIN_PIECE = 3, 2  # a recombined name: 碳酸锂 + 价格
_REACH_BACK = 3  # lines before the cited one, in its section
_WINDOW = 2  # lines around the cited one that a wrong number may mean
_NAME_NUMBER = re.compile(r"@\s*(\d{1,3})")
_DIRECTION = {"u": "up", "d": "down", "n": "none"}
_MODALITY = {
    "": Modality.ASSERTED, "f": Modality.FORECAST, "p": Modality.PLANNED,
    "c": Modality.CONDITIONAL, "r": Modality.RUMOURED,
}  # fmt: skip
_RUMOUR = re.compile(
    "传|据悉|据称|消息|报道|市场(?:预期|认为)|或(?:将|许)?|猜测|爆料|rumou?r|report(?:ed|s)", re.IGNORECASE
)
_SHARES = {"holds_stake_in", "subsidiary_of"}


class PackReply(Struct, frozen=True):
    """A model's reply to a pack: the model's name, the text, when it arrived, whether it is cut at the limit.

    `precision` is the share of right facts of this model.
    """

    pack: Pack
    model: str
    text: str
    at: datetime
    cut: bool = False
    precision: float = MODEL_PRECISION


class Refusal(Exception):
    """An item that the text does not support; the argument is the reason."""


class ModelReader:
    """Reads claims from replies; keeps no state between documents."""

    def __init__(self, linker: NameLinker) -> None:
        self._linker = linker

    def combine(
        self, document: AnnotatedDocument, local: Sequence[ClaimRow], replies: Sequence[PackReply]
    ) -> tuple[list[ClaimRow], list[Problem]]:
        """Return the local claims and those of the replies, weighed against each other, and the refused items."""
        if not replies:
            return list(local), []
        problems: list[Problem] = []
        found: dict[tuple[object, ...], ClaimRow] = {}
        reach = contexts(document.lines)
        for reply in replies:
            per_line: dict[int, int] = {}
            for row in self._claims(reply, document, reach, problems):
                line = row[1].sentence.start
                per_line[line] = per_line.get(line, 0) + 1
                if per_line[line] <= _MAX_PER_LINE:
                    found.setdefault(_identity(row[0]), row)
        return _weighed(local, list(found.values()), _lines_read(document, replies)), problems

    def _claims(
        self,
        reply: PackReply,
        document: AnnotatedDocument,
        reach: Sequence[tuple[int, ...]],
        problems: list[Problem],
    ) -> Iterator[ClaimRow]:
        own = [line.number for line in (*reply.pack.context, *reply.pack.lines)]
        start = document.lines[reply.pack.lines[0].number].sentence.start
        end = document.lines[reply.pack.lines[-1].number].sentence.end
        items = read_reply(reply.text)
        if reply.cut:
            problems.append(Problem("model:cut", "the reply ends early", start, end))
            items = items[:-1] if items and isinstance(items[-1], BadItem) else items
        for item in items:
            if isinstance(item, BadItem):
                problems.append(Problem(f"model:{item.reason}", item.text, start, end))
                continue
            try:
                yield self._claim(item, reply, document, _Place(own, reach))
            except Refusal as refusal:
                said = f"{item.subject} {item.relation} {item.object}"
                problems.append(Problem(f"model:{refusal.args[0]}", said, start, end))

    def _claim(self, item: EdgeItem, reply: PackReply, document: AnnotatedDocument, place: _Place) -> ClaimRow:
        """Return the claim of an item.

        Raises:
            Refusal: with the reason.
        """
        names = [_written(name, reply.pack) for name in (item.subject, item.object)]
        line, exact = _cited_line(item, names, document, place)
        scope = _scope(line, place.reach[line], document)
        subject, object_ = (self._end(name, scope, document) for name in names)
        if subject.ref.entity == object_.ref.entity:
            raise Refusal("self")
        ends = self._linker.allowed(item.relation, subject.ref, object_.ref)
        if ends is None:
            raise Refusal("kind")
        quoted = " ".join(document.text_of(at) for at in scope)
        modality = _MODALITY[item.certainty]
        if modality is Modality.RUMOURED and not _RUMOUR.search(quoted):
            raise Refusal("modality")
        directions = item.directions or "nn"
        causal = item.relation == "affects"
        stated = Statement(
            item.relation,
            _DIRECTION[directions[0]] if causal else "none",
            _DIRECTION[directions[1]] if causal else "none",
            modality,
            item.negative,
            round(reply.precision * (1.0 if exact else _ALIGNED), 3),
            f"{MODEL_READER}{reply.model}@{VERSION}",
        )
        left, right = structs.replace(subject, ref=ends[0]), structs.replace(object_, ref=ends[1])
        claim, sentence = claim_of(stated, left, right, document=document, line=line)
        if not claim.end:  # both names are above the line
            claim = structs.replace(claim, end=len(sentence.text))
        return structs.replace(claim, value=_value(item, document.text_of(line))), sentence

    def _end(self, name: str, scope: Sequence[int], document: AnnotatedDocument) -> EdgeEnd:
        """Return the entity that a name means in the nearest line that has it, else from the parts of the name.

        Raises:
            Refusal: the text does not have the name, or it is none.
        """
        for line in scope:
            text = document.text_of(line)
            at = text.find(name)
            if at < 0 and (at := text.lower().find(name.lower())) < 0:
                continue
            start, end = trimmed(text, at, at + len(name))
            ref = self._linker.link(document, line, (start, end), kinds={})
            if ref is None:
                raise Refusal("name")
            return EdgeEnd(ref, line, start, end)
        known = _mentioned(name, scope, document)
        if known is None and not self._is_recombined(name, [document.text_of(line) for line in scope]):
            raise Refusal("argument")
        ref = known or self._linker.link_name(name)
        if ref is None:
            raise Refusal("name")
        return EdgeEnd(ref, scope[0], CONTEXT, CONTEXT)

    def _is_recombined(self, name: str, texts: Sequence[str]) -> bool:
        """Return whether the text has the parts of a name, or its owner where the measure is a word we know."""
        if _recombined(name, texts):
            return True
        head = self._linker.measure_of(name)
        return head is not None and len(head[0]) >= _MIN_PIECE and _recombined(head[0], texts)


class _Place(Struct, frozen=True):
    """The lines of a pack, and for each line of the document those it is read under."""

    own: Sequence[int]
    reach: Sequence[tuple[int, ...]]


def _scope(line: int, above: Sequence[int], document: AnnotatedDocument) -> tuple[int, ...]:
    """Return the lines in which the names of a claim may be: its own, what introduces it, those just before it."""
    heads = [at for at in above if document.lines[at].block.kind == BlockKind.HEADING]
    floor = max([line - _REACH_BACK, *(at + 1 for at in heads), 0])
    nearby = [at for at in range(line - 1, floor - 1, -1) if at not in above]
    return (line, *sorted(above, reverse=True), *nearby, TITLE)


def _written(name: str, pack: Pack) -> str:
    """Return a name as words: @3 is the third offered name, and a longer name may contain it."""

    def offered(match: re.Match[str]) -> str:
        at = int(match[1])
        if not 1 <= at <= len(pack.names):
            raise Refusal("name")
        return pack.names[at - 1]

    return normalise(_NAME_NUMBER.sub(offered, name)).strip()


def _cited_line(item: EdgeItem, names: Sequence[str], document: AnnotatedDocument, place: _Place) -> tuple[int, bool]:
    """Return the line that an item cites, and whether it is the one named and not one found by its words.

    Raises:
        Refusal: there is no such line in the pack.
    """
    if item.line is None:
        return _quoted_line(item.quote, document, place.own), False
    if item.line not in place.own:
        raise Refusal("quote")
    text = document.text_of(item.line)
    if any(name in text for name in names):
        return item.line, True
    near = [at for at in place.own if 0 < abs(at - item.line) <= _WINDOW]
    both = [at for at in near if all(name in document.text_of(at) for name in names)]
    return (both[0], False) if len(both) == 1 else (item.line, True)


def _quoted_line(quote: str, document: AnnotatedDocument, own: Sequence[int]) -> int:
    """Return the line with a typed quote, or the one that it aligns with best.

    Raises:
        Refusal: no line is close.
    """
    plain = normalise(quote)
    if len(plain) < _MIN_QUOTE:
        raise Refusal("quote")
    exact = [at for at in own if plain in document.text_of(at)]
    if exact:
        return exact[0]
    scored = [(partial_ratio_alignment(plain, document.text_of(at)), at) for at in own]
    best = max(((each.score, -at) for each, at in scored if each and len(document.text_of(at)) >= _MIN_QUOTE),
               default=(0.0, 0))  # fmt: skip
    if best[0] < _MIN_ALIGNMENT:
        raise Refusal("quote")
    return -best[1]


def _mentioned(name: str, scope: Sequence[int], document: AnnotatedDocument) -> EntityMention | None:
    """Return the linked mention with this official name: the text may say 宁王 or 公司 for 宁德时代."""
    for line in scope:
        refs = document.names[line] if line != TITLE else document.title_names
        annotated = document.by_line.get(line)
        for ref in (*refs, *(annotated.refs if annotated else ()), *_subjects(annotated)):
            if ref.name == name:
                return structs.replace(ref, start=CONTEXT, end=CONTEXT)
    company = document.company
    return company if company is not None and company.name == name else None


def _subjects(annotated: AnnotatedSentence | None) -> tuple[EntityMention, ...]:
    return () if annotated is None or annotated.subject is None else (annotated.subject,)


def _recombined(name: str, texts: Sequence[str]) -> bool:
    """Return whether a name consists of a few parts that the text has: 碳酸锂价格 of 「碳酸锂…价格」.

    >>> _recombined("碳酸锂价格", ["碳酸锂供给过剩，价格下跌"]), _recombined("碳酸锂价格", ["碳酸锂供给过剩"])
    (True, False)
    """
    whole = "\n".join(texts).lower()
    rest, pieces = re.sub(r"[\s的]", "", name.lower()), 0
    while rest and pieces < _PIECES:
        size = next((size for size in range(len(rest), _MIN_PIECE - 1, -1) if rest[:size] in whole), 0)
        if not size:
            return False
        rest, pieces = rest[size:], pieces + 1
    return not rest


def _value(item: EdgeItem, text: str) -> Value | None:
    """Return the stated share of a holding; its digits must be in the line.

    Raises:
        Refusal: the line does not have the number.
    """
    if not item.amount or item.relation not in _SHARES:
        return None
    digits = re.match(r"[\d.]+", item.amount)
    for quantity in find_quantities(text):
        if digits and digits[0] in quantity.text and quantity.unit == "%":
            return Value(quantity.number, quantity.unit, quantity.scale)
    raise Refusal("number")


def _identity(claim: Claim) -> tuple[object, ...]:
    return (*_triple(claim), claim.sign, claim.qualifiers, claim.polarity, claim.modality)


def _triple(claim: Claim) -> tuple[str, str, str]:
    ends = (claim.subject.entity, claim.object.entity)
    low, high = sorted(ends) if vocabulary()[claim.relation].symmetric else ends
    return low, claim.relation, high


def _lines_read(document: AnnotatedDocument, replies: Sequence[PackReply]) -> set[int]:
    """Return the offsets of the sentences that a model has read."""
    return {document.lines[line.number].sentence.start for reply in replies for line in reply.pack.lines}


def _weighed(local: Sequence[ClaimRow], model: Sequence[ClaimRow], read: set[int]) -> list[ClaimRow]:
    """Weigh claims: agreement raises, silence of the model lowers a local claim, disagreement keeps both.

    The two agree if they join the same things by the same kind of relation, with one sign and polarity; the model's
    spelling and certainty then stand, so that one edge is not stored in two spellings.
    """
    rows = list(model)
    near = _Near(rows)
    out: list[ClaimRow] = []
    for claim, sentence in local:
        if not claim.reader.startswith(_LOCAL) or not vocabulary()[claim.relation].ask:
            out.append((claim, sentence))
            continue
        same = near.to(claim)
        agreed = [at for at in same if _agree(rows[at][0], claim)]
        for at in agreed[:1]:
            other = rows[at][0]
            confidence = min(_MOST, 1 - (1 - other.confidence) * (1 - claim.confidence))
            reader = other.reader if "+" in other.reader else f"{other.reader}+{claim.reader}"
            rows[at] = structs.replace(other, confidence=round(confidence, 3), reader=reader), rows[at][1]
        if agreed:
            continue
        silent = not same and sentence.sentence.start in read
        confidence = _unconfirmed(claim.confidence) if silent else claim.confidence
        out.append((structs.replace(claim, confidence=confidence), sentence))
    return [*out, *rows]


class _Near:
    """Finds the claims of a model that join the same things as a local one, whatever their exact spelling."""

    def __init__(self, rows: Sequence[ClaimRow]) -> None:
        self._by_group: dict[str, list[tuple[int, str, str]]] = {}
        for at, (claim, _) in enumerate(rows):
            self._by_group.setdefault(_group(claim), []).append((at, *_end_names(claim)))

    def to(self, claim: Claim) -> list[int]:
        """Return the positions of these claims, those with equal names first."""
        subject, object_ = _end_names(claim)
        rows = self._by_group.get(_group(claim), [])
        exact = [at for at, one, other in rows if (one, other) == (subject, object_)]
        return exact or [at for at, one, other in rows if _alike(one, subject) and _alike(other, object_)]


def _group(claim: Claim) -> str:
    return GROUP_OF.get(claim.relation, claim.relation)


def _end_names(claim: Claim) -> tuple[str, str]:
    names = normal_name(claim.subject.name), normal_name(claim.object.name)
    return (min(names), max(names)) if vocabulary()[claim.relation].symmetric else names


def _alike(one: str, other: str) -> bool:
    """Return whether two names are one, or one is most of the other: 电池成本 and 动力电池成本.

    >>> _alike("电池成本", "动力电池成本"), _alike("电池", "电池回收企业"), _alike("铜", "铜")
    (True, False, True)
    """
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _MIN_PIECE and len(short) * 2 >= len(long) and short in long)


def _agree(one: Claim, other: Claim) -> bool:
    return (one.sign, one.polarity) == (other.sign, other.polarity)


def _unconfirmed(probability: float) -> float:
    """Return the probability of a local edge that a model which read its sentence does not state (Bayes)."""
    right, wrong = probability * (1 - REPEATS_RIGHT), (1 - probability) * (1 - _REPEATS_WRONG)
    return round(right / (right + wrong), 3)
