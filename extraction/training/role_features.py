"""What a tagger of roles looks at in a sentence: words, the names and loose claims in it, the words of relation around.

Features are strings for CRFsuite, one list a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rjieba

from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from extraction.training.role_examples import Mark
    from extraction.training.role_lexicon import Known

LONGEST = 1500  # words of a text that are tagged
_FAR = 12  # words; a trigger further away is far
_TRIGGER = re.compile(
    "从事|主营|主业|业务|板块|产品|品种|包括|涵盖|位于|分布|地处|收购|持有|控股|子公司|全资|参股|投资|出资|设立|股权|与|合作|签订|签署|"
    "协议|应用|用于|属于|行业|领域|产业|服务|经营|开展|生产|销售|研发|制造|拥有|旗下|所属|开发|建设|项目|发展|布局|拓展|品牌|中标|"
    "推出|致力|专注|深耕|打造|形成|为主|方面|市场|客户|区域|地区|省|立足|龙头|企业|公司|在|以|为|围绕|聚焦"
)
_JOINTS = frozenset(["和", "及", "以及", "与", "等"])
_CLAUSE = frozenset("，。；：！？")
_STOPS = _CLAUSE | {"等"}
_LIST = 25  # words from a name to the end of its list
_FIRMS = 4  # of a text, whose order is told
ACTING = "acting"  # the label of a name that is known only by what it does
FIRM_LABELS = frozenset([Kind.COMPANY.value, ACTING])
_NONE = "-"


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

    def features(self, marks: Sequence[Mark], known: Sequence[Known]) -> list[list[str]]:
        """Return the features of every word."""
        out = self._around(marks)
        self._add_readings(out, marks)
        self._add_known(out, known)
        self._add_places(out, marks)
        return [[*features, *self._list_features(at)] for at, features in enumerate(out)]

    def _around(self, marks: Sequence[Mark]) -> list[list[str]]:
        """Return of every word itself, its neighbours, and the names and triggers around."""
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

    def _add_readings(self, out: list[list[str]], marks: Sequence[Mark]) -> None:
        """Add which wording lists a word, and of whom."""
        for mark in marks:
            if mark.read:
                for at, edge in self._edged(mark.start, mark.end):
                    out[at].append(f"pat={mark.read}{edge}")
                for at, edge in self._edged(*mark.owner):
                    out[at].append(f"psub={mark.label}{edge[0]}")

    def _add_known(self, out: list[list[str]], known: Sequence[Known]) -> None:
        """Add what the longest known name over a word is elsewhere."""
        free = [True] * len(self.text)
        surest: dict[str, Known] = {}
        for each in known:
            if each.name not in surest or each.count > surest[each.name].count:
                surest[each.name] = each
        for each in sorted(surest.values(), key=lambda each: (-len(each.name), each.name)):
            for start in each.starts:
                span = slice(start, start + len(each.name))
                if all(free[span]):
                    free[span] = [False] * len(each.name)
                    for at, edge in self._edged(span.start, span.stop):
                        out[at] += [f"g={each.role}{edge}", f"g={each.role}{edge}{_sureness(each.share)}"]

    def _add_places(self, out: list[list[str]], marks: Sequence[Mark]) -> None:
        """Add which firm of the text a word names, whether the word came before, and how far on it stands."""
        firms = sorted((mark.start, mark.end) for mark in marks if mark.label in FIRM_LABELS and not mark.read)
        for order, place in enumerate(firms[:_FIRMS]):
            for at in self.covering(*place):
                out[at].append(f"firm{order}")
        seen: set[str] = set()
        for at, word in enumerate(self.words):
            if len(word) > 1 and word in seen:
                out[at].append("again")
            seen.add(word)
            out[at].append(f"pos{min(at // 8, 6)}")

    def _list_features(self, at: int) -> list[str]:
        """Return what the list around a word opens with and ends in: 「…等产品」, 「主营：…」."""
        end = next((to for to in range(at, min(len(self.words), at + _LIST)) if self.words[to] in _STOPS), None)
        begin = next((to for to in range(at, -1, -1) if self.words[to] in _CLAUSE), -1)
        out = []
        if end is not None and self.words[end] == "等":
            out += [f"etc={_at(self.words, end + 1)}{_at(self.words, end + 2)}", f"etc1={_at(self.words, end + 1)}"]
        else:
            out.append(f"endw={self.words[end - 1]}" if end is not None and end > at else "endself")
        if begin + 1 <= at:
            out.append(f"cl1={self.words[begin + 1]}")
        if begin >= 0 and self.words[begin] == "：":
            out.append(f"colon={_at(self.words, begin - 1)}")
        return out

    def _edged(self, start: int, end: int) -> list[tuple[int, str]]:
        """Return the words over a place, each told whether it begins and whether it ends it."""
        covered = self.covering(start, end)
        return [(at, f"{'B' if at == covered[0] else 'I'}{'E' if at == covered[-1] else ''}") for at in covered]

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


def _sureness(share: float) -> str:
    return "hi" if share > 0.6 else "mid" if share > 0.25 else "lo"  # noqa: PLR2004 -- of the texts that hold a name
