"""Match the relation patterns of lexicon/relation_patterns.yaml: templates over masked sentences, each with an example.

    {s:C}   a slot: role `s`, kind C; {o:P|D} accepts either kind. Roles s and o are the fact's ends, others qualifiers.
    ~       up to 8 characters without names or punctuation; … up to 20; ⋯ up to 40 arbitrary characters of the sentence
            (only for the cues of pairs.py, not for patterns that produce facts)
    anything else is a regular expression

A slot matches a whole enumeration: 「主要客户包括A、B和C」 gives three facts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import rjieba

from extraction.claims.measures.measurement import DOUBTFUL
from extraction.sentence import ANY_LETTER, LETTER, QUANTITY_LETTER, AnnotatedSentence, Claim, Masked, anchor_of, mask
from extraction.text.lexicon import phrases, table
from kg.model import Kind, Polarity, Value
from kg.text.regex_prefilter import needed_letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.quantities.reader import Quantity
    from extraction.sentence import EntityMention

LETTER_OF_CODE = {
    "C": LETTER[Kind.COMPANY],
    "O": LETTER[Kind.INSTITUTION],
    "H": LETTER[Kind.PERSON],
    "P": LETTER[Kind.PRODUCT],
    "B": LETTER[Kind.BUSINESS],
    "D": LETTER[Kind.INDUSTRY],
    "T": LETTER[Kind.THEME],
    "M": LETTER[Kind.INDICATOR],
    "E": LETTER[Kind.EVENT],
    "Y": LETTER[Kind.POLICY],
    "R": LETTER[Kind.REGION],
    "Q": QUANTITY_LETTER,
}
_LETTERS = frozenset(LETTER_OF_CODE.values())
_SLOT = re.compile(r"\{(\w+):([A-Z|]+)\}")
_BRACKETED = "(?:（[^（）]{0,40}）)?"
_SHORT_GAP = f"[^{ANY_LETTER}，。；：！？]{{0,8}}?"
_LONG_GAP = f"[^{ANY_LETTER}，。；：！？]{{0,20}}?"
_REACH = "[^。；！？]{0,40}?"
_PHRASES = phrases("relations/pattern")
_NAME_CONTINUES = _PHRASES["name_continues"]
_COMPANY_REMAINDER = _PHRASES["company_remainder"]
_QUOTES, _NEXT_WORD = ("“", "「"), 6
_FIELD_RELATIONS = frozenset({"operates", "belongs_to"})
_GENERIC_NOUN = _PHRASES["generic_noun"]
_TRUNCATABLE = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})
_GAZETTEER_SCORE = 0.9  # score from which a name counts as known from the gazetteer rather than guessed
_OWN_CLAUSE = frozenset({"invests_in", "acquires", "partners_with", "supplies"})  # dated events
_VALUE_ROLES = ("share", "amount")


@dataclass(frozen=True, slots=True, eq=False)  # identity hash: patterns are hashed for every sentence
class Pattern:
    """One wording of a relation. `pairs` keeps 「A与B」 apart; `whole` requires an explicit subject."""

    name: str
    relation: str
    template: str
    example: str
    confidence: float = 0.85
    pairs: bool = False
    whole: bool = False
    qualifiers: tuple[tuple[str, str], ...] = ()
    listing: bool = False  # the subject is an item of a list
    labelled: bool = False  # the object is a label: a group (香型龙头) or a product
    aside: bool = False  # the relation is in brackets after a name and applies to that name only
    regex: re.Pattern[str] = field(init=False, repr=False)
    ends: tuple[frozenset[str], frozenset[str]] = field(init=False, repr=False)
    words: tuple[frozenset[str], ...] = field(init=False, repr=False)  # every match contains a letter of each set

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", re.compile(_compile(self.template)))
        slots = {
            role: frozenset(map(LETTER_OF_CODE.__getitem__, kinds.split("|")))
            for role, kinds in _SLOT.findall(self.template)
        }
        object.__setattr__(self, "ends", (slots["s"], slots["o"]))
        needed = needed_letters(self.regex.pattern)
        object.__setattr__(self, "words", tuple(each for each in needed if each.isdisjoint(_LETTERS)))

    def may_match(self, letters: frozenset[tuple[str, int]]) -> bool:
        """Whether a sentence with these (letter, count) pairs can contain both ends."""
        counts = dict(letters)
        subjects, objects = self.ends[0] & counts.keys(), self.ends[1] & counts.keys()
        single_name = subjects == objects and len(subjects) == 1 and counts[min(subjects)] == 1
        return bool(subjects and objects) and not single_name


@cache
def relation_patterns() -> tuple[Pattern, ...]:
    """Return the patterns of the lexicon, in its order."""
    return tuple(_pattern(name, entry) for name, entry in table("relation_patterns")["patterns"].items())


def _pattern(name: str, entry: dict[str, Any]) -> Pattern:
    qualifiers = tuple(entry.get("qualifiers", {}).items())
    return Pattern(name=name, **{**entry, "qualifiers": qualifiers})


def _compile(template: str) -> str:
    expanded = template.replace("~", _SHORT_GAP).replace("…", _LONG_GAP).replace("⋯", _REACH)
    return _SLOT.sub(
        lambda slot: f"(?P<{slot[1]}>[{''.join(map(LETTER_OF_CODE.__getitem__, slot[2].split('|')))}]){_BRACKETED}",
        expanded,
    )


def read(patterns: Sequence[Pattern], annotated: AnnotatedSentence) -> Iterator[Claim]:
    """Yield the claims of one sentence, ordered by pattern, then by position."""
    if not annotated.refs:
        return
    views: dict[bool, tuple[Masked, bool]] = {}
    candidates = _filter_by_ends(tuple(patterns), _letters(annotated))
    for pattern in _filter_by_letters(candidates, annotated.text) if candidates else ():
        if pattern.pairs not in views:
            views[pattern.pairs] = _prepend_subject(mask(annotated, pairs=pattern.pairs), annotated)
        masked, implied = views[pattern.pairs]
        for match in pattern.regex.finditer(masked.text):
            yield from _claims(pattern, annotated, masked, match, implied=implied)


def _letters(annotated: AnnotatedSentence) -> frozenset[tuple[str, int]]:
    """Return the letters a masked sentence can contain, each with its count capped at 2."""
    names = [ref for each in annotated.refs if each.start >= 0 and (ref := anchor_of(each)) is not None]
    names += [annotated.subject] if annotated.subject else []
    letters = [LETTER[ref.kind] for ref in names]
    return frozenset((letter, min(letters.count(letter), 2)) for letter in set(letters))


@lru_cache(maxsize=4096)
def _filter_by_ends(patterns: tuple[Pattern, ...], letters: frozenset[tuple[str, int]]) -> tuple[Pattern, ...]:
    """Return the patterns whose ends can occur in a sentence with these letters."""
    return tuple(pattern for pattern in patterns if pattern.may_match(letters))


def _filter_by_letters(patterns: Sequence[Pattern], text: str) -> list[Pattern]:
    """Return the patterns whose required letters occur in the text: typically 2 or 3 of 30 candidates."""
    letters = frozenset(text)
    likely = [pattern for pattern in patterns if not (pattern.words and pattern.words[0].isdisjoint(letters))]
    return [pattern for pattern in likely if not any(map(letters.isdisjoint, pattern.words))]


def _prepend_subject(masked: Masked, annotated: AnnotatedSentence) -> tuple[Masked, bool]:
    """Prepend the implied subject unless the sentence starts with a name of its kind; return whether it was added."""
    subject = annotated.subject
    first = masked.groups.get(0)
    if subject is None or (first and first[0].kind == subject.kind):
        return masked, False
    groups = {0: (subject,), **{index + 1: members for index, members in masked.groups.items()}}
    quantities = {index + 1: quantity for index, quantity in masked.quantities.items()}
    return Masked(LETTER[subject.kind] + masked.text, groups, (0, *masked.starts), quantities, masked.denials), True


def _claims(
    pattern: Pattern, annotated: AnnotatedSentence, masked: Masked, match: re.Match[str], *, implied: bool
) -> Iterator[Claim]:
    if implied and pattern.whole and match.start("s") == 0:
        return
    roles = {role: match.start(role) for role, text in match.groupdict().items() if text is not None}
    slots = {role: masked.groups[at] for role, at in roles.items() if at in masked.groups}
    quantities = {role: masked.quantities[at] for role, at in roles.items() if at in masked.quantities}
    words = {role: match[role] for role in roles if role not in slots and role not in quantities}
    start, end = masked.origin(match.start()), masked.origin(match.end())
    subjects = slots["s"][-1:] if pattern.aside else slots["s"]  # in 「A、B（x）」, x applies to B
    is_field = pattern.relation in _FIELD_RELATIONS
    for subject, object_ in product(subjects, slots["o"]):
        same = subject.entity == object_.entity or subject.name.casefold() == object_.name.casefold()
        if not same and not any(_is_truncated(annotated, ref, end, is_field=is_field) for ref in (subject, object_)):
            yield Claim(
                relation=pattern.relation,
                subject=subject,
                object=object_,
                start=start,
                end=end,
                pattern=pattern.name,
                value=_value(quantities),
                qualifiers=_qualifiers(pattern, slots, quantities, words),
                confidence=_confidence(pattern, subject, object_),
                polarity=Polarity.NEGATIVE if masked.denied(start, end) else None,
                listing=pattern.listing,
                own_clause=pattern.relation in _OWN_CLAUSE,
            )


def _confidence(pattern: Pattern, subject: EntityMention, object_: EntityMention) -> float:
    """Return the confidence; guessed list labels and guessed Latin names with a bracketed note are doubtful."""
    guessed = pattern.labelled and object_.score < _GAZETTEER_SCORE
    brand = pattern.aside and subject.name.isascii() and not subject.entity.startswith("sec:")
    return DOUBTFUL if guessed or brand else pattern.confidence * min(subject.score, object_.score)


def _is_truncated(annotated: AnnotatedSentence, ref: EntityMention, end: int, *, is_field: bool) -> bool:
    """Whether the matched name is only the start of a longer one: 手机 in 手机部件, 电子 in 电子材料.

    The last name of a match, ending at `end`, must not be followed by a quoted name or by another noun (活塞压缩机);
    the noun is allowed where the name is the field a company works in.
    """
    if ref.kind is Kind.REGION and ref.end > 0:
        return _COMPANY_REMAINDER.match(annotated.text, ref.end) is not None  # 合肥 in 合肥某某生物
    if ref.kind not in _TRUNCATABLE or ref.end <= 0:
        return False
    if _NAME_CONTINUES.match(annotated.text, ref.end) is not None:
        return True
    following = annotated.text[end : end + _NEXT_WORD] if ref.end == end else ""
    is_complete = is_field or ref.name.isascii()  # 「LPDDR5芯片」 refers to LPDDR5
    return following.startswith(_QUOTES) or (not is_complete and _starts_with_other_noun(following))


def _starts_with_other_noun(following: str) -> bool:
    """Whether the following word changes what the name refers to: 压缩机 does, 产品 and 市场 do not."""
    word, tag = next(iter(rjieba.tag(following.lstrip())), ("", ""))
    return tag.startswith("n") and len(word) > 1 and not _GENERIC_NOUN.match(word)


def _value(quantities: dict[str, Quantity]) -> Value | None:
    for role in _VALUE_ROLES:
        if role in quantities:
            quantity = quantities[role]
            return Value(
                quantity.number,
                quantity.unit,
                quantity.scale,
                change=role if role == "share" else "",
                high=quantity.high,
            )
    return None


def _qualifiers(
    pattern: Pattern,
    slots: dict[str, tuple[EntityMention, ...]],
    quantities: dict[str, Quantity],
    words: dict[str, str],
) -> tuple[tuple[str, str], ...]:
    named = {role: "、".join(ref.name for ref in refs) for role, refs in slots.items() if role not in ("s", "o")}
    shares = {role: f"{quantity.number:g}" for role, quantity in quantities.items() if role not in _VALUE_ROLES}
    return tuple(sorted({**dict(pattern.qualifiers), **named, **shares, **words}.items()))
