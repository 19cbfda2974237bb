"""Parse a question: names, operation, aspect, period, day, and the words an answer has to contain."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import rjieba

from kg import period as periods
from kg.dating.reader import read_dates
from kg.model import Kind
from kg.period import Period, Precision
from kg.query.ask.lexicon import lexicon
from kg.query.ask.names import find_names, sounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.dating.reader import Dated
    from kg.model import Entity
    from kg.query.ask.lexicon import Aspect, Operation, QuestionLexicon
    from kg.query.resolve import Named
    from kg.query.session import QuerySession

LONGEST = 300  # characters of a question that are read
_AS_OF = re.compile(
    r"截至|截止|站在|(?:的?时候|当时|时)(?:，|,)?(?:大家|市场|机构|研报|各家)?|那会儿?|as of", re.IGNORECASE
)
_SETTLED_AS_OF = re.compile(r"截至|截止|站在|在[^，。？]{4,14}(?:看|时)|那天|为止|为界|为准|as of", re.IGNORECASE)
_OPENING_DAY = re.compile(r"^(?:截至|截止|站在|as of)[^，,]{4,20}[，,]\s*", re.IGNORECASE)
_MOVE = re.compile(
    r"(?P<down>跌|下降|下行|回落|走低|下滑|降价|降低|减少|走弱|收缩|下调|恶化|fall|drop|decline|lower)"
    r"|(?P<up>涨|上升|上行|回升|走高|提价|提高|增加|增长|走强|扩张|上调|改善|rise|increase|higher)"
)
_SPACED_DATE = re.compile(r"(?<=\d)\s+(?=[年月日号季])|(?<=[年月])\s+(?=[\d一二三四上下前QH])")
_LONE_YEAR = re.compile(  # 2024 营收, CATL 2025 revenue
    r"(?<![\d.A-Za-z-])(?<![QH]\d )(20[1-3]\d)"
    r"(?=\s+(?!年)[A-Za-z\u4e00-\u9fff]|\s*[?？]?$|(?![年月日号万亿千元辆吨台家个只股倍人户套点米])[\u4e00-\u9fff])"
)
_THAT_WEEK = re.compile(r"的?[那当这]一?周")
_MONTHS_END = timedelta(days=10)
_COMPOUND = re.compile(r"产业链|产业|板块|概念股|概念|行业|赛道|领域")
# How much a word of a part of speech says (ICTCLAS tags): nouns all, verbs half, the rest little.
_WEIGHTS = {"n": 1.0, "j": 1.0, "e": 1.0, "x": 1.0, "l": 1.0, "i": 1.0, "s": 0.6, "v": 0.5, "a": 0.5, "b": 0.6}
_LITTLE = 0.25
_FUNCTION = frozenset("rdcpuyqzhko")  # pronouns, adverbs, particles … ask, and name nothing
_COUNT = re.compile(
    "[一二两三四五六七八九十几多半]+(?:个|家|条|只|成|种|次|轮|位|股|台|吨|天|年|倍|类|大|名|款|项|块|点|件|份|篇)"
)
_WORDED = frozenset({"views", "causes", "impact", "path", "chain", "relate", "definition", "themes", "history"})
_HOW_MUCH = re.compile(r"多少|几[个家台条万亿元块倍成]|how (?:much|many)")
_NOUNS = frozenset({"n", "nz", "ng", "j"})  # 锑 of 锑价
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_ENDINGS = "得了过着股们票类"
_NAMING_KINDS = frozenset({Kind.COMPANY, Kind.INSTITUTION, Kind.PERSON})


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """Something an answer has to speak of: any of its `spellings`; a `name` may stand above the sentence.

    `weight` is less for words that say little (verbs, numbers); a `measure` is what a value is a value of; `needed` is
    a company, person or region: a sentence that names it nowhere near is about another.
    """

    word: str
    spellings: tuple[str, ...]
    name: bool = False
    entity: str = ""
    weight: float = 1.0
    measure: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Understood:
    """What a question asks for.

    `as_of` is the day the question itself sets, `period` the time its claim is about, `direction` how the first named
    factor moves; `short` is a name that several entities (`choices`) share.
    """

    question: str
    operation: str
    entities: tuple[Entity, ...]
    names: tuple[Named, ...]
    aspect: Aspect | None
    period: Period | None
    as_of: date | None
    direction: int
    terms: tuple[QuestionTerm, ...]
    states: tuple[str, ...]
    wants_value: bool
    wants_day: bool
    wants_list: bool
    corrections: tuple[tuple[str, str], ...] = ()
    choices: tuple[Entity, ...] = ()
    short: str = ""
    parts: tuple[Period, ...] = ()

    @property
    def periods(self) -> tuple[Period, ...]:
        """The periods asked about: each of several (2023年和2024年), else the one."""
        return self.parts or ((self.period,) if self.period else ())

    @property
    def core(self) -> str:
        """The question without an opening day (截至2025年8月，…), which sentences repeat only beside a value."""
        return self.question if self.wants_value else _OPENING_DAY.sub("", self.question)


def understand(session: QuerySession, question: str, today: date) -> Understood:
    """Read a question; relative days (去年7月) count from `today`."""
    words = lexicon()
    text = _tidy(question)
    dates, _ = read_dates(text, today)
    found = find_names(session, text, taken=[(each.start, each.end) for each in dates])
    rest = _without(text, [(named.start, named.end) for named in found.names])
    aspect = next((each for each in words.aspects if each.asks.search(rest)), None)
    operation = _operation(words, rest, len({named.entity.id for named in found.names}), aspect)
    stated = [_meant(each, text) for each in dates]
    as_of, period = _days(text, stated, operation)
    entities = tuple(dict.fromkeys(named.entity for named in found.names))
    spans = [(named.start, named.end) for named in found.names] + [(each.start, each.end) for each in dates]
    left = _unspelled(_without(text, spans), entities)
    states = dict.fromkeys((*(operation.states if operation else ()), *(aspect.states if aspect else ())))
    return Understood(
        question=question,
        operation=operation.name if operation else aspect.name if aspect else "facts",
        entities=entities,
        names=found.names,
        aspect=aspect,
        period=period,
        as_of=as_of,
        direction=_direction(found.names, text),
        terms=(
            *_name_terms(session, found.names, text),
            *_word_terms(words, text, left),
        ),
        states=tuple(states),
        wants_value=_wants_value(words, text, operation) or (not operation and not aspect and _is_measure(found.names)),
        wants_day=bool(words.when.search(text)),
        wants_list=bool(words.lists.search(text)),
        corrections=found.corrections,
        choices=found.choices,
        short=found.short,
        parts=tuple(stated) if as_of is None and len(stated) > 1 else (),
    )


def _meant(found: Dated, text: str) -> Period:
    """Return the days that a date of a question means: a week for 5月19日那周, the last ten days for 5月底."""
    period = found.period
    if period.precision is not Precision.DAY or not period.start:
        return period
    if _THAT_WEEK.match(text, found.end):
        return periods.week(period.start)
    if found.text[-2:] in ("月底", "月末"):
        return Period(period.start - _MONTHS_END, period.end)
    return period


def _wants_value(words: QuestionLexicon, text: str, operation: Operation | None) -> bool:
    """Whether a number is asked for; 怎么看硅料价格 and 价格为什么跌 ask for words."""
    if operation and operation.value:
        return True
    if operation and operation.name in _WORDED:
        return bool(_HOW_MUCH.search(text))
    return bool(words.value.search(text))


def _is_measure(names: Sequence[Named]) -> bool:
    """Whether a question is only the name of what is measured: 2024年生猪养殖行业资本开支."""
    return bool(names) and names[-1].entity.kind == Kind.INDICATOR


def _tidy(question: str) -> str:
    text = unicodedata.normalize("NFKC", question[: 2 * LONGEST])
    text = "".join(" " if unicodedata.category(letter)[0] == "C" else letter for letter in text)
    return _SPACED_DATE.sub("", _LONE_YEAR.sub(r"\1年", text))[:LONGEST]


def _operation(words: QuestionLexicon, rest: str, names: int, aspect: Aspect | None) -> Operation | None:
    """Return what is done with the names; 「硅料上游是什么」 asks for a relation, not for a definition."""
    fits = (each for each in words.operations if names >= each.names and each.fits(rest))
    return next((each for each in fits if each.name != "definition" or aspect is None), None)


def _days(text: str, periods: Sequence[Period], operation: Operation | None) -> tuple[date | None, Period | None]:
    """Tell the day that a question looks from apart from the period it asks about.

    「截至2026年3月」 sets the day; so does any day or month in a question for views. What is left is the period.
    """
    if not periods:
        return None, None
    first = periods[0]
    looks_back = _SETTLED_AS_OF.search(text) or (
        first.end
        and first.start
        and (first.end - first.start).days <= 31  # noqa: PLR2004 -- a month at most
        and (_AS_OF.search(text) or (operation and operation.name in {"views", "rating"}))
    )
    if looks_back and first.end:
        return first.end - timedelta(days=1), periods[1] if len(periods) > 1 else None
    starts, ends = [each.start for each in periods if each.start], [each.end for each in periods if each.end]
    if len(periods) > 1 and len(starts) == len(ends) == len(periods):
        return None, Period(min(starts), max(ends))  # 2023年和2024年
    return None, first


def _direction(names: Sequence[Named], text: str) -> int:
    """Return the move that is said of the first name: behind it, up to the next name, else before it, else up."""
    if not names:
        return 1
    topic = names[0]
    behind = min((named.start for named in names if named.start >= topic.end), default=len(text))
    move = _MOVE.search(text, topic.end, behind) or _MOVE.search(text, 0, topic.start)
    return -1 if move and move["down"] else 1


def _name_terms(session: QuerySession, names: Sequence[Named], text: str) -> Iterator[QuestionTerm]:
    for entity in dict.fromkeys(named.entity for named in names):
        written = [text[named.start : named.end] for named in names if named.entity == entity]
        aliases = [alias.name for alias in entity.aliases if len(alias.name) > 1]
        about = session.view.entity(entity.about) if entity.about and entity.kind == Kind.INDICATOR else None
        spellings = dict.fromkeys((*written, entity.name, *aliases))
        spoken = [said for said, meant in lexicon().spoken.items() if entity.name in meant]
        if about is not None and entity.name.startswith(about.name) and len(entity.name) > len(about.name):
            # 碳酸锂价格 is looked for as 碳酸锂 and 价格, which need not stand side by side
            yield QuestionTerm(
                about.name, tuple(dict.fromkeys((about.name, *written, *spoken))), name=True, entity=entity.id
            )
            measure = entity.name[len(about.name) :]
            spelled = (*lexicon().synonyms.get(measure, (measure,)), *_counted(measure), *written, *spoken)
            yield QuestionTerm(measure, spelled, measure=True)
            continue
        if entity.name.lower() in lexicon().empty:
            continue
        measured = entity.kind == Kind.INDICATOR
        synonyms = lexicon().synonyms.get(entity.name.lower(), ()) if measured else ()
        name = entity.kind in _NAMING_KINDS
        spelled = tuple(dict.fromkeys((*spellings, *spoken, *synonyms)))
        spelled += tuple(each.removeprefix("行业") for each in spelled[:1] if each.startswith("行业"))
        needed = name or entity.kind == Kind.REGION
        yield QuestionTerm(entity.name, spelled, name=name, entity=entity.id, measure=measured, needed=needed)


def _word_terms(words: QuestionLexicon, text: str, rest: str) -> Iterator[QuestionTerm]:
    """Yield the content words of a question that are neither names nor dates nor the words that ask."""
    for pattern in (*(each.asks for each in words.operations), *(each.asks for each in words.aspects)):
        rest = pattern.sub(lambda match: match[0] if _is_content(match[0]) else "，", rest)
    seen: set[str] = set()
    for measure, pattern in words.implied.items():
        if pattern.search(text) and seen.isdisjoint(group := words.synonyms.get(measure, (measure,))):
            seen.update(group)
            yield QuestionTerm(measure, group, measure=True)
            break
    for phrase in (each for each in words.phrases if each in rest.lower()):
        seen.update(words.synonyms[phrase])
        yield QuestionTerm(phrase, words.synonyms[phrase], measure=True)
        rest = re.sub(re.escape(phrase), "，", rest, flags=re.IGNORECASE)
    for cut, tag in rjieba.tag(_COMPOUND.sub("，", rest)):
        word = _stem(cut.strip())
        folded = word.lower()
        if not folded or folded in words.empty or not any(letter.isalnum() for letter in folded):
            continue
        listed = folded in words.synonyms
        if len(folded) == 1 and not listed and (folded.isascii() or tag not in _NOUNS):
            continue
        if not listed and (tag[0] in _FUNCTION or _COUNT.fullmatch(word)):
            continue
        group = words.synonyms.get(folded, (word,))
        if seen.isdisjoint(group):
            seen.update(group)
            weight = 1.0 if listed else _WEIGHTS.get(tag[0], _LITTLE)
            yield QuestionTerm(
                word, tuple(dict.fromkeys((word, *group, *_counted(word)))), weight=weight, measure=listed
            )


def _counted(measure: str) -> tuple[str, ...]:
    """Return what a sentence says of which the amount is asked: 出口 3305 万吨 is the 出口量."""
    return (measure[:-1],) if len(measure) > 2 and measure[-1] in "量额数" else ()  # noqa: PLR2004 -- a word is left


def _stem(word: str) -> str:
    """Drop what no sentence needs: 涨得 → 涨, 产了 → 产, 钢铁股 → 钢铁, 在日本 → 日本."""
    if len(word) > len("在") + 1 and word[0] == "在":
        return word[1:]
    return word[:-1] if len(word) > 1 and word[-1] in _ENDINGS and word.lower() not in lexicon().synonyms else word


def _unspelled(rest: str, entities: Sequence[Entity]) -> str:
    """Drop the pinyin of names that stand in the question as well."""

    def repeats(match: re.Match[str]) -> bool:
        return any(match[0].lower() in sounds(entity.name)[0] for entity in entities)

    return _LATIN_WORD.sub(lambda match: "，" if repeats(match) else match[0], rest)


def _is_content(asked: str) -> bool:
    """Whether words that ask for something also name it: 目标价, 毛利率, 股东."""
    return asked.lower() in lexicon().synonyms


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    left = list(text)
    for start, end in spans:
        left[start:end] = "，" * (end - start)
    return "".join(left)
