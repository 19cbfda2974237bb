"""Names in a question: as the base has them, as people say them, misspelt, in pinyin, or short for several."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import rjieba
from rapidfuzz.distance import Levenshtein

from kg.model import Kind
from kg.query.ask.lexicon import lexicon
from kg.query.resolve import Named, degree_of, names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg.model import Entity
    from kg.query.session import QuerySession

_CODE = re.compile(r"(?<!\d)\d{6}(?!\d)")
_EXCHANGES = ("SH", "SZ", "BJ")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{3,}")
_CHINESE_PAIR = re.compile(r"[\u4e00-\u9fff]{2}")
_ENDS = re.compile(r"$|[^\u4e00-\u9fff]|[的怎上下最情今去近有是评股涨跌目业净营利毛年咋]")  # what follows a name
_LATIN = re.compile(r"[a-z]{2,}(?: [a-z]{2,})*")
_SHORTEST_MISSPELT, _LONGEST_NAME = 4, 6
_SHORT = 2  # characters of a short name that may mean several companies
_LEADS = 5  # times as many facts as the next: the company that a short name means
_MOST_CHOICES = 6
_DOUBTFUL, _KNOWN = 3, 3  # characters of a name, facts that make it known


@dataclass(frozen=True, slots=True)
class NamesFound:
    """The names of a question; `corrections` are (written, meant), `choices` what a short name may mean."""

    names: tuple[Named, ...]
    corrections: tuple[tuple[str, str], ...] = ()
    choices: tuple[Entity, ...] = ()
    short: str = ""


def find_names(session: QuerySession, question: str, *, taken: Sequence[tuple[int, int]] = ()) -> NamesFound:
    """Find the entities a question names, by place; what stands in the base as written comes first.

    `taken` are places that are no names: dates.
    """
    found = [
        named
        for named in names_in(session, question)
        if not any(named.start < end and start < named.end for start, end in taken)
        and (named.entity.codes or _at_word_bounds(question, named))
        and not _is_doubtful(session, named)
        and (named.entity.codes or named.entity.name not in lexicon().relational)
        and not (named.entity.name.isascii() and named.entity.name.lower() in lexicon().synonyms)  # margin
    ]
    corrections: list[tuple[str, str]] = []
    for named, said in (*_spoken(session, question), *_codes(session, question)):
        if not any(_inside(named, other) for other in found if degree_of(session, other.entity)):
            found = [other for other in found if not _overlap(named, other)] + [named]
            if said != named.entity.name:
                corrections.append((said, named.entity.name))
    if not any(named.entity.codes for named in found):
        free = _free_text(question, found)
        for named, said in _misspelt(session, free):
            found = [other for other in found if not _overlap(named, other)] + [named]
            corrections.append((said, named.entity.name))
    found.sort(key=lambda named: named.start)
    short, choices, meant = _short(session, question, found, corrected=bool(corrections))
    if meant:
        found = sorted([*(each for each in found if each.start != meant.start), meant], key=lambda named: named.start)
        if len(choices) > 1:
            corrections.append((short, meant.entity.name))
            choices = []
    return NamesFound(tuple(found), tuple(corrections), tuple(choices if len(choices) > 1 else ()), short)


def _short(
    session: QuerySession, question: str, found: Sequence[Named], *, corrected: bool
) -> tuple[str, list[Entity], Named | None]:
    """Return a short name of a company, what it may mean, and the one that it means, if that is clear."""
    companies = [named for named in found if named.entity.codes]
    if not companies:
        start, short = _first_pair(session, question, found)
        choices = _beginning(session, short) or _of_first_and_third(session, short)
    elif len(companies) == 1 and _is_short_for(question, companies[0]) and not corrected:
        start, short = companies[0].start, question[companies[0].start : companies[0].end]
        choices = _beginning(session, short)
    else:
        return "", [], None
    known = len(choices) == 1 and not companies
    leads = len(choices) > 1 and {each.entity for each in companies} <= {choices[0]} and _leads(session, choices)
    return short, choices, Named(start, start + _SHORT, choices[0]) if known or leads else None


def _is_doubtful(session: QuerySession, named: Named) -> bool:
    """Whether a short name of something unlisted is hardly known: 更高 was once read as a firm."""
    entity = named.entity
    unlisted = entity.kind in (Kind.COMPANY, Kind.INSTITUTION) and not entity.codes
    return unlisted and named.end - named.start <= _DOUBTFUL and degree_of(session, entity) < _KNOWN


def _spoken(session: QuerySession, question: str) -> Iterator[tuple[Named, str]]:
    folded = question.lower()
    for said, meant in sorted(lexicon().spoken.items(), key=lambda row: -len(row[0])):
        at = folded.find(said)
        if at < 0 or (said.isascii() and _cuts_a_word(folded, at, at + len(said))):
            continue
        entity = next((known for name in meant if (known := _best(session, name))), None)
        if entity and any(_word_bounds(question, named := Named(at, at + len(said), entity))):  # no 油价 in 废油价格
            yield named, question[at : at + len(said)]


def _codes(session: QuerySession, question: str) -> Iterator[tuple[Named, str]]:
    for match in _CODE.finditer(question):
        for exchange in _EXCHANGES:
            known = session.view.named(f"{match[0]}.{exchange}")
            if known:
                yield Named(match.start(), match.end(), known[0]), match[0]
                break


def _misspelt(session: QuerySession, free: str) -> Iterator[tuple[Named, str]]:
    """Companies whose name sounds as written, in characters or pinyin, or differs in one character."""
    latin, stretches = list(_LATIN.finditer(free.lower())), list(_stretches(free))
    companies = session.kept(_known_companies) if latin or stretches else {}
    for match in latin:
        written = match[0].replace(" ", "")
        near = {
            entity_id for name, entity_ids in companies.items() if written in sounds(name) for entity_id in entity_ids
        }
        if named := _only(session, match.start(), match.end(), near):
            yield named, match[0]
            return
    placed = session.kept(_letters_of_companies) if stretches else {}
    for start, end in stretches:
        written = free[start:end]
        if written in companies:
            continue  # right as it is, and something else was meant
        shared = Counter(name for place in enumerate(written) for name in placed.get((len(written), *place), ()))
        alike = [name for name, letters in shared.items() if 2 * letters >= len(written)]
        meant = [name for name in alike if sounds(name)[0] == sounds(written)[0]]
        if not meant and len(written) >= _SHORTEST_MISSPELT:
            meant = [name for name in alike if _one_letter_off(name, written)]
        if named := _only(session, start, end, {entity_id for name in meant for entity_id in companies[name]}):
            yield named, written
            return


def _known_companies(session: QuerySession) -> dict[str, set[str]]:
    """Return the Chinese names of the listed companies of which facts are known, with their ids."""
    known: dict[str, set[str]] = defaultdict(set)
    for name, entity_id in session.view.names():
        if entity_id.startswith("sec:") and _CHINESE.fullmatch(name) and session.index(entity_id) is not None:
            known[name].add(entity_id)
    return dict(sorted(known.items()))


def _letters_of_companies(session: QuerySession) -> dict[tuple[int, int, str], list[str]]:
    """Return the names of the companies that have a letter at a place, by length, place and letter."""
    placed: dict[tuple[int, int, str], list[str]] = defaultdict(list)
    for name in session.kept(_known_companies):
        for at, letter in enumerate(name):
            placed[len(name), at, letter].append(name)
    return dict(placed)


@lru_cache(maxsize=1 << 14)
def sounds(name: str) -> tuple[str, ...]:
    """Return a name in pinyin, and of a longer one its initials: gzmt."""
    from pypinyin import lazy_pinyin  # noqa: PLC0415 -- takes 0.2 s, which most questions do not need

    syllables = lazy_pinyin(name)
    initials = ["".join(syllable[0] for syllable in syllables)] if len(syllables) >= _SHORTEST_MISSPELT else []
    return ("".join(syllables), *initials)


def _stretches(free: str) -> Iterator[tuple[int, int]]:
    """Yield where a company's name may stand, the longest first."""
    for match in _CHINESE.finditer(free):
        for size in range(min(_LONGEST_NAME, len(match[0])), _SHORT, -1):
            for start in range(match.start(), match.end() - size + 1):
                yield start, start + size


def _only(session: QuerySession, start: int, end: int, ids: set[str]) -> Named | None:
    """Return the one company meant, if facts are known of it."""
    entity = session.view.entity(next(iter(ids))) if len(ids) == 1 else None
    return Named(start, end, entity) if entity and degree_of(session, entity) else None


def _one_letter_off(name: str, written: str) -> bool:
    """Whether a name differs from what is written in one inner or last character, the first being right."""
    return name[0] == written[0] and Levenshtein.distance(name, written, score_cutoff=1) == 1


def _first_pair(session: QuerySession, question: str, found: Sequence[Named]) -> tuple[int, str]:
    """Return the first word of a question, where the name stands that is asked about, if it has two characters."""
    start = _CHINESE_PAIR.search(question)
    if start is None or any(named.start < start.start() + _SHORT < named.end for named in found):
        return 0, ""
    short = question[start.start() : start.start() + _SHORT]
    if next(iter(rjieba.cut(question[start.start() :]))) != short or not _ENDS.match(question, start.start() + _SHORT):
        return 0, ""
    if any(each.kind is Kind.REGION for each in session.view.named(short)):
        return 0, ""  # 甘肃 is the province
    return start.start(), short


def _is_short_for(question: str, named: Named) -> bool:
    """Whether a company is called by two characters that are not its name."""
    written = question[named.start : named.end]
    return len(written) <= _SHORT and written != named.entity.name and _CHINESE_PAIR.fullmatch(written) is not None


def _beginning(session: QuerySession, short: str) -> list[Entity]:
    """Return the companies whose names begin so, most connected first."""
    if not short:
        return []
    ids = {entity_id for name, entity_id in session.view.names(short) if name.startswith(short)}
    companies = [
        each for each in session.view.entities(Kind.COMPANY, ids=ids) if each.codes and degree_of(session, each)
    ]
    companies.sort(key=lambda each: (-degree_of(session, each), each.id))
    return companies[:_MOST_CHOICES]


def _leads(session: QuerySession, choices: Sequence[Entity]) -> bool:
    """Whether so many more facts are known of the first company that its short name means it."""
    first, second = (degree_of(session, each) for each in choices[:2])
    return first >= _LEADS * second


def _of_first_and_third(session: QuerySession, short: str) -> list[Entity]:
    """Return the one company whose name two characters abbreviate, its first and third: 江铜 of 江西铜业."""
    if not short or session.view.named(short):
        return []
    names = session.kept(_known_companies).items()
    ids = {each for name, known in names if len(name) == 2 * _SHORT and name[::_SHORT] == short for each in known}
    companies = [each for each in map(session.view.entity, sorted(ids)) if each and degree_of(session, each)]
    return companies if len(companies) == 1 else []


def _at_word_bounds(question: str, named: Named) -> bool:
    """Whether a name begins and ends where words do: there is no 内燃机 in 国内燃机."""
    ends = _word_bounds(question, named)
    return all(ends) if named.end - named.start <= _SHORT else any(ends)


def _word_bounds(question: str, named: Named) -> tuple[bool, bool]:
    bounds = {0}
    for word in rjieba.cut(question):
        bounds.add(max(bounds) + len(word))
    return named.start in bounds, named.end in bounds


def _best(session: QuerySession, name: str) -> Entity | None:
    """Return the entity of a name that most facts touch."""
    known = session.view.named(name)
    return min(known, key=lambda entity: (-degree_of(session, entity), entity.id), default=None)


def _free_text(question: str, found: Iterable[Named]) -> str:
    """Return the question with the places of names blanked out."""
    free = list(question)
    for named in found:
        if named.entity.codes or named.end - named.start > _SHORT:
            free[named.start : named.end] = "，" * (named.end - named.start)
    return "".join(free)


def _inside(named: Named, other: Named) -> bool:
    return other.start <= named.start and named.end <= other.end and other != named


def _overlap(named: Named, other: Named) -> bool:
    return named.start < other.end and other.start < named.end


def _cuts_a_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before.isascii() and before.isalnum()) or (after.isascii() and after.isalnum())
