"""Names that mean different things in different chains (硅片 of cells and of chips), by the words around."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from kg.text.lexicon import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CLEAR, _LEAST = 3, 3  # of a whole document: how many times the words of the next sense, and words at all


@cache
def senses() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    """Return the senses of each homonym with the words of their chains."""
    read = read_table(resources.files(__package__).joinpath("homonyms.yaml"))
    return {
        name: {
            sense: re.compile(f"(?:{'|'.join(re.escape(str(word)) for word in words)})+")
            for sense, words in rows.items()
        }
        for name, rows in read.items()
    }


def is_undecided(name: str) -> bool:
    """Whether a name may mean things of different chains and nothing has decided which.

    >>> is_undecided("铜箔"), is_undecided("锂电铜箔"), is_undecided("硅片")
    (True, False, False)
    """
    return name in senses() and name not in senses()[name]


def sense_of(name: str, near: Iterable[str], document: str) -> str:
    """Return what a name means: its sense, or the name itself where the text leaves it open.

    Args:
        name: as written.
        near: the texts around it, the nearest first.
        document: the whole text, which decides only where it is clear.

    >>> sense_of("硅片", ["晶圆厂扩产带动硅片需求"], "")
    '半导体硅片'
    >>> sense_of("铜箔", ["铜箔加工费上涨", "电池材料"], ""), sense_of("铜箔", ["铜箔加工费上涨"], "")
    ('锂电铜箔', '铜箔')
    """
    words = senses().get(name)
    if words is None:
        return name
    for text in near:
        rest = text.replace(name, " ")  # its own name is no evidence: 电池 in 电池片 is
        first, second = _best({sense: len(set(found.findall(rest))) for sense, found in words.items()})
        if first[0] > second[0]:
            return first[1]
    rest = document.replace(name, " ")
    first, second = _best({sense: len(found.findall(rest)) for sense, found in words.items()})
    return first[1] if first[0] >= max(_LEAST, _CLEAR * second[0]) else name


def _best(counts: Mapping[str, int]) -> tuple[tuple[int, str], tuple[int, str]]:
    ranked = sorted(((count, sense) for sense, count in counts.items()), key=lambda row: (-row[0], row[1]))
    return ranked[0], ranked[1] if len(ranked) > 1 else (0, "")
