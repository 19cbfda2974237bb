"""Detect the modality, polarity and speaker of a claim.

Cues to the left of a claim govern it. Rumours and conditions extend to the end of the sentence, forecasts across commas
up to a past statement, plans over their clause and its continuations. Scope rules follow NegEx (Chapman et al. 2001),
with Chinese cues.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from msgspec import Struct

from extraction.text.clauses import clause_end, clause_start, clause_starts, statement_end, statement_start
from extraction.text.lexicon import phrases, table
from kg.model import Modality, Polarity
from kg.text.pattern_set import Alternatives
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
_WORDS = {name: re.compile(pattern) for name, pattern in _TABLE["phrases"].items()}
CUES = tuple(
    Cue(name, cue["pattern"], cue["example"], Modality(cue["modality"]), cue.get("hedge", False))
    for name, cue in _TABLE["cues"].items()
)
# name, pattern, example; each must precede the claim in its clause, or its verb inside the claim
NEGATIONS = tuple((name, entry["pattern"], entry["example"]) for name, entry in _TABLE["negations"].items())

# Words after the claim, in the same clause, that make it conditional or a rumour.
_CONDITION_BEHIND = Prefiltered(_WORDS["condition_behind"].pattern)
_RUMOUR_BEHIND = _WORDS["rumour_behind"]
_HEDGES, _DENIALS = _WORDS["hedges"], _WORDS["denials"]
_NEGATED_BEHIND, _DOUBLE_NEGATIVE = _WORDS["negated_behind"], _WORDS["double_negative"]
_TURNS = Prefiltered(_WORDS["turns"].pattern)
_PAST, _YEAR_DONE, _YEARS, _CARRIES_ON = (_WORDS[name] for name in ("past", "year_done", "years", "carries_on"))


@dataclass(frozen=True, slots=True)
class ModalityReading:
    """Modality and polarity of a claim; `cue` is the deciding word, or ""."""

    modality: Modality
    polarity: Polarity
    cue: str
    hedge: bool


class _Span(Struct, frozen=True):
    start: int
    end: int


_STRENGTH = {
    Modality.RUMOURED: 4,
    Modality.CONDITIONAL: 3,
    Modality.PLANNED: 2,
    Modality.FORECAST: 1,
    Modality.ASSERTED: 0,
}
_CUE = Alternatives({f"c{i}": cue.pattern for i, cue in enumerate(CUES)}, runs=r"\d")
_FORECAST = Alternatives(
    {f"c{i}": cue.pattern for i, cue in enumerate(CUES) if cue.modality is Modality.FORECAST and not cue.hedge},
    runs=r"\d",
)
_NEGATION = Prefiltered("|".join(pattern for _, pattern, _ in NEGATIONS))
_NEGATION_SCOPE = 18  # scope of a negation within its clause, in characters
_WINDOW = 400  # characters scanned on either side; bounds the cost of tables without full stops


def read_modality(text: str, start: int, end: int) -> ModalityReading:
    """Return the modality and polarity of the claim at text[start:end].

    Args:
        text: one normalised sentence.
        start: start offset of the claim (its trigger or first argument).
        end: end offset of the claim, exclusive.
    """
    segment = _segment(text, start, end)
    clause = _clause(text, segment, start, end)
    modality, cue = _modality(text, segment, clause, _Span(start, end))
    polarity, negation = _polarity(text, segment, clause, _Span(start, end))
    hedge = bool(_HEDGES.search(text, clause.start, clause.end))
    return ModalityReading(modality, polarity, cue or negation, hedge)


def has_forecast(text: str) -> bool:
    """Whether a text looks ahead: it has the cue of a forecast that is not merely a hedge."""
    return _FORECAST.search(text) is not None


_PHRASES = phrases("certainty/modality")
_RISK = _PHRASES["risk"]
_NOT_RISK = _PHRASES["not_risk"]


def is_risk_heading(heading: str) -> bool:
    """Whether a heading introduces risk disclosures: 风险提示, 主要风险, 七、风险."""
    if _NOT_RISK.search(heading):
        return "提示" in heading
    return _RISK.search(heading) is not None or heading.rstrip("：: ").endswith("风险")


def _segment(text: str, start: int, end: int) -> _Span:
    """Return the span between full stops around the claim."""
    first, last = max(0, start - _WINDOW), min(len(text), end + _WINDOW)
    return _Span(statement_start(text, start, first), statement_end(text, end, last))


def _clause(text: str, segment: _Span, start: int, end: int) -> _Span:
    """Return the span between commas around the claim."""
    return _Span(clause_start(text, start, segment.start), clause_end(text, end, segment.end))


def _modality(text: str, segment: _Span, clause: _Span, claim: _Span) -> tuple[Modality, str]:
    best, word = Modality.ASSERTED, ""
    for match in _CUE.finditer(text, segment.start, claim.end):
        cue = CUES[int((match.lastgroup or "c0")[1:])]
        if _STRENGTH[cue.modality] > _STRENGTH[best] and _governs(text, cue, _Span(*match.span()), clause):
            best, word = cue.modality, match[0]
    after = _cue_after(text, segment, clause, claim)
    return after if _STRENGTH[after[0]] > _STRENGTH[best] else (best, word)


def _governs(text: str, cue: Cue, found: _Span, clause: _Span) -> bool:
    """Whether the scope of a cue covers the clause of the claim."""
    if found.start >= clause.start:
        return True
    if cue.modality in {Modality.RUMOURED, Modality.CONDITIONAL}:
        return True
    between = _clauses(text, found.end, clause)
    if cue.modality is Modality.PLANNED:
        return all(
            _CARRIES_ON.match(text, part.start) and not _PAST.search(text, part.start, part.end) for part in between
        )
    years = [int(year[0]) for year in _YEARS.finditer(text, max(0, found.start - 12), between[0].start)]
    return not any(_is_past(text, part, min(years, default=9999)) for part in between)


def _clauses(text: str, start: int, last: _Span) -> list[_Span]:
    """Return the clauses after `start`, up to and including the last one."""
    begins = clause_starts(text, start, last.start)
    return [_Span(begin, end) for begin, end in zip(begins, [*begins[1:], last.end], strict=True)]


def _is_past(text: str, part: _Span, forecast_year: int) -> bool:
    if _PAST.search(text, part.start, part.end):
        return True
    done = _YEAR_DONE.search(text, part.start, part.end)
    return done is not None and int(done["year"]) < forecast_year


def _cue_after(text: str, segment: _Span, clause: _Span, claim: _Span) -> tuple[Modality, str]:
    """Return the cue after the claim that governs it: …的传言, 在…的情况下, a trailing condition."""
    rumour = _RUMOUR_BEHIND.search(text, claim.end, clause.end)
    if rumour:
        return Modality.RUMOURED, rumour[0]
    condition = _CONDITION_BEHIND.search(text, segment.start, clause.end)
    if condition:
        return Modality.CONDITIONAL, condition[0]
    for match in _CUE.finditer(text, claim.end, segment.end):
        cue = CUES[int((match.lastgroup or "c0")[1:])]
        if cue.modality is Modality.CONDITIONAL and _is_afterthought(text, match.start(), clause, segment):
            return cue.modality, match[0]
    return Modality.ASSERTED, ""


def _is_afterthought(text: str, at: int, clause: _Span, segment: _Span) -> bool:
    """Whether a condition is in the claim's clause or the next and last one: 公司将提价，如果原料上涨."""
    if at < clause.end:
        return True
    return at <= clause.end + 2 and clause_end(text, at, segment.end) == segment.end


def _polarity(text: str, segment: _Span, clause: _Span, claim: _Span) -> tuple[Polarity, str]:
    denial = _DENIALS.search(text, segment.start, segment.end)
    if denial and not _NEGATION.search(text, max(segment.start, denial.start() - 3), denial.start()):
        return Polarity.NEGATIVE, denial[0]
    scope_start = clause.start
    for turn in _TURNS.finditer(text, clause.start, claim.start):
        scope_start = turn.end()
    doubled = _DOUBLE_NEGATIVE.search(text, scope_start, clause.end)
    found = next(_NEGATION.finditer(text, scope_start, claim.end), None)
    while found is not None and not _negates(text, _Span(*found.span()), claim):
        found = _NEGATION.search(text, found.end(), claim.end)
    if found and not (doubled and doubled.start() <= found.start() < doubled.end()):
        return Polarity.NEGATIVE, found[0]
    after = _NEGATED_BEHIND.match(text, claim.end, clause.end)
    return (Polarity.NEGATIVE, after[0]) if after else (Polarity.POSITIVE, "")


def _negates(text: str, found: _Span, claim: _Span) -> bool:
    """Whether a negation covers the claim; 的 ends its scope: 未盈利的企业收购乙公司 is not negated."""
    if claim.start - found.end > _NEGATION_SCOPE:
        return False
    scope_end = text.find("的", found.end, max(claim.start, found.end + 8))
    return scope_end < 0 or scope_end + 1 >= claim.end


_INSTITUTION = (
    "证券|公司|集团|银行|协会|学会|研究院|研究所|智库|交易所|统计局|能源局|药监局|总局|海关|央行|委员会|部|院|中心|资本|基金|咨询|"
    "联合会|署|局|厅|媒体|日报|时报|新闻|网|社|分析师|人士|管理层|负责人|董事长|高管|市场|机构"
)
_SOURCE = _PHRASES["source"]
_SUBJECT = _PHRASES["subject"]
_LATIN_NAME = re.compile(r"[A-Z][A-Za-z&. ]{1,20}")
_AUTHORS = re.compile("我们|笔者|本报告|本文|研究团队|团队")
_WEAK_VERBS = {"预测", "预计", "测算", "判断", "估算", "显示"}


@lru_cache(maxsize=64)  # a sentence has several claims
def speaker_of(text: str, publisher: str) -> str:
    """Return the source named in the sentence (据中汽协数据, 公司公告, IDC预计), else the publisher."""
    for pattern in (_SOURCE, _SUBJECT):
        match = pattern.search(text[:_WINDOW])
        if match is None:
            continue
        name = match["name"].strip()
        weak = pattern is _SUBJECT and match["verb"] in _WEAK_VERBS
        if _AUTHORS.search(name):
            return publisher
        if _is_name(name, strict=weak):
            return name
    return publisher


def _is_name(name: str, *, strict: bool) -> bool:
    """Whether a string can name a speaker; `strict` (weak verbs such as 显示, 预计) requires an institution."""
    if name in {"公司", "管理层", "市场"} or _LATIN_NAME.fullmatch(name):
        return True
    ends = re.search(f"(?:{_INSTITUTION})$", name) is not None
    return ends if strict else ends or not re.search("[的了是有在将可被]|会(?!$)|同时|此外|因此|其中|数据|结果", name)
