"""What the local model sees of a pair: the text with both names marked, its parts, the names' forms, and the cues.

The names are read in the order of the text; a label tells which of them is the subject. Views are n-grams hashed per
view (a feature's weight is TF-IDF), so a model is a matrix and no word list; the hash is so wide that no two features
of a training set of usual size share a column, and only columns seen more than once are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import rjieba

from extraction.annotated import Annotated, Ref
from extraction.patterns.pairs import claims_between, occurrences, same_name
from extraction.quantities import find_quantities
from extraction.sentences import Sentence, normalise
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_FAR = 60  # characters beside the pair that words are taken from
_LISTED = 4  # 、 beyond which a list is long
_CLAUSE = re.compile("[。；，,;!?]")
_CROWDED = 22  # words of a clause, names with them, from which two of them say little
_JOINTS = "①②向与和的被将把由从以是为"  # single letters that join names to a verb
_SIGNS = "（）股称表示告诉券%《》“”"


@dataclass(frozen=True, slots=True)
class View:
    """One way to look at a pair: its features are hashed into columns of its own and brought to length `weight`."""

    features: Callable[[Pair], Iterator[str]]
    weight: float = 1.0
    rare_counts: bool = True  # a rare feature counts for more


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names as they stand in a normalised text, `first` before `second`, and what lies around them."""

    text: str
    first: str
    second: str
    left: str
    middle: str
    right: str
    places: tuple[tuple[int, int], tuple[int, int]]  # of the two names in the text
    first_kind: Kind = Kind.COMPANY
    second_kind: Kind = Kind.COMPANY
    swapped: bool = False  # the caller's first name stands second


def pair_of(text: str, one: str, other: str, *, kinds: tuple[Kind, Kind] = (Kind.COMPANY, Kind.COMPANY)) -> Pair:
    """Place two names in a text, by their two nearest occurrences; a name inside the other stands where that stands."""
    text, one, other = normalise(text), normalise(one), normalise(other)
    places = occurrences(text, one, other)
    ones = [(start, end) for name, start, end in places if name == one]
    others = [(start, end) for name, start, end in places if name == other]
    if ones and others and one != other:
        a, b = min(
            ((a, b) for a in ones for b in others),
            key=lambda ab: (max(ab[0][0], ab[1][0]) - min(ab[0][1], ab[1][1]), ab),
        )
    else:
        at = max(text.find(one), 0)
        a = b = (at, at + len(one))
    swapped = (b, other) < (a, one)
    low, high = (b, a) if swapped else (a, b)
    first, second = (other, one) if swapped else (one, other)
    return Pair(
        text,
        first,
        second,
        _marked(text[: low[0]], first, second),
        _marked(text[low[1] : high[0]], first, second),
        _marked(text[max(low[1], high[1]) :], first, second),
        (low, high),
        first_kind=kinds[swapped],
        second_kind=kinds[not swapped],
        swapped=swapped,
    )


def _marked(part: str, first: str, second: str) -> str:
    """Write every other occurrence of the two names as a mark of its own."""
    for name, mark in sorted([(first, "Ⓐ"), (second, "Ⓑ")], key=lambda item: -len(item[0])):
        part = part.replace(name, mark)
    return _NUMBER.sub("0", part)


def _grams(text: str, longest: int) -> Iterator[str]:
    for size in range(1, longest + 1):
        for at in range(len(text) - size + 1):
            yield text[at : at + size]


def whole(pair: Pair) -> Iterator[str]:
    """Yield the n-grams of the text with both names masked."""
    return _grams(f"{pair.left}①{pair.middle}②{pair.right}", 4)


def middle(pair: Pair) -> Iterator[str]:
    """Yield the n-grams between the names."""
    return _grams(f"①{pair.middle[:40]}②", 4)


def left(pair: Pair) -> Iterator[str]:
    """Yield the n-grams right before the first name."""
    return _grams(f"^{pair.left[-10:]}①", 3)


def right(pair: Pair) -> Iterator[str]:
    """Yield the n-grams right behind the second name."""
    return _grams(f"②{pair.right[:12]}", 3)


def first_name(pair: Pair) -> Iterator[str]:
    """Yield the n-grams of the first name."""
    return _grams(f"<{pair.first}>", 3)


def second_name(pair: Pair) -> Iterator[str]:
    """Yield the n-grams of the second name."""
    return _grams(f"<{pair.second}>", 3)


def words(pair: Pair) -> Iterator[str]:
    """Yield words and neighbouring words with the side they stand on."""
    for side, part in (("l", pair.left[-20:]), ("m", pair.middle[:_FAR]), ("r", pair.right[:24])):
        cut = [word for word in rjieba.cut(part) if word.strip()]
        yield from (f"{side}_{word}" for word in cut)
        yield from (f"{side}_{one}_{two}" for one, two in pairwise(cut))
    yield from (f"w_{word}" for word in rjieba.cut(f"{pair.left}①{pair.middle}②{pair.right}"))


def clause(pair: Pair) -> Iterator[str]:
    """Yield words, neighbouring words and every two words in order, from the first name's clause to the second's."""
    opening, closing = _CLAUSE.split(pair.left)[-1], _CLAUSE.split(pair.right)[0]
    cut = [word for word in rjieba.cut(f"{opening}①{pair.middle}②{closing}") if word.strip()]
    yield f"far{min(len(_CLAUSE.findall(pair.middle)), _LISTED)}"
    yield from cut
    yield from (f"{one}_{two}" for one, two in pairwise(cut))
    telling = [word for word in cut if len(word) > 1 or word in _JOINTS]
    if len(telling) < _CROWDED:
        yield from (f"{one}~{two}" for one, two in combinations(telling, 2))


def form(pair: Pair) -> Iterator[str]:
    """Yield how far apart, how long, how alike and of what ending the names are, and the names themselves."""
    one, two, gap = pair.first, pair.second, pair.middle
    yield from (f"d{min(len(gap) // 4, 8)}", f"dm{min(len(gap), 6)}", f"la{min(len(one), 9)}", f"lb{min(len(two), 9)}")
    yield from (f"common{min(_common(one, two), 5)}", f"ain{one in two}", f"bin{two in one}")
    yield from (f"sa_{one[-2:]}", f"sb_{two[-2:]}", f"ss_{one[-2:]}_{two[-2:]}", f"pre{_prefix(one, two)}")
    yield from (f"A{one}", f"B{two}", f"P{one}|{two}", f"P*{'|'.join(sorted((one, two)))}")
    yield from (f"k_{pair.first_kind.value}_{pair.second_kind.value}", f"list{min(pair.text.count('、'), _LISTED)}")
    yield from (f"adj{gap}" if len(gap) < _LISTED else "adj#", f"open{len(pair.left) < 2}")  # noqa: PLR2004
    yield "punct" + "".join(letter for letter in gap if letter in "，。、；：（）《》“”")[:5]
    for side, part in (("L", pair.left), ("M", gap), ("R", pair.right)):
        yield from (f"{side}{sign}" for sign in _SIGNS if sign in part)


def _prefix(one: str, two: str) -> int:
    same = 0
    while same < min(len(one), len(two), _LISTED) and one[same] == two[same]:
        same += 1
    return same


def _common(one: str, two: str) -> int:
    """Return the length of the longest run of characters that both names hold."""
    best, previous = 0, [0] * (len(two) + 1)
    for letter in one:
        row = [0]
        for at, other in enumerate(two):
            row.append(previous[at] + 1 if letter == other else 0)
        best, previous = max(best, *row), row
    return best


def cues(pair: Pair) -> Iterator[str]:
    """Yield what the patterns and cues say of the pair, each with its direction, and the surest of them."""
    if same_name(pair.text, pair.first, pair.second):
        yield "same"
    refs = [
        Ref(f"pair:{name}", pair.first_kind if name == pair.first else pair.second_kind, name, start, end)
        for name, start, end in occurrences(pair.text, pair.first, pair.second)
    ]
    sentence = Sentence(0, len(pair.text), pair.text, tuple(range(len(pair.text) + 1)))
    annotated = Annotated(sentence, tuple(refs), (), tuple(find_quantities(pair.text)))
    said: dict[str, float] = {}
    for claim in claims_between(annotated):
        way = ">" if claim.subject.name == pair.first else "<"
        yield f"{claim.pattern}{way}"
        relation = f"{claim.relation}/{dict(claim.qualifiers).get('form', '')}{way}"
        said[relation] = max(said.get(relation, 0.0), claim.confidence)
    for relation, confidence in said.items():
        yield relation
        if confidence > 0.5:  # noqa: PLR2004 -- a near cue or a strict pattern
            yield f"{relation}+"
    if said:
        best = max(said, key=lambda relation: said[relation])
        yield f"best_{best}"
    else:
        yield "silent"


# The weight of the cues was chosen with the development part of FinRE in sight as well as by folds of its train part.
VIEWS = (
    View(whole),
    View(middle),
    View(left),
    View(right),
    View(first_name),
    View(second_name),
    View(words),
    View(clause),
    View(form, rare_counts=False),
    View(cues, weight=2.0, rare_counts=False),
)
