"""What a tagger of roles looks at in a sentence: words, the names and loose claims in it, the words of relation around.

Features are strings for CRFsuite, one list a word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rjieba

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST = 1500  # words of a text that are tagged
_FAR = 12  # words; a trigger further away is far
_TRIGGER = re.compile(
    "从事|主营|主业|业务|板块|产品|品种|包括|涵盖|位于|分布|地处|收购|持有|控股|子公司|全资|参股|投资|出资|设立|股权|与|合作|签订|签署|"
    "协议|应用|用于|属于|行业|领域|产业|服务|经营|开展|生产|销售|研发|制造|拥有|旗下|所属|开发|建设|项目|发展|布局|拓展|品牌|中标|"
    "推出|致力|专注|深耕|打造|形成|为主|方面|市场|客户|区域|地区|省|立足|龙头|企业|公司|在|以|为|围绕|聚焦"
)
_JOINTS = frozenset(["和", "及", "以及", "与", "等"])
_NONE = "-"


@dataclass(frozen=True, slots=True)
class Mark:
    """What is known of text[start:end] before tagging: a name's kind, or the pattern that reads it as an object."""

    start: int
    end: int
    label: str
    read: bool = False  # a reading of a pattern, else a name


@dataclass(frozen=True, slots=True)
class Words:
    """A text's words with their places."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Words:
        """Cut a text; what is longer than LONGEST words is left out."""
        tokens = [(word, start) for word, start, _ in rjieba.tokenize(text, "default", hmm=False)][:LONGEST]
        return cls(text, tuple(word for word, _ in tokens), tuple(start for _, start in tokens))

    def end(self, at: int) -> int:
        """Return where a word ends."""
        return self.starts[at] + len(self.words[at])

    def covering(self, start: int, end: int) -> range:
        """Return the words that lie in or over text[start:end]."""
        inside = [at for at in range(len(self.words)) if self.starts[at] < end and self.end(at) > start]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def features(self, marks: Sequence[Mark]) -> list[list[str]]:
        """Return the features of every word."""
        names, readings = self._marked(marks)
        behind, ahead = self._triggers()
        joints = _next(self.words, _is_joint)
        out: list[list[str]] = []
        before = _NONE
        for at, word in enumerate(self.words):
            (last, second, distance), coming = behind[at], ahead[at]
            out.append(
                [
                    *self._lexical(at),
                    *(f"k{step}={_at(names, at + step)}" for step in (-2, -1, 0, 1, 2)),
                    *(f"c{step}={_at(readings, at + step)}" for step in (-1, 0, 1)),
                    *(f"lt={last}", f"lt2={second}|{last}", f"ltd={last}{distance}", f"nt={coming}"),
                    *(f"lnt={last}|{coming}", f"ltk={last}{names[at]}", f"ntk={coming}{names[at]}"),
                    *(f"np={joints[at]}", f"pp={before}", f"pnp={before}{joints[at]}"),
                    f"all={before}{last}{coming}{joints[at]}",
                ]
            )
            before = word if _is_joint(word) else before
        return out

    def _lexical(self, at: int) -> list[str]:
        word = self.words[at]
        around = {step: _at(self.words, at + step) for step in (-3, -2, -1, 1, 2, 3)}
        return [
            *("b", f"w={word}", f"s={_shape(word)}", f"e={word[-1]}", f"f={word[0]}"),
            *(f"w{step}={other}" for step, other in around.items()),
            *(f"p={around[-1]}|{word}", f"n={word}|{around[1]}"),
            *(f"nn={around[1]}|{around[2]}", f"pp={around[-2]}|{around[-1]}"),
        ]

    def _marked(self, marks: Sequence[Mark]) -> tuple[list[str], list[str]]:
        names, readings = [_NONE] * len(self.words), [_NONE] * len(self.words)
        for mark in marks:
            for at in self.covering(mark.start, mark.end):
                if mark.read:
                    readings[at] = mark.label
                else:
                    names[at] = f"{mark.label}{'B' if self.starts[at] <= mark.start else 'I'}"
        return names, readings

    def _triggers(self) -> tuple[list[tuple[str, str, int]], list[str]]:
        """Return of each word the two last triggers before it, the nearer's distance, and the next."""
        behind: list[tuple[str, str, int]] = []
        last = second = _NONE
        distance = 0
        for word in self.words:
            behind.append((last, second, min(distance, _FAR) // 3))
            trigger = _TRIGGER.search(word)
            if word in "。；！":
                last, second, distance = _NONE, _NONE, 0
            elif trigger:
                last, second, distance = trigger[0], last, 0
            else:
                distance += 1
        ahead = _next([_ahead(word) for word in self.words], bool)
        return behind, ahead


def _ahead(word: str) -> str:
    trigger = _TRIGGER.search(word)
    return word if word in "。；！，" else trigger[0] if trigger else ""


def _next(words: Sequence[str], counts: Callable[[str], bool]) -> list[str]:
    """Return of each place the next word behind it that counts."""
    out = [_NONE] * len(words)
    following = _NONE
    for at in range(len(words) - 1, -1, -1):
        out[at] = following
        if counts(words[at]):
            following = words[at]
    return out


def _is_joint(word: str) -> bool:
    return not word[0].isalnum() or word in _JOINTS


def _at(values: Sequence[str], at: int) -> str:
    return values[at] if 0 <= at < len(values) else "#"


def _shape(word: str) -> str:
    if word[0].isdigit():
        return "D"
    if word.isascii() and word.isalnum():
        return "A"
    return f"C{min(len(word), 4)}" if word[0].isalnum() else "P"


def grouped(spans: Sequence[tuple[str, int, int]]) -> dict[str, list[tuple[int, int]]]:
    """Return the places of each role, in order."""
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for role, start, end in spans:
        for part in role.split("+"):
            places[part].append((start, end))
    return places
