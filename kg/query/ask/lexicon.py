"""The words of questions, read from lexicon.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml


@dataclass(frozen=True, slots=True)
class Operation:
    """What a question does; `states` are words that a sentence which answers it uses.

    With `only`, nothing else may be asked: 「产业链哪个环节最赚钱」 does not ask for the chain.
    """

    name: str
    asks: re.Pattern[str]
    states: tuple[str, ...]
    names: int = 0  # of entities that it needs at least
    value: bool = False
    only: re.Pattern[str] | None = None

    def fits(self, rest: str) -> bool:
        """Whether a question without its names asks for this."""
        return bool(self.asks.search(rest)) and not (self.only and self.only.sub("", rest).strip())


@dataclass(frozen=True, slots=True)
class Aspect:
    """A relation that is asked for, and whether the named entity is its subject.

    `also` are further relations that answer; `companies` says that only companies do.
    """

    name: str
    relation: str
    subject: bool
    asks: re.Pattern[str]
    states: tuple[str, ...]
    also: tuple[str, ...] = ()
    companies: bool = False


@dataclass(frozen=True, slots=True)
class QuestionLexicon:
    """All words of questions; `synonyms` leads from a word to all that say the same, itself included."""

    operations: tuple[Operation, ...]
    aspects: tuple[Aspect, ...]
    value: re.Pattern[str]
    when: re.Pattern[str]
    lists: re.Pattern[str]
    elsewhere: re.Pattern[str]
    implied: dict[str, re.Pattern[str]]
    synonyms: dict[str, tuple[str, ...]]
    spoken: dict[str, tuple[str, ...]]
    moved: re.Pattern[str]
    bare: re.Pattern[str]
    moves: dict[str, tuple[str, ...]]
    empty: frozenset[str]

    @property
    def phrases(self) -> tuple[str, ...]:
        """Synonyms that segmentation would take apart: gross margin, H股."""
        return tuple(each for each in self.synonyms if each[0].isascii() and (" " in each or not each[-1].isascii()))

    @property
    def relational(self) -> frozenset[str]:
        """Words that say how things are related, or ask for themes; a question does not name anything by them."""
        themes = (word for each in self.operations if each.name == "themes" for word in each.states)
        return frozenset((*themes, *(word for aspect in self.aspects for word in aspect.states)))


@cache
def lexicon() -> QuestionLexicon:
    """Return the shipped lexicon."""
    text = resources.files(__package__).joinpath("lexicon.yaml").read_text(encoding="utf-8")
    read = yaml.load(text, Loader=yaml.CSafeLoader)
    synonyms: dict[str, tuple[str, ...]] = {}
    for group in read["synonyms"]:
        for word in group:
            synonyms[str(word).lower()] = tuple(dict.fromkeys((*synonyms.get(str(word).lower(), ()), *map(str, group))))
    return QuestionLexicon(
        operations=tuple(
            Operation(
                name,
                _pattern(row["asks"]),
                tuple(row["states"]),
                row.get("names", 0),
                row.get("value", False),
                _pattern(row["only"]) if "only" in row else None,
            )
            for name, row in read["operations"].items()
        ),
        aspects=tuple(
            Aspect(
                name,
                row["relation"],
                row["subject"],
                _pattern(row["asks"]),
                tuple(row["states"]),
                tuple(row.get("also", ())),
                row.get("companies", False),
            )
            for name, row in read["aspects"].items()
        ),
        value=_pattern(read["value"]),
        when=_pattern(read["when"]),
        lists=_pattern(read["lists"]),
        elsewhere=_pattern(read["elsewhere"]),
        implied={measure: _pattern(asks) for measure, asks in read["implied"].items()},
        synonyms=synonyms,
        spoken={str(said).lower(): _names(meant) for said, meant in read["spoken"].items()},
        moved=_pattern(read["moved"]),
        bare=_pattern(read["bare"]),
        moves={str(name): tuple(both) for name, both in read["moves"].items()},
        empty=frozenset(read["empty"].split()),
    )


def _names(meant: str | list[str]) -> tuple[str, ...]:
    return tuple(meant) if isinstance(meant, list) else (str(meant),)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
