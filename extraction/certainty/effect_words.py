"""The words of directions and effects, compiled from lexicon/effects.yaml."""

from __future__ import annotations

import re

from extraction.text.lexicon import table
from kg.text.lexicon import compiled

_TABLE = table("effects")
PHRASES = compiled(_TABLE["phrases"])


def _one_of(section: str, end: str = "") -> re.Pattern[str]:
    rows = _TABLE[section].items()
    return re.compile("|".join(f"(?P<{name.replace(' ', '_')}>{entry['pattern']}){end}" for name, entry in rows))


def _text(section: str, name: str) -> str:
    pattern: str = _TABLE[section][name]["pattern"]
    return pattern


LEAD = _text("verbs", "lead")
RISE, FALL = _text("moves", "rise"), _text("moves", "fall")
LOSES = _text("verdicts", "loses")
MOVES = _one_of("moves")
MOVES_BEFORE = _one_of("moves_before", "$")
TURNS = _one_of("turns")
SCARCITY = _one_of("scarcity")
UNCLEAR = _one_of("unclear")
CALLED_OFF = _one_of("called_off")
CALLED_OFF_BEFORE = _one_of("called_off_before", "$")
AVERTED_BEFORE = _one_of("averted_before", "$")
SWAYED_BEFORE = _one_of("swayed_before", "$")
STEPS = _one_of("verbs")
MEASURES = _one_of("measures")
VERDICTS = _one_of("verdicts")
BURDEN = re.compile(_text("measures", "burden"))
# a move of a measure behind its name; 承压 and the like are falls
_BETTER = _text("betterment", "better")
MEASURE_MOVES = re.compile(rf"[^，；、]{{0,8}}?(?:(?P<better>{_BETTER})|(?P<rise>{RISE})|(?P<fall>{FALL}|{LOSES}))")
MOVED_MEASURE = re.compile(
    rf"(?:{_text('measures', 'gain')}|{_text('measures', 'burden')})[^、]{{0,6}}(?:{RISE}|{FALL})、?$"
)
OWNED = _one_of("owned")
OWNED_MEASURES = {name.replace(" ", "_"): (row["head"], row["move"]) for name, row in _TABLE["owned"].items()}
