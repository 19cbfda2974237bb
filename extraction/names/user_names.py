"""The user's own names and synonyms over the shipped gazetteer: one YAML file, named by the setting `names`.

    company:
      某某新材料有限公司: [某某新材, 某新]
    product:
      锂电池: [锂离子电池, 锂离子蓄电池]

Kind, then canonical name, then its other spellings. A name the gazetteer knows keeps what it knows of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from extraction.names.gazetteer import Lexicon, Term, shipped_gazetteer, shipped_lexicon
from kg.errors import SettingsError
from kg.model import Kind
from kg.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SHORTEST = 2


@cache
def lexicon_with(names: Path | None) -> Lexicon:
    """Return the shipped gazetteer, with the user's names laid over it where there are any.

    Raises:
        SettingsError: the file cannot be read, or a line of it is not kind → name → spellings.
    """
    if names is None:
        return shipped_lexicon()
    shipped = shipped_gazetteer()
    own = dict(_terms(_read(names), shipped.terms))
    return Lexicon(
        replace(
            shipped, terms={**shipped.terms, **own}, never=shipped.never - own.keys(), weak=shipped.weak - own.keys()
        )
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        table = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise SettingsError("names", f"{path} cannot be read: {fault}".replace("\n", " ")) from fault
    if not isinstance(table, dict):
        raise SettingsError("names", f"{path} is no table of kind → name → spellings")
    return table


def _terms(table: dict[str, Any], known: Any) -> Iterator[tuple[str, Term]]:
    for kind_name, entries in table.items():
        if kind_name not in set(Kind):
            raise SettingsError("names", f"{kind_name!r} is no kind of entity; the kinds are {', '.join(Kind)}")
        if not isinstance(entries, dict):
            raise SettingsError("names", f"below {kind_name} there must be name: [spelling, …]")
        for name, spellings in entries.items():
            others = spellings or []
            if not isinstance(others, list) or not all(isinstance(each, str) for each in (name, *others)):
                raise SettingsError("names", f"{kind_name}: {name!r}: give a list of spellings, or []")
            term = known.get(name)
            if term is None or term.kind != kind_name:
                term = Term(name, Kind(kind_name))
            for spelling in (name, *others):
                if len(spelling) < _SHORTEST:
                    raise SettingsError("names", f"{kind_name}: {spelling!r} is too short to be looked for")
                yield simplified(spelling), term
