"""Extend the shipped gazetteer with the user's names and synonyms from the YAML file in setting `names`.

    company:
      某某新材料有限公司: [某某新材, 某新]
    product:
      锂电池: [锂离子电池, 锂离子蓄电池]

The structure is kind → canonical name → other spellings. A name already in the gazetteer keeps its attributes.
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

_MIN_LENGTH = 2


@cache
def lexicon_with(names: Path | None) -> Lexicon:
    """Return the shipped gazetteer, extended with the user's names if a file is given.

    Raises:
        SettingsError: the file cannot be read, or an entry is not kind → name → spellings.
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
        raise SettingsError("names", f"{path} must be a mapping of kind → name → spellings")
    return table


def _terms(table: dict[str, Any], known: Any) -> Iterator[tuple[str, Term]]:
    for kind_name, entries in table.items():
        if kind_name not in set(Kind):
            raise SettingsError("names", f"{kind_name!r} is not an entity kind; use one of {', '.join(Kind)}")
        if not isinstance(entries, dict):
            raise SettingsError("names", f"entries under {kind_name} must have the form name: [spelling, …]")
        for name, spellings in entries.items():
            others = spellings or []
            if not isinstance(others, list) or not all(isinstance(each, str) for each in (name, *others)):
                raise SettingsError("names", f"{kind_name}: {name!r}: spellings must be a list of strings, or []")
            term = known.get(name)
            if term is None or term.kind != kind_name:
                term = Term(name, Kind(kind_name))
            for spelling in (name, *others):
                if len(spelling) < _MIN_LENGTH:
                    raise SettingsError(
                        "names", f"{kind_name}: {spelling!r} is too short; use at least {_MIN_LENGTH} characters"
                    )
                yield simplified(spelling), term
