"""Which names of a text are the arguments of a cause or an effect: each name is weighed once, wherever it stands.

A tagger of characters must choose one place of a name, and labelled texts do not say which one is meant. Here a name is
a row: how often it was an argument elsewhere, what stands beside its occurrence next to the factor's word, how many
other names are nearer. Three logistic regressions, one a role, on hashed features (CRC-32).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from daachorse import CharwiseDoubleArrayAhoCorasick

from extraction.mentions import shipped_lexicon
from extraction.training.causal_features import Characters
from extraction.training.logistic import log_odds, matrix, weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from extraction.training.causal_examples import Argument, CausalExample, Pair

ROLES = ("product", "region", "industry")
WIDTH = 2**20  # columns of the model of a role
_AFTER = 6  # a name behind its factor's word counts as this many characters further away
_NEVER = -30.0  # log-odds of what no text shows
_STRENGTH = 0.1  # inverse regularisation, by a fifth of the train part held out
_STEPS = (0, 2, 5, 11, 24)


class NameBook:
    """The names that labelled texts use as arguments: in how many texts as what, and in how many they stand at all."""

    def __init__(self, names: Sequence[str], uses: NDArray[np.int32], seen: NDArray[np.int32]) -> None:
        self.names, self.uses, self.seen = list(names), uses, seen
        self._rows = {name: row for row, name in enumerate(self.names)}
        self._finder = CharwiseDoubleArrayAhoCorasick(self.names) if self.names else None

    @classmethod
    def of(cls, examples: Iterable[CausalExample]) -> NameBook:
        """Count the names of labelled texts."""
        examples = list(examples)
        uses: dict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for role, name in {each for sides in example.pairs.values() for side in sides for each in side}:
                uses[name][role] += 1
        names = sorted(name for name in uses if name)
        counted = np.array([[uses[name][role] for role in ROLES] for name in names], dtype=np.int32).reshape(-1, 3)
        book = cls(names, counted, np.zeros(len(names), dtype=np.int32))
        for example in examples:
            for name in book.in_text(example.text):
                book.seen[book._rows[name]] += 1
        return book

    def in_text(self, text: str) -> list[str]:
        """Return the known names that a text holds, sorted."""
        if self._finder is None:
            return []
        return sorted({self.names[row] for _, _, row in self._finder.find_overlapping(text)})

    def record(self, name: str, without: CausalExample | None = None) -> tuple[tuple[int, ...], int]:
        """Return how many texts use a name in each role and how many hold it, without one that is being learnt."""
        row = self._rows.get(name)
        if row is None:
            return (0,) * len(ROLES), 0
        uses, seen = self.uses[row].tolist(), int(self.seen[row])
        if without is not None:
            own = {role for sides in without.pairs.values() for side in sides for role, other in side if other == name}
            uses = [count - (role in own) for count, role in zip(uses, ROLES, strict=True)]
            seen -= name in without.text
        return tuple(uses), seen


@dataclass(frozen=True, slots=True)
class NameModel:
    """Weighs the names of a text; `fitted` are the weights of each role, (roles, WIDTH + 1), the intercepts last."""

    book: NameBook
    fitted: NDArray[np.float32]

    @classmethod
    def fit(cls, examples: Sequence[CausalExample]) -> NameModel:
        """Fit a model on labelled texts; a role that none or all of the names have is never told."""
        book, lexicon = NameBook.of(examples), shipped_lexicon()
        columns: list[NDArray[np.int64]] = []
        labels: list[list[bool]] = []
        for example in examples:
            characters = Characters(example.text, lexicon)
            for pair, sides in sorted(example.pairs.items(), key=lambda item: item[0]):
                for side, arguments in enumerate(sides):
                    names = weighable(characters, pair, side, book=book, without=example)
                    columns += [name.columns for name in names]
                    labels += [[(role, name.name) in arguments for role in ROLES] for name in names]
        rows, wanted = matrix(columns, WIDTH), np.array(labels, dtype=bool).reshape(-1, len(ROLES))
        fitted = np.zeros((len(ROLES), WIDTH + 1), dtype=np.float32)
        fitted[:, -1] = _NEVER
        for role, given in enumerate(wanted.T):
            if given.any() and not given.all():
                fitted[role] = weights(rows, given, _STRENGTH)
        return cls(book, fitted)

    def log_odds(self, characters: Characters, pair: Pair, side: int) -> dict[Argument, float]:
        """Return the log-odds of every role and name of a text for the cause (side 0) or the effect (1) of a pair."""
        return {
            (role, name.name): log_odds(fitted, name.columns)
            for name in weighable(characters, pair, side, book=self.book)
            for role, fitted in zip(ROLES, self.fitted, strict=True)
        }

    def arrays(self) -> dict[str, Any]:
        """Return what `of` makes the model from again."""
        columns = np.flatnonzero(self.fitted.any(axis=0))
        return {
            "names": np.array(self.book.names, dtype=np.str_),
            "name_uses": self.book.uses,
            "name_seen": self.book.seen,
            "name_columns": columns.astype(np.int32),
            "name_values": self.fitted[:, columns],
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> NameModel:
        """Make a model of its arrays, whatever stands beside them."""
        fitted = np.zeros((len(ROLES), WIDTH + 1), dtype=np.float32)
        fitted[:, arrays["name_columns"]] = arrays["name_values"]
        return cls(NameBook(arrays["names"].tolist(), arrays["name_uses"], arrays["name_seen"]), fitted)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A name of a text and the columns of its features for one side of one pair."""

    name: str
    columns: NDArray[np.int64]


def weighable(
    characters: Characters, pair: Pair, side: int, *, book: NameBook, without: CausalExample | None = None
) -> list[Weighed]:
    """Return the names that may be arguments of a side of a pair: known from labelled texts, or to the reader."""
    records = {name: book.record(name, without) for name in book.in_text(characters.text)}
    names = {name for name, (uses, _) in records.items() if any(uses)}
    names |= {characters.text[name.start : name.end] for name in characters.names}
    guesses = [{characters.text[n.start : n.end] for n in characters.guess(pair, which)} for which in (side, 1 - side)]
    names |= guesses[0] | guesses[1]
    moves = characters.sides(pair)
    heads = [move.head[0] if move else None for move in (moves[side], moves[1 - side])]
    places = {name: _places(characters.text, name) for name in names if name}
    nearest = {name: _nearest(at, heads[0]) for name, at in places.items() if at}
    ranked = sorted(nearest, key=lambda name: (_distance(nearest[name], heads[0]), -len(name), name))
    cover = _covers(nearest, places)
    out = []
    for rank, name in enumerate(ranked):
        record = records.get(name) or book.record(name, without)
        facts = {
            "rate": _rates(*record),
            "guess": f"{name in guesses[0]:d}{name in guesses[1]:d}",
            "rank": str(min(rank, 6)),
            "cover": _rates(*(records.get(cover[name]) or book.record(cover[name], without))) if name in cover else "",
            "kind": characters.kind_at(nearest[name], len(name)),
            "far": _step(nearest[name], heads[0]),
            "off": _step(_nearest(places[name], heads[1]), heads[1]),
            "parts": characters.parts(nearest[name], moves[side]) + characters.parts(nearest[name], moves[1 - side]),
            "count": str(min(len(places[name]), 4)),
        }
        strings = _features(characters, pair, side, name, nearest[name], facts)
        out.append(Weighed(name, np.unique(np.fromiter((crc32(f.encode()) % WIDTH for f in strings), dtype=np.int64))))
    return out


def _features(
    characters: Characters, pair: Pair, side: int, name: str, at: int, facts: Mapping[str, str]
) -> Iterator[str]:
    text, own, other = characters.text, pair[side], pair[1 - side]
    end = at + len(name)
    rate, guess, rank, kind, far, parts = (facts[key] for key in ("rate", "guess", "rank", "kind", "far", "parts"))
    yield from (f"{key}:{value}" for key, value in facts.items())
    yield from (f"n{name}", f"N{name}{own}", f"l{min(len(name), 6)}", f"e{name[-1]}", f"E{name[-2:]}", f"b{name[0]}")
    yield from (f"rg{rate}{guess}", f"rr{rate}{rank}", f"rk{rate}{kind}", f"gk{guess}{kind}", f"gr{guess}{rank}")
    yield from (f"rf{rate}{far}", f"gp{guess}{parts}", f"rp{rate}{parts}", f"rgr{rate}{guess}{rank}")
    yield from (f"rgp{rate}{guess}{parts}", f"fo{far}{facts['off']}", f"co{facts['cover']}{rate}{guess}")
    yield from (
        f"og{own}{guess}",
        f"or{own}{rate}",
        f"ok{own}{kind}",
        f"orr{own}{rank}{rate}",
        f"oo{own}{other}{guess}",
    )
    yield from (f"of{own}{far}", f"oc{own}{kind}{guess}", f"cr{facts['count']}{rate}{guess}")
    before, behind = f"##{text[max(0, at - 2) : at]}"[-2:], f"{text[end : end + 2]}##"[:2]
    yield from (f"L{before[1]}", f"LL{before}", f"R{behind[0]}", f"RR{behind}", f"LR{before[1]}{behind[0]}")
    yield from (f"Rg{behind[0]}{guess}", f"Lg{before[1]}{guess}", f"w{characters.is_word(at, end)}{rate}")


def _places(text: str, name: str) -> list[int]:
    places, at = [], text.find(name)
    while at >= 0:
        places.append(at)
        at = text.find(name, at + 1)
    return places


def _distance(at: int, head: int | None) -> int:
    return at if head is None else head - at if at <= head else 2 * (at - head) + _AFTER


def _nearest(places: Sequence[int], head: int | None) -> int:
    return min(places, key=lambda at: _distance(at, head))


def _step(at: int, head: int | None) -> str:
    if head is None:
        return "x"
    step = next((index for index, most in enumerate(_STEPS) if abs(at - head) <= most), len(_STEPS))
    return f"{'+' if at > head else '-'}{step}"


def _covers(nearest: Mapping[str, int], places: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return of each name the longest other one that it is a part of at its nearest place."""
    out: dict[str, str] = {}
    longest_first = sorted(nearest, key=lambda name: (-len(name), name))
    for name, at in nearest.items():
        for other in longest_first:
            if len(other) <= len(name):
                break
            if any(place <= at and at + len(name) <= place + len(other) for place in places[other]):
                out[name] = other
                break
    return out


def _rates(uses: Sequence[int], seen: int) -> str:
    """Write how often a name is an argument in each role, in eighths of the texts with it, and how sure that is."""
    if not seen:
        return "-"
    shares = "".join(str(round(8 * count / seen)) for count in uses)
    return f"{shares}{'s' if seen > 20 else 'm' if seen > 4 else 'f'}"  # noqa: PLR2004 -- often, some, few
