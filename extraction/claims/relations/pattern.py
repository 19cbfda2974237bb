"""The pattern language: a template over masked sentences, each with an example that a test holds it to.

    {s:C}   a slot: role `s`, kind C; {o:P|D} takes either kind. Roles s and o are the fact's ends, others qualifiers.
    ~       up to eight characters with no name and no punctuation; … up to twenty; ⋯ up to forty of the sentence,
            whatever stands there (a cue of pairs.py may look that far, a pattern that makes facts may not)
    the rest is a regular expression

A slot matches a whole enumeration: 「主要客户包括A、B和C」 gives three facts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import rjieba

from extraction.sentence import ANY_LETTER, LETTER, QUANTITY_LETTER, AnnotatedSentence, Claim, Masked, anchor_of, mask
from extraction.text.regex_prefilter import needed_letters
from kg.model import Kind, Polarity, Value

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
DOUBTFUL = 0.2  # read, but not stored (Settings.min_confidence)
_LETTERS = frozenset(LETTER_OF_CODE.values())
_SLOT = re.compile(r"\{(\w+):([A-Z|]+)\}")
_ASIDE = "(?:（[^（）]{0,40}）)?"
_SHORT_GAP = f"[^{ANY_LETTER}，。；：！？]{{0,8}}?"
_LONG_GAP = f"[^{ANY_LETTER}，。；：！？]{{0,20}}?"
_REACH = "[^。；！？]{0,40}?"
_GOES_ON = re.compile(
    r"(?:上游|下游|一体化|复合|零?部件|配件|组件|设备|材料|装备|模组|模块|系统|软件|服务|检测|租赁|回收|制造设备|生产设备|制氢|专用|用|级|类|化)"
)
_FIRM_BEHIND = re.compile(
    "[一-鿿]{1,6}?(?:生物|科技|公司|药业|材料|新材|电子|股份|集团|能源|化工|矿业|医药|智能|实业|控股)(?=[，。；、（）和]|$)"
)
_QUOTES, _NEXT_WORD = ("“", "「"), 6
_OF_A_FIELD = frozenset({"operates", "belongs_to"})
_SAME_THING = re.compile(
    "产品|系列|技术|业务|领域|市场|行业|环节|方面|项目|赛道|方向|板块|概念|产业|工艺|制程|解决方案|公司|企业|厂商|龙头|品牌|型号|订单|客户|产能|产线|市占|份额|公告|股价"
)
_CUT = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})
_KNOWN = 0.9  # the score of a name that the gazetteer holds; others were guessed from their letters
_OWN_CLAUSE = frozenset({"invests_in", "acquires", "partners_with", "supplies"})  # what happens on a day
_VALUE_ROLES = ("share", "amount")


@dataclass(frozen=True, slots=True, eq=False)  # one is itself: a set of them is hashed for every sentence
class Pattern:
    """One way a relation is worded. `pairs` keeps 「A与B」 apart; `whole` wants the subject written, not understood."""

    name: str
    relation: str
    template: str
    example: str
    confidence: float = 0.85
    pairs: bool = False
    whole: bool = False
    qualifiers: tuple[tuple[str, str], ...] = ()
    listing: bool = False  # a list places the subject
    labelled: bool = False  # its object is a label, which may name a group (香型龙头) as well as a product
    aside: bool = False  # brackets behind a name say it of that name alone
    regex: re.Pattern[str] = field(init=False, repr=False)
    ends: tuple[frozenset[str], frozenset[str]] = field(init=False, repr=False)
    words: tuple[frozenset[str], ...] = field(init=False, repr=False)  # letters, one of each set is in every match

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
        """Whether a sentence with these names, one or more of each letter, can hold both ends."""
        known = dict(letters)
        firsts, seconds = self.ends[0] & known.keys(), self.ends[1] & known.keys()
        lonely = firsts == seconds and len(firsts) == 1 and known[min(firsts)] == 1
        return bool(firsts and seconds) and not lonely


def _compile(template: str) -> str:
    expanded = template.replace("~", _SHORT_GAP).replace("…", _LONG_GAP).replace("⋯", _REACH)
    return _SLOT.sub(
        lambda slot: f"(?P<{slot[1]}>[{''.join(map(LETTER_OF_CODE.__getitem__, slot[2].split('|')))}]){_ASIDE}",
        expanded,
    )


def read(patterns: Sequence[Pattern], annotated: AnnotatedSentence) -> Iterator[Claim]:
    """Yield what the patterns read in one sentence, in the order of the patterns, then of the text."""
    if not annotated.refs:
        return
    views: dict[bool, tuple[Masked, bool]] = {}
    fitting = _fitting(tuple(patterns), _letters(annotated))
    for pattern in _worded(fitting, annotated.text) if fitting else ():
        if pattern.pairs not in views:
            views[pattern.pairs] = _elided(mask(annotated, pairs=pattern.pairs), annotated)
        masked, understood = views[pattern.pairs]
        for match in pattern.regex.finditer(masked.text):
            yield from _claims(pattern, annotated, masked, match, understood=understood)


def _letters(annotated: AnnotatedSentence) -> frozenset[tuple[str, int]]:
    """Return the letters that a masked sentence can show, each with how many of it there may be: 1, or 2 for more."""
    names = [ref for each in annotated.refs if each.start >= 0 and (ref := anchor_of(each)) is not None]
    names += [annotated.subject] if annotated.subject else []
    letters = [LETTER[ref.kind] for ref in names]
    return frozenset((letter, min(letters.count(letter), 2)) for letter in set(letters))


@lru_cache(maxsize=4096)
def _fitting(patterns: tuple[Pattern, ...], letters: frozenset[tuple[str, int]]) -> tuple[Pattern, ...]:
    """Return the patterns whose ends a sentence can hold; most sentences hold none of a kind."""
    return tuple(pattern for pattern in patterns if pattern.may_match(letters))


def _worded(patterns: Sequence[Pattern], text: str) -> list[Pattern]:
    """Return the patterns whose words a sentence can hold: of thirty that fit its names, two or three."""
    letters = frozenset(text)
    likely = [pattern for pattern in patterns if not (pattern.words and pattern.words[0].isdisjoint(letters))]
    return [pattern for pattern in likely if not any(map(letters.isdisjoint, pattern.words))]


def _elided(masked: Masked, annotated: AnnotatedSentence) -> tuple[Masked, bool]:
    """Write the understood subject in front, where the sentence itself opens with no company."""
    subject = annotated.subject
    first = masked.groups.get(0)
    if subject is None or (first and first[0].kind == subject.kind):
        return masked, False
    groups = {0: (subject,), **{index + 1: members for index, members in masked.groups.items()}}
    quantities = {index + 1: quantity for index, quantity in masked.quantities.items()}
    return Masked(LETTER[subject.kind] + masked.text, groups, (0, *masked.starts), quantities, masked.denials), True


def _claims(
    pattern: Pattern, annotated: AnnotatedSentence, masked: Masked, match: re.Match[str], *, understood: bool
) -> Iterator[Claim]:
    if understood and pattern.whole and match.start("s") == 0:
        return
    roles = {role: match.start(role) for role, text in match.groupdict().items() if text is not None}
    slots = {role: masked.groups[at] for role, at in roles.items() if at in masked.groups}
    quantities = {role: masked.quantities[at] for role, at in roles.items() if at in masked.quantities}
    words = {role: match[role] for role in roles if role not in slots and role not in quantities}
    start, end = masked.origin(match.start()), masked.origin(match.end())
    subjects = slots["s"][-1:] if pattern.aside else slots["s"]  # 「A、B（x）」 says x of B
    of_a_field = pattern.relation in _OF_A_FIELD
    for subject, object_ in product(subjects, slots["o"]):
        same = subject.entity == object_.entity or subject.name.casefold() == object_.name.casefold()
        if not same and not any(_cut_short(annotated, ref, end, of_a_field=of_a_field) for ref in (subject, object_)):
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
    """Return how sure a reading is; a guessed label of a list, or a guessed Latin name with an aside, is doubtful."""
    guessed = pattern.labelled and object_.score < _KNOWN
    brand = pattern.aside and subject.name.isascii() and not subject.entity.startswith("sec:")
    return DOUBTFUL if guessed or brand else pattern.confidence * min(subject.score, object_.score)


def _cut_short(annotated: AnnotatedSentence, ref: EntityMention, end: int, *, of_a_field: bool) -> bool:
    """Whether a name goes on behind what was found: 手机 in 手机部件 is not what is made, nor 电子 in 电子材料.

    Behind the last name of a pattern, which ends at `end`, no quoted name may follow nor, unless it is only the field
    that a firm works in, another noun (活塞压缩机).
    """
    if ref.kind is Kind.REGION and ref.end > 0:
        return _FIRM_BEHIND.match(annotated.text, ref.end) is not None  # 合肥 of 合肥某某生物
    if ref.kind not in _CUT or ref.end <= 0:
        return False
    if _GOES_ON.match(annotated.text, ref.end) is not None:
        return True
    behind = annotated.text[end : end + _NEXT_WORD] if ref.end == end else ""
    whole = of_a_field or ref.name.isascii()  # 「LPDDR5芯片」 is LPDDR5
    return behind.startswith(_QUOTES) or (not whole and _is_part_of_a_noun(behind))


def _is_part_of_a_noun(behind: str) -> bool:
    """Whether the words behind a name make another thing of it: 压缩机, and not 产品, 市场."""
    word, tag = next(iter(rjieba.tag(behind.lstrip())), ("", ""))
    return tag.startswith("n") and len(word) > 1 and not _SAME_THING.match(word)


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
