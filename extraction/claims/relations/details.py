"""Read what a clause says of a relation between two companies: goods, shares, stage, and whether it has ended."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.sentence import anchor_of
from extraction.text.clauses import clause_end, clause_start, in_brackets
from extraction.text.lexicon import phrases, table
from kg.model import Kind, Value

if TYPE_CHECKING:
    from extraction.sentence import AnnotatedSentence, EntityMention, Masked

_PHRASES = phrases("relations/frames")
_REJECTED = {"supplies": _PHRASES["no_supply"], "acquires": _PHRASES["no_acquisition"]}
_RANK = re.compile("(?P<rank>第[一二三四五]大|最大)[^，。；]{0,6}?(?:客户|供应商)")
_ENDED, _JOINT = _PHRASES["ended"], re.compile("、|和|及|与|以及|/")
_STAKES = frozenset({"holds_stake_in", "acquires", "subsidiary_of"})


class Details(Struct, frozen=True):
    """Qualifiers and value of a relation, and whether it is said to have ended."""

    qualifiers: tuple[tuple[str, str], ...] = ()
    value: Value | None = None
    ended: bool = False


@cache
def stages() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the stages of a supply with their words: sample, qualified, volume."""
    return tuple((name, re.compile(entry["words"])) for name, entry in table("company_details")["stages"].items())


@cache
def shares() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Return the wordings of shares: the qualifier, who discloses it, the words around the number."""
    rows = table("company_details")["shares"].values()
    return tuple((row["qualifier"], row["disclosed_by"], re.compile(row["words"])) for row in rows)


def details_of(
    relation: str, annotated: AnnotatedSentence, masked: Masked, *, span: tuple[int, int], single: bool
) -> Details | None:
    """Return what is said of a relation that a frame found at a span of the masked text; None if it is none.

    A share belongs to one pair: it is read only where the relation has a `single` company at each end.
    """
    text = annotated.text
    start, end = masked.origin(span[0]), masked.origin(span[1])
    low, high = clause_start(text, start), clause_end(text, end)
    if in_brackets(text, start):
        low, high = text.rfind("（", 0, start) + 1, min(high, text.find("）", start) % (len(text) + 1))
    clause = masked.text[clause_start(masked.text, span[0]) : clause_end(masked.text, span[1])]
    rejected = _REJECTED.get(relation)
    if rejected is not None and rejected.search(clause):  # masked: 股份 in a company's name rejects nothing
        return None
    if relation in _STAKES:
        return Details(value=_stake(annotated, low, high))
    if relation != "supplies":
        return Details()
    found = _share(text[low : clause_end(text, high + 1)]) if single else {}
    if single and (rank := _RANK.search(clause)):
        found["rank"] = rank["rank"]
    if goods := _goods(annotated, low, clause_end(text, high + 1) if found else high):
        found["product"] = goods
    stage = next((name for name, words in stages() if words.search(clause)), "")
    ended = _ENDED.search(text, low, high) is not None
    if ended or stage:
        found["stage"] = "ended" if ended else stage
    return Details(tuple(sorted(found.items())), None, ended)


def _share(text: str) -> dict[str, str]:
    """Return the share of revenue or cost that a clause and the next one give, with who discloses it."""
    for qualifier, side, words in shares():
        if (match := words.search(text)) is not None:
            return {qualifier: f"{float(match['share']):g}", "disclosed_by": side}
    return {}


def _goods(annotated: AnnotatedSentence, low: int, high: int) -> str:
    """Return the products of the clause: the last one in it, with those joined to it."""
    seen = [anchor_of(ref) for ref in annotated.between(low, high)]  # 隔膜 of 隔膜收入
    named = [ref for ref in seen if ref is not None and ref.kind is Kind.PRODUCT]
    if not named:
        return ""
    kept: list[EntityMention] = [named[-1]]
    for ref in reversed(named[:-1]):
        if not _JOINT.fullmatch(annotated.text, ref.end, kept[0].start):
            break
        kept.insert(0, ref)
    return "、".join(dict.fromkeys(ref.name for ref in kept))


def _stake(annotated: AnnotatedSentence, low: int, high: int) -> Value | None:
    """Return the share that the clause gives, else the sum, if it is the only one."""
    for unit, change in (("%", "share"), ("元", "")):
        found = [each for each in annotated.quantities if low <= each.start < high and each.unit == unit]
        if len(found) == 1 and found[0].number > 0:
            return Value(found[0].number, unit, found[0].scale, change=change, high=found[0].high)
    return None
