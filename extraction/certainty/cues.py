"""The modality and negation cues of lexicon/cues.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass

from extraction.text.lexicon import table
from kg.model import Modality
from kg.text.regex_prefilter import Prefiltered


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue that sets the modality of the text after it; `hedge` marks weakening words."""

    name: str
    pattern: str
    example: str
    modality: Modality
    hedge: bool = False


_TABLE = table("cues")
_PHRASES = {name: re.compile(pattern) for name, pattern in _TABLE["phrases"].items()}
CUES = tuple(
    Cue(name, cue["pattern"], cue["example"], Modality(cue["modality"]), cue.get("hedge", False))
    for name, cue in _TABLE["cues"].items()
)
# name, pattern, example; each must precede the claim in its clause, or its verb inside the claim
NEGATIONS = tuple((name, entry["pattern"], entry["example"]) for name, entry in _TABLE["negations"].items())

# Words after the claim, in the same clause, that make it conditional or a rumour.
CONDITION_BEHIND = Prefiltered(_PHRASES["condition_behind"].pattern)
RUMOUR_BEHIND = _PHRASES["rumour_behind"]
HEDGES, DENIALS = _PHRASES["hedges"], _PHRASES["denials"]
NEGATED_BEHIND, DOUBLE_NEGATIVE = _PHRASES["negated_behind"], _PHRASES["double_negative"]
TURNS = Prefiltered(_PHRASES["turns"].pattern)
PAST, YEAR_DONE, YEARS, CARRIES_ON = (_PHRASES[name] for name in ("past", "year_done", "years", "carries_on"))
