"""The words of words.yaml as patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

from kg.query.ask.lexicon import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FILLERS = (
    "了 约 近 为 达 超过 超 逾 至 到 约为 分别 再 幅度 大幅 小幅 进一步 整体 均 共 合计 不 "
    "by to of at about around some nearly roughly was is up down"
)
_FILLER = rf"(?:{'|'.join(_FILLERS.split())}|[ :(=])"


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """What the check of sentences knows of words; docs of each group are in words.yaml."""

    rises: re.Pattern[str]
    falls: re.Pattern[str]
    rises_before: re.Pattern[str]
    falls_before: re.Pattern[str]
    rises_after: re.Pattern[str]
    falls_after: re.Pattern[str]
    certainty: Mapping[str, re.Pattern[str]]
    settled: re.Pattern[str]
    held_after: re.Pattern[str]
    absolute: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    denies: re.Pattern[str]
    denied_not: re.Pattern[str]
    instructs: re.Pattern[str]
    absent: re.Pattern[str]
    number: re.Pattern[str]
    scales: Mapping[str, float]
    units: Mapping[str, tuple[str, float]]
    per: Mapping[str, str]
    same: Mapping[str, tuple[str, ...]]
    english: re.Pattern[str]
    passed: re.Pattern[str]
    basis: tuple[frozenset[str], ...]
    measures: tuple[tuple[str, ...], ...]


@cache
def claim_words() -> ClaimWords:
    """Read words.yaml."""
    read = yaml.load(resources.files(__package__).joinpath("words.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    rises, falls = _any(read["rises"].split()), _any(read["falls"].split())
    nouns = {way: _any(words.split()) for way, words in read["nouns"].items()}
    same = _same(read["same"])
    return ClaimWords(
        rises=re.compile(rises),
        falls=re.compile(falls),
        rises_before=re.compile(rf"(?:{rises}|{nouns['rises']}){_FILLER}{{0,4}}$"),
        falls_before=re.compile(rf"(?:{falls}|{nouns['falls']}){_FILLER}{{0,4}}$"),
        rises_after=re.compile(rf"(?:的| )(?:{rises}|{nouns['rises']})"),
        falls_after=re.compile(rf"(?:的| )(?:{falls}|{nouns['falls']})"),
        certainty={name: re.compile(pattern, re.IGNORECASE) for name, pattern in read["certainty"].items()},
        settled=re.compile(read["settled"]),
        held_after=re.compile(read["held_after"]),
        absolute=tuple((re.compile(claimed), re.compile(stated)) for claimed, stated in read["absolute"]),
        denies=re.compile(_any(read["denies"].split())),
        denied_not=re.compile(read["denied_not"]),
        instructs=re.compile(read["instructs"], re.IGNORECASE),
        absent=re.compile(read["absent"], re.IGNORECASE),
        number=_number(read),
        scales=read["scales"],
        units={word: (family, worth) for family, words in read["units"].items() for word, worth in words.items()},
        per=read["per"],
        same=same,
        english=_english(same),
        basis=tuple(frozenset(words) for words in read["basis"]),
        measures=tuple(same.get(word, (word,)) for word in read["measures"]),
        passed=re.compile(_any(read["passed"].split())),
    )


def _number(read: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a number with the scale, unit and divisor behind it, and a currency sign before it."""
    units = [word for words in read["units"].values() for word in words]
    signs = [word for word in units if word.endswith("$") or word in ("€", "usd", "cny", "rmb", "hkd", "eur")]
    return re.compile(
        rf"(?P<before>(?:{_any(signs)}) ?)?(?<![\d.])(?P<n>\d+(?:\.\d+)?)[余多]?"
        rf"(?P<scale> ?(?:{_any(read['scales'])}))?"
        rf"(?P<unit> ?(?:{_any(units)}))?(?:(?<=\S)(?:/| per | a )(?P<per>{_any(read['per'])}))?"
    )


def _english(same: Iterable[str]) -> re.Pattern[str]:
    """Return the English words and phrases that have a Chinese equal, the longest first, in either number."""
    spelled = sorted((word for word in same if word.isascii() and not word.isdecimal()), key=lambda w: (-len(w), w))
    return re.compile(rf"(?<![a-z])(?P<word>{'|'.join(map(re.escape, spelled))})(?:e?s|ed|ing)?(?![a-z])")


def _any(words: Iterable[str]) -> str:
    """Return words as alternatives, the longest first; a word of letters is matched as a whole."""
    spelled = sorted(set(map(str, words)), key=lambda word: (-len(word), word))
    return "|".join(
        rf"(?<![a-z]){re.escape(word)}(?![a-z])" if word.isascii() and word.isalpha() else re.escape(word)
        for word in spelled
    )


def _same(groups: Iterable[list[str]]) -> dict[str, tuple[str, ...]]:
    """Return each word with all that mean the same: those of questions too."""
    found = {word: tuple(each.lower() for each in words) for word, words in lexicon().synonyms.items()}
    for group in groups:
        lowered = tuple(str(word).lower() for word in group)
        for word in lowered:
            found[word] = tuple(dict.fromkeys((*lowered, *found.get(word, ()))))
    return found
