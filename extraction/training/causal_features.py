"""What a causal model looks at: of a pair of movements its words, place and surroundings; of a character, whose it is.

Features are strings, hashed (CRC-32) into the columns of a linear model, so that nothing but weights is stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from extraction.mentions import word_edges
from extraction.patterns.move_owners import names_in, owners_of, region_of_move
from extraction.patterns.move_pairs import link_moves
from extraction.patterns.moves import find_moves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from extraction.mentions import Lexicon
    from extraction.patterns.move_owners import Name
    from extraction.patterns.move_pairs import Link
    from extraction.patterns.moves import Move
    from extraction.training.causal_examples import Pair

WIDTH = 2**19  # columns of the pair model
LONGEST = 400  # characters of a text in which arguments are sought
_LEAST, _MOST = -4.0, 24  # links weaker than this, or behind the 24 best of a text, are not weighed
_TIES = re.compile(
    "导致|致使|使得|促使|带动|推动|拉动|支撑|刺激|引发|造成|影响|拖累|压制|抑制|打压|提振|推升|推高|助推|由于|因为|因此|因|所以|受益|得益|受|随着|伴随|"
    "主要|原因|使|令|从而|进而|虽然|但|尽管|加之|以及|叠加|同时|而|并|和|及|背景|带来|利好|利空|一方面|预计|将|有望"
)
_STOPS = re.compile("[，。；#、]")
_PARTS = re.compile("[，。；,;：:]")
_BEFORE, _NEAR, _LONG_GAP, _EDGE = 15, 6, 30, 12
_STEPS = (0, 2, 5, 11, 24)


def type_of(move: Move) -> str:
    """Return the name of a movement's type: "price up", "typhoon"."""
    return f"{move.kind} {'up' if move.direction > 0 else 'down'}" if move.direction else move.kind


def pair_of(link: Link) -> Pair:
    """Return the types of a link's two sides."""
    return type_of(link.cause), type_of(link.effect)


@dataclass(frozen=True, slots=True)
class Candidates:
    """A text's movements and the links between them that are worth weighing, the best tied first."""

    text: str
    moves: tuple[Move, ...]
    links: tuple[Link, ...]

    @classmethod
    def of(cls, text: str) -> Candidates:
        """Read a text."""
        moves = find_moves(text)
        links = [link for link in link_moves(text, moves) if link.score > _LEAST][:_MOST]
        return cls(text, tuple(moves), tuple(links))

    def columns(self) -> list[NDArray[np.int64]]:
        """Return of each link the columns of its features, ascending."""
        present = sorted({type_of(move) for move in self.moves})
        return [
            np.unique(np.fromiter((crc32(f.encode()) % WIDTH for f in self._features(rank, present)), dtype=np.int64))
            for rank in range(len(self.links))
        ]

    def _features(self, rank: int, present: Sequence[str]) -> Iterator[str]:
        link, text = self.links[rank], self.text
        first, second = sorted((link.cause, link.effect))
        order = ">" if first is link.cause else "<"
        cause, effect = pair_of(link)
        pair = f"{cause}|{effect}"
        gap, lead = text[first.end : second.start], text[max(0, first.start - _BEFORE) : first.start]
        ties, led = _TIES.findall(gap), _TIES.findall(lead)
        between = sum(first.start < move.start < second.start for move in self.moves)
        same = _owner(text, link.cause) == _owner(text, link.effect)
        yield from (f"p{pair}", f"o{pair}{order}", f"c{cause}", f"e{effect}", f"n{order}{min(between, 5)}")
        yield from (f"d{order}{min(len(gap) // 5, 12)}", f"s{order}{min(len(_STOPS.findall(gap)), 9)}")
        yield from (f"r{min(rank, 12)}", f"w{round(max(_LEAST, link.score))}", f"W{pair}{round(link.score / 2)}")
        yield from (
            f"f{order}{link.cause == self.moves[0]}{link.effect == self.moves[-1]}",
            f"m{min(len(self.moves), 12)}",
        )
        yield from (f"t{link.trigger}{order}", f"T{link.trigger}{pair}{order}", f"q{order}{'|'.join(ties[:3])}")
        yield from (
            f"l{order}{'|'.join(led[-2:])}",
            f"L{order}{(led or [''])[-1]}{(ties or [''])[-1]}",
            f"y{same}{pair}",
        )
        yield from (f"g{order}{tie}" for tie in ties)
        yield from (f"h{order}{tie}" for tie in led)
        yield from (f"G{pair}{tie}{order}" for tie in ties[-2:])
        yield from (f"H{kind}{pair}" for kind in present)
        for name, move, other in (("a", link.cause, effect), ("b", link.effect, cause)):
            yield f"{name}w{text[move.start : move.end]}{other}"
            yield from _grams(text[move.start : move.end], f"{name}i", 1, 2, 3)
            yield from _grams(text[max(0, move.start - _NEAR) : move.start], f"{name}l", 1, 2, 3)
            yield from _grams(text[move.end : move.end + _NEAR], f"{name}r", 1, 2, 3)
        yield from _grams(gap if len(gap) < _LONG_GAP else f"{gap[:_EDGE]}…{gap[-_EDGE:]}", f"z{order}", 2, 3)


def _grams(text: str, name: str, *sizes: int) -> Iterator[str]:
    return (f"{name}{text[at : at + size]}" for size in sizes for at in range(len(text) - size + 1))


def _owner(text: str, move: Move) -> str:
    return text[max(0, move.head[0] - 2) : move.head[0]]


class Characters:
    """The characters of a text as a tagger sees them, for one side of one pair at a time."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.text = text[:LONGEST]
        self.names = names_in(self.text, lexicon)
        self._candidates = Candidates.of(self.text)
        self._edges = _word_places(self.text)
        self._kinds = _spread(self.text, [(name, name.kind.value) for name in self.names])
        self._plain = [self._of_place(at) for at in range(len(self.text))]
        self._part = _counted(self.text)

    def sides(self, pair: Pair) -> tuple[Move | None, Move | None]:
        """Return the two movements a pair of types is read from, None where the text shows none of the type."""
        for link in self._candidates.links:
            if pair_of(link) == pair:
                return link.cause, link.effect
        moves = self._candidates.moves
        cause = next((move for move in moves if type_of(move) == pair[0]), None)
        return cause, next((move for move in reversed(moves) if type_of(move) == pair[1]), None)

    def guess(self, pair: Pair, side: int) -> list[Name]:
        """Return the names the untrained reader gives to a side."""
        move = self.sides(pair)[side]
        return (
            []
            if move is None
            else [*owners_of(self.text, move, self.names), *region_of_move(self.text, move, self.names)]
        )

    def features(self, pair: Pair, side: int) -> list[list[str]]:
        """Return the features of each character for the cause (side 0) or the effect (side 1) of a pair."""
        moves = self.sides(pair)
        mine, other = moves[side], moves[1 - side]
        marked: list[tuple[Name, str]] = []
        for mark, move in (("o", other), ("m", mine)):
            if move is not None:
                marked += [(name, mark) for name in owners_of(self.text, move, self.names)]
                marked += [(name, f"{mark}r") for name in region_of_move(self.text, move, self.names)]
        owned = _spread(self.text, marked)
        own, others = pair[side], pair[1 - side]
        out = []
        for at, plain in enumerate(self._plain):
            kind, edge, whose = self._kinds[at], self._edges[at], owned[at]
            far, off = self._far(at, mine), self._far(at, other)
            part, part_off = self.parts(at, mine), self.parts(at, other)
            out.append(
                [
                    *plain,
                    f"ra{far}",
                    f"r{far}|{off}",
                    f"rk{far}{kind}{edge}",
                    f"s{part}",
                    f"s{part}|{part_off}",
                    f"sk{part}|{part_off}{kind}",
                    f"o{whose}",
                    f"ok{whose}{kind}{edge}",
                    f"os{whose}{part}",
                    f"p{own}{kind}",
                    f"po{own}{whose}",
                    f"pp{own}{others}{whose}",
                    f"d{far}{self.text[at]}",
                ]
            )
        return out

    def kind_at(self, at: int, length: int) -> str:
        """Return the kind of the name that stands at text[at:at + length], or nothing."""
        return next((n.kind.value for n in self.names if n.start == at and n.end == at + length), "")

    def is_word(self, start: int, end: int) -> str:
        """Write whether text[start:end] begins and ends with a word."""
        return f"{self._edges[start] in 'BS':d}{self._edges[end - 1] in 'ES':d}"

    def parts(self, at: int, move: Move | None) -> str:
        """Write how many marks of a clause lie between a movement's word and a place, at most three."""
        return "x" if move is None else str(max(-3, min(3, self._part[at] - self._part[move.head[0]])))

    def _of_place(self, at: int) -> list[str]:
        text = f"###{self.text}###"
        a, b, c, d, e, f = tuple(text[at + 1 : at + 7])
        around = [f"0{c}", f"1{b}", f"2{d}", f"3{a}", f"4{e}", f"5{b}{c}", f"6{c}{d}", f"7{a}{b}", f"8{d}{e}"]
        return [*around, f"9{a}{b}{c}", f"A{c}{d}{e}", f"B{e}{f}", f"w{self._edges[at]}", f"k{self._kinds[at]}"]

    def _far(self, at: int, move: Move | None) -> str:
        if move is None:
            return "x"
        distance = at - move.head[0]
        step = next((index for index, most in enumerate(_STEPS) if abs(distance) <= most), len(_STEPS))
        return f"{'+' if distance > 0 else '-'}{step}"


def _spread(text: str, named: Sequence[tuple[Name, str]]) -> list[str]:
    """Write a mark on every character of a name: B… at its first, I… behind."""
    out = [""] * len(text)
    for name, mark in named:
        for at in range(name.start, name.end):
            out[at] = f"{'B' if at == name.start else 'I'}{mark}"
    return out


def _word_places(text: str) -> list[str]:
    """Return where in its word a character stands: B, I, E, or S alone."""
    edges = word_edges(text)
    return ["SBEI"[(at not in edges) * 2 + (at + 1 not in edges)] for at in range(len(text))]


def _counted(text: str) -> list[int]:
    """Return of each character how many marks of a clause stand before it."""
    marks = np.fromiter((_PARTS.match(letter) is not None for letter in text), dtype=np.int64, count=len(text))
    return [int(count) for count in np.cumsum(marks) - marks]
