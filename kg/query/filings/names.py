"""Which companies a question names: by registered and other names, tickers and initials.

A part of a name counts as well (Lockheed, Air Products), but not where another proper name is joined to it: JP Morgan
is not Morgan Stanley.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from kg.filing import company_key
from kg.query.filings.lexicon import lexicon
from kg.text.lexicon import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kg.filing import Filing

# Words that follow a company's own name, and first words that name nobody alone.
_SOFT = re.compile(
    r"\b(?:communications|international|enterprises|resorts|brands|platforms|services|systems|laboratories"
    r"|technologies|stores|industries|worldwide|com|health|beauty|financial|entertainment|works|electric)\b"
)
_COMMON = frozenset(
    "american general united first national international global best old western southern northern new bank us".split()  # noqa: SIM905 -- words read best as words
)
_NO_TICKERS = frozenset("us uk eu fy rd it pe ev ai ar ap".split())  # noqa: SIM905 -- words read best as words
_JOINING = frozenset({"and", "the", "of"})
_POSSESSIVE = re.compile("['’]s\\b")
_SCRIPTS = re.compile(
    r"(?<=[\u4e00-\u9fff])(?=[A-Za-z\d])|(?<=[A-Za-z\d])(?=[\u4e00-\u9fff])|(?<=[A-Za-z])(?=20\d\d(?!\d))"
)
_JOINED_BEFORE = re.compile(r"([A-Z][\w&.]*)[ -]$")
_JOINED_AFTER = re.compile(r"[ -]([A-Z][a-z]{2,})")
_ALIKE = 92  # ratio of two spellings of one name
_NEAR = 90  # ratio of a name and a part of the question
_LEAST_NAME = 5  # letters of a name that may be misspelt, or written without blanks
_LEAST_WORD = 4  # letters of a first word that names a company alone
_TICKER = 3
_WORDS_TOO = frozenset(("block", "chase", "coke", "meta", "square"))  # names that are words: with a capital letter only
_EXACT, _COMPACT, _PART, _FUZZY = 1.0, 0.9, 0.8, 0.7
SURE = _PART  # how surely a company must be named for a value
_MARGIN = 0.08  # names this close to the best are kept as well


def names_of(filing: Filing) -> Iterator[str]:
    """Yield what a company is called: its name with and without soft words, in use, its tickers, its initials."""
    key = company_key(filing.company)
    if key:
        yield from (key, short_key(key), *in_use(key))
        yield " ".join(word if word in _JOINING else word[0] for word in key.split()) if " and " in key else key
    words = [word for word in re.findall(r"[A-Za-z0-9]+", filing.company) if word.casefold() not in _JOINING]
    if len(words) >= _TICKER:
        yield "".join(word[0] for word in words).casefold()
    for code in filing.codes:
        ticker = code.partition(".")[0].casefold()
        if len(ticker) >= _TICKER or (ticker.isalpha() and ticker not in _NO_TICKERS and len(ticker) == _TICKER - 1):
            yield ticker


def short_key(key: str) -> str:
    """Return a key without the words that follow a company's own name."""
    short = " ".join(_SOFT.sub(" ", key).split())
    return short if len(short) >= _TICKER and short not in _COMMON else key


def is_same(shorter: str, longer: str) -> bool:
    """Return whether two keys are spellings of one company."""
    begins = len(shorter) >= _LEAST_WORD and shorter not in _COMMON and longer.startswith(f"{shorter} ")
    if begins and not _SOFT.sub("", longer[len(shorter) :]).strip():
        return True
    one, other = short_key(shorter).replace(" ", ""), short_key(longer).replace(" ", "")
    return one == other or fuzz.ratio(shorter, longer) >= _ALIKE


def in_use(key: str) -> tuple[str, ...]:
    """Return the other names of a company, by the key of its registered one."""
    return _other_names().get(key, ())


@cache
def _other_names() -> dict[str, tuple[str, ...]]:
    table = read_table(resources.files(__package__).joinpath("names.yaml"))
    return {company_key(name): tuple(map(company_key, others)) for name, others in table.items()}


class CompanyNames:
    """The names of companies, each a group of filings."""

    def __init__(self, names: Mapping[int, Iterable[str]]) -> None:
        self._names = {group: sorted(set(own)) for group, own in names.items()}
        begins = defaultdict[str, set[int]](set)
        for group, own in self._names.items():
            for words in map(str.split, own):
                begins[words[0]].add(group)
                if len(words) > 2 and words[1] not in _JOINING:  # noqa: PLR2004 - American Water Works
                    begins[" ".join(words[:2])].add(group)
        self._begins = defaultdict[int, list[str]](list)
        for part, groups in begins.items():
            if len(groups) == 1 and len(part) >= _LEAST_WORD and part not in _COMMON:
                self._begins[next(iter(groups))].append(part)

    def words_of(self, group: int) -> set[str]:
        """Return the words of a company's names."""
        return {word for name in self._names[group] for word in name.split()}

    def named(self, question: str) -> dict[int, float]:
        """Return the groups that a question names, with how surely; those much less sure than the best are left out.

        A name within the longer name of another company is not named: the Morgan of JP Morgan.
        """
        asked = _Asked(_SCRIPTS.sub(" ", question))
        found = {group: hit for group in self._names if (hit := self._hit(group, asked))}
        apart = {
            group: score
            for group, (score, text) in found.items()
            if not any(f" {text} " in f" {other} " and text != other for _, other in found.values())
        }
        best = max(apart.values(), default=0.0)
        return {group: score for group, score in apart.items() if score >= best - _MARGIN}

    def _hit(self, group: int, asked: _Asked) -> tuple[float, str] | None:
        """Return how surely a question names a company, and the words that do; longer names are surer."""
        hits = [hit for name in self._names[group] if (hit := asked.hit(name))]
        hits += [(_PART, part) for part in self._begins[group] if asked.has_part(part, self.words_of(group))]
        return max(hits, default=None)


class _Asked:
    """A question as names are looked for in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        keys = (company_key(text), company_key(_POSSESSIVE.sub("", text)))
        self._plain = f" {' | '.join(keys)} "
        tokens = self._plain.split()
        self._joined = {one + other: f"{one} {other}" for one, other in pairwise(tokens)}
        self._words = {word: word for word in tokens} | self._joined
        self._spoken = {word.casefold() for word in re.findall(r"\b[A-Z]{2,5}\b", text)}

    def hit(self, name: str) -> tuple[float, str] | None:
        """Return how surely a name is in the question, and the words that it is there."""
        tight = name.replace(" ", "")
        if name in _WORDS_TOO and not re.search(rf"\b{name.capitalize()}\b", self._text):
            return None
        written = f" {name} " in self._plain and not (name.isalpha() and name.isascii() and len(name) < _TICKER)
        if written or name in self._spoken or (not name.isascii() and name in self._plain):
            return _EXACT + len(name) / 1000, name
        if len(name) >= _LEAST_NAME and tight in self._words:
            return _COMPACT + len(name) / 1000, self._words[tight]
        part = next((word for word in self._words if len(word) >= _LEAST_NAME and _shortens(word, tight)), "")
        if part:
            return _PART, self._words[part]
        if len(name) >= _LEAST_NAME and fuzz.partial_ratio(name, self._plain) >= _NEAR:
            return _FUZZY, name
        return None

    def has_part(self, part: str, own: set[str]) -> bool:
        """Return whether the question has the beginning of a name, no other proper name joined to it."""
        if part in self._joined:
            return True
        if f" {part} " not in self._plain:
            return False
        found = list(re.finditer(rf"(?<![\w]){re.escape(part)}(?![\w])", self._text, re.IGNORECASE))
        return not found or any(not self._is_joined(match, own) for match in found)

    def _is_joined(self, match: re.Match[str], own: set[str]) -> bool:
        before = _JOINED_BEFORE.search(self._text, 0, match.start())
        if before and not _is_plain(before[1], own):
            return True
        after = _JOINED_AFTER.match(self._text, match.end())
        asked = after and any(each.asks.match(self._text, after.start(1)) for each in lexicon().indicators)
        return bool(after and not asked and not _is_plain(after[1], own))


def _is_plain(word: str, own: set[str]) -> bool:
    """Return whether a capitalised word says nothing of whose name it is part of."""
    key = company_key(word)
    return word.casefold() in lexicon().empty or not key or key in own or bool(_SOFT.fullmatch(key))


def _shortens(word: str, name: str) -> bool:
    """Return whether a word is most of a name that is one word: Pepsi, PepsiCo."""
    return name.startswith(word) and len(word) >= 0.7 * len(name)
