"""What the explorer shows of a base, as JSON: its days and words, parts of facts, the search index, texts, themes."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pypinyin import lazy_pinyin

from kg.messages.words import LANGUAGES, word
from kg.model import Kind
from kg.query.ask.lexicon import lexicon
from kg.query.browse.stats import stats
from kg.query.pictures import places_of
from kg.query.session import QuerySession
from kg.query.themes.biography import name_of, title_of
from kg.query.themes.listing import standing
from viz.exhibit.packing import FactHistories, Packing, Part, day_number, short_id
from viz.exhibit.pictures import picture_key, picture_of, wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg.model import Community, Fact, Run, SummaryLine, ThemeEvent
    from kg.query.pictures import Picture
    from kg.store.port import DocumentHead, Store, View
    from viz.exhibit.pictures import Shown

_LINKS_PER_PART, _FIGURES_PER_PART, _TEXT_PER_PART = 4_000, 4_000, 1_000_000
_NAMES_EACH: Final = 8
_LINES_EACH: Final = 20
_CITED: Final = 2
_RUNS_KEPT: Final = 6
_PICTURED: Final = 500  # best connected names whose answers are packed, for each view
_PICTURES_PER_PART: Final = 100
_THEMED: Final = ("theme", "common")  # views of one answer that need the weekly runs
_AROUND: Final = 200  # characters kept before and after a quote
_VIEWS: Final = {
    "chain": frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.COMPANY}),
    "factor": frozenset({Kind.INDICATOR, Kind.EVENT, Kind.POLICY, Kind.PRODUCT, Kind.INDUSTRY, Kind.COMPANY}),
}


class ExhibitContent:
    """The content of one state of a base as of its latest day.

    The view stays open while this is used; `min_confidence` is the threshold that the pages start with. `shown` is the
    answer that they open at; with `alone` there is nothing but that answer and its quotes.
    """

    def __init__(
        self, store: Store, view: View, *, min_confidence: float, shown: Shown | None = None, alone: bool = False
    ) -> None:
        self._view, self._threshold = view, min_confidence
        self._shown, self._alone = shown, shown if alone else None
        self._kept: dict[int, Part] = {}
        self.packing = Packing(store, view)

    @cached_property
    def meta(self) -> Part:
        """What every page needs first: counts, days, publishers, vocabulary, samples, days of runs."""
        described = None if self._alone else stats(self._session)
        per_day = Counter(head.published_on for head in self.packing.heads.values())
        publishers = Counter(head.publisher for head in self.heads.values() if head.publisher)
        facts = sum(count for _, count in described.facts) + described.below if described else len(self.facts)
        return {
            "documents": len(self.heads),
            "facts": facts,
            "below": described.below if described else 0,
            "days": [[day_number(day), per_day[day]] for day in self.packing.days],
            "publishers": sorted(publishers.items(), key=lambda row: (-row[1], row[0])),
            "topics": [[each.id, each.name, each.kind.value] for each in (described.names if described else ())],
            "relations": [self._relation(name) for name in self.packing.words.relations],
            "kinds": {kind: [word(f"kind.{kind}", lang) for lang in LANGUAGES] for kind in self.packing.words.kinds},
            "threshold": self._threshold,
            "runs": [day_number(run.as_of) for run in self._runs()],
            "title": self._shown.title if self._shown else "",
            "start": self._shown.address if self._shown else "",
            "alone": self._alone is not None,
        }

    @cached_property
    def facts(self) -> list[Fact]:
        """The facts that are packed, by subject: all, or what the one answer rests on, its rivals included."""
        found = self._view.facts() if self._alone is None else self.packing.complete(self._needed(self._alone))
        return sorted(found, key=lambda fact: (fact.subject, fact.id))

    def _needed(self, shown: Shown) -> Iterator[Fact]:
        """Yield the facts around what an answer is about, those between all that it shows, and those that it cites."""
        topics = set(shown.ids)
        for fact in self.packing.around(topics | shown.members):
            ends = {fact.subject, fact.object}
            if ends & topics or ends <= shown.members:
                yield fact
        if shown.facts:
            yield from self._view.facts(ids=shown.facts)

    @cached_property
    def heads(self) -> dict[str, DocumentHead]:
        """The documents that are packed by id, by day: all, or those that the one answer cites."""
        if self._alone is None:
            return self.packing.heads
        cited = {item.document for fact in self.facts for item in fact.evidence}
        return {identity: head for identity, head in self.packing.heads.items() if identity in cited}

    def _runs(self) -> Iterable[Run]:
        return self._view.runs() if self._alone is None or self._alone.view in _THEMED else ()

    @cached_property
    def _session(self) -> QuerySession:
        return QuerySession(self._view, min_confidence=self._threshold)

    def _relation(self, name: str) -> Part:
        entry = self.packing.words[name]
        return {
            "cut": self._session.cut(name),
            "weak": self._session.cut(name, weak=True),
            "places": places_of(name),
            "name": name,
            "family": entry.family,
            "role": entry.role,
            "timeline": entry.timeline,
            "symmetric": entry.symmetric,
            "half_life": entry.half_life,
            "weight": entry.weight,
            "stage": entry.stage,
            "wording": [entry.wording[lang] for lang in LANGUAGES],
            "inverse": [entry.inverse[lang] for lang in LANGUAGES],
        }

    @cached_property
    def contested(self) -> Part:
        """The links that a source contradicts, on whatever day, with all facts between their ends."""
        measured = self.packing.words.of_family("measured")
        facts = [fact for fact in (self.facts if self._alone else self._view.facts()) if fact.relation not in measured]
        rivals = FactHistories(facts, self.packing.words).rivals
        ends = {(fact.subject, fact.object) for fact in facts if fact.id in rivals}
        return self.packing.part([fact for fact in facts if (fact.subject, fact.object) in ends])

    def behind(self, picture: Picture) -> Part:
        """Return the facts that a picture rests on, as of every day, with those that close or contradict them."""
        ids = {fact.id for link in picture.links for fact in link.facts}
        facts = self.packing.complete(self._view.facts(ids=ids))
        part = self.packing.part(facts, histories=FactHistories(facts, self.packing.words))
        shown = {item.entity.id for column in picture.columns for section in column.sections for item in section.items}
        return {**part, "others": self.packing.entities(sorted(shown.difference(part["entities"]["id"])))}

    def members(self, day: int, theme: str) -> Part | None:
        """Return the facts between the members of a theme of a weekly run, or None if there is none."""
        runs = (run for run in self._view.runs() if day_number(run.as_of) == day)
        members = next((set(each.members) for run in runs for each in run.communities if each.id == theme), None)
        if members is None:
            return None
        return self.packing.part(
            [each for each in self.packing.around(members) if {each.subject, each.object} <= members]
        )

    def records(self, ids: Sequence[str]) -> Part:
        """Return the facts with one of these ends, packed."""
        facts = self.packing.around(ids)
        return self.packing.part(facts, histories=FactHistories(self.packing.with_rivals(facts), self.packing.words))

    def parts(self) -> Iterator[tuple[str, Part, set[str]]]:
        """Yield all facts in parts: name, part, and the entities in it; links before figures, by subject."""
        facts = self.facts
        histories = FactHistories(facts, self.packing.words)
        remarks = self.packing.words.of_role("figure", "event", "opinion")
        measured = [fact.relation in remarks for fact in facts]
        for measures, size in ((False, _LINKS_PER_PART), (True, _FIGURES_PER_PART)):
            wanted = [fact for fact, figure in zip(facts, measured, strict=True) if figure is measures]
            for begin in range(0, len(wanted), size):
                chosen = wanted[begin : begin + size]
                name = f"{'figures' if measures else 'links'}-{begin // size}"
                yield name, self.packing.part(chosen, histories=histories), _ends(chosen)

    def pictures(self) -> Iterator[tuple[str, Part]]:
        """Yield the answers about the best connected names in parts: name, and pictures by view and id."""
        found: Part = {}
        number = 0
        for key, picture in self._answers():
            found[key] = wire(picture)
            if len(found) == _PICTURES_PER_PART:
                yield f"pictures-{number}", found
                found, number = {}, number + 1
        if found:
            yield f"pictures-{number}", found

    def _answers(self) -> Iterator[tuple[str, Picture]]:
        """Yield the pictures that are packed by key: of the answer that the pages open at, and of the main names."""
        given = self._shown.pictures if self._shown else {}
        yield from given.items()
        if self._alone:
            return
        graph = self._session.graph
        ids = [(entity.id, entity.kind) for entity in self._view.entities()]
        rows = [(identity, kind, row) for identity, kind in ids if (row := self._session.index(identity)) is not None]
        ranked = sorted(rows, key=lambda each: (-graph.degree(each[2]), each[0]))
        for view, kinds in _VIEWS.items():
            for identity in [identity for identity, kind, _ in ranked if kind in kinds][:_PICTURED]:
                key = picture_key(view, [identity])
                picture = None if key in given else picture_of(self._session, view, [identity])
                if picture is not None and picture.links:
                    yield key, picture

    def index(self, parts: Sequence[tuple[str, set[str]]], pictures: dict[str, int]) -> Part:
        """Return all entities with facts for the search, each with the parts to load, and where each answer is."""
        touched: dict[str, list[int]] = defaultdict(list)
        for number, (_, ends) in enumerate(parts):
            for entity in ends:
                touched[entity].append(number)
        degree, since = Counter[str](), dict[str, int]()
        for fact in self.facts:
            day = day_number(fact.published_on)
            sure = fact.confidence >= self._threshold and not fact.superseded_by
            for end in (fact.subject, fact.object):
                degree[end] += sure
                since[end] = min(day, since.get(end, day))
        ids = sorted(touched, key=lambda entity: (-degree[entity], entity))
        entities = self.packing.entities(ids)
        syllables = [_pinyin(name) for name in entities["name"]]
        known = set(entities["name"])
        spoken: dict[str, list[str]] = defaultdict(list)
        for said, meant in lexicon().spoken.items():
            if said not in known and (name := next((each for each in meant if each in known), None)):
                spoken[name].append(said)
        return {
            "entities": entities,
            "initials": ["".join(spelled[:1] for spelled in each) for each in syllables],
            "pinyin": ["".join(each) for each in syllables],
            "spoken": spoken,
            "degree": [degree[entity] for entity in ids],
            "since": [since[entity] for entity in ids],
            "parts": [touched[entity] for entity in ids],
            "names": [name for name, _ in parts],
            "pictures": pictures,
        }

    def texts(self) -> Iterator[tuple[str, Part]]:
        """Yield the stored texts in parts, by day; of one answer the stretches around its quotes."""
        quoted: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for fact in self.facts if self._alone else ():
            for item in fact.evidence:
                quoted[item.document].append((item.start, item.end))
        part: Part = {}
        size = number = 0
        for identity in self.heads:
            document = self._view.document(identity)
            text = document.text if document else ""
            part[identity] = _stretches(text, quoted[identity]) if self._alone else text
            size += len(text)
            if size >= _TEXT_PER_PART:
                yield f"texts-{number}", part
                part, size, number = {}, 0, number + 1
        if part:
            yield f"texts-{number}", part

    def documents(self, places: dict[str, int]) -> Part:
        """Return the list of documents by day; `places` gives the part that holds the text of each."""
        heads = list(self.heads.values())
        return {
            "id": [head.id for head in heads],
            "title": [head.title for head in heads],
            "publisher": [head.publisher for head in heads],
            "day": [day_number(head.published_on) for head in heads],
            "url": [head.url for head in heads],
            "part": [places.get(head.id, -1) for head in heads],
        }

    def run(self, day: int) -> Part | None:
        """Return the weekly run of a day with the facts that it cites, or None if there is none."""
        if day not in self._kept:
            run = next((run for run in self._view.runs() if day_number(run.as_of) == day), None)
            if run is None:
                return None
            if len(self._kept) >= _RUNS_KEPT:
                self._kept.clear()
            self._kept[day] = self._run(run)
        return self._kept[day]

    def runs(self) -> Iterator[tuple[str, Part]]:
        """Yield all weekly runs."""
        for run in self._runs():
            yield f"run-{day_number(run.as_of)}", self._run(run)

    def _run(self, run: Run) -> Part:
        communities = [community for community in run.communities if self._is_shown(community.id)]
        events = [event for event in run.events if self._is_shown(event.theme)]
        members = sorted({member for community in communities for member in community.members})
        place = {member: index for index, member in enumerate(members)}
        lines = [
            line for item in communities for line in (*_summary(item)[:_LINES_EACH], *item.changes[1 : _LINES_EACH + 1])
        ]
        holds = standing(self._view, lines)
        cited = {fact for line in holds for fact in line.facts[:_CITED]} | {
            fact for each in events for fact in each.facts[:_CITED]
        }
        facts = sorted(self._view.facts(ids=cited), key=lambda fact: fact.id) if cited else []

        def cited_lines(lines: Iterable[SummaryLine]) -> list[Any]:
            return [[line.text, [short_id(fact) for fact in line.facts[:_CITED]]] for line in lines if line in holds]

        return {
            "day": day_number(run.as_of),
            "members": self.packing.entities(members),
            "themes": [
                {
                    "id": item.id,
                    "level": item.level,
                    "parent": item.parent,
                    "title": title_of(item),
                    "members": [place[member] for member in item.members],
                    "lines": cited_lines(_summary(item)[:_LINES_EACH]),
                    "news": cited_lines(item.changes[1 : _LINES_EACH + 1]),
                }
                for item in communities
            ],
            "events": [_event(event) for event in events],
            "records": self.packing.part(facts),
        }

    def _is_shown(self, theme: str) -> bool:
        return self._alone is None or theme in self._alone.ids

    def lives(self) -> Part:
        """Return the names, sizes and events of every theme over all runs."""
        found: dict[str, Part] = {}
        for run in self._runs():
            day = day_number(run.as_of)
            for item in run.communities:
                life = found.setdefault(item.id, {"names": [], "sizes": [], "events": []})
                life["sizes"].append([day, len(item.members)])
                if [name for _, name in life["names"][-1:]] != [name_of(item)]:
                    life["names"].append([day, name_of(item)])
            for event in run.events:
                life = found.setdefault(event.theme, {"names": [[day, event.name]], "sizes": [], "events": []})
                life["events"].append([day, *_event(event)])
        if self._alone:
            own = [found[theme]["events"] for theme in self._alone.ids if theme in found]
            met = {other for events in own for event in events for other in event[6]}
            found = {theme: life for theme, life in found.items() if theme in met or self._is_shown(theme)}
        ends = {member for life in found.values() for event in life["events"] for member in (*event[7], *event[8])}
        return {"themes": found, "entities": self.packing.entities(sorted(ends))}


def _event(event: ThemeEvent) -> list[Any]:
    facts = [short_id(fact) for fact in event.facts[:_CITED]]
    left, joined = event.left[:_NAMES_EACH], event.joined[:_NAMES_EACH]
    return [event.turn.value, event.theme, event.level, event.name, event.size, event.others, joined, left, facts]


def _summary(community: Community) -> tuple[SummaryLine, ...]:
    return community.summary.lines if community.summary else ()


def _ends(facts: Iterable[Fact]) -> set[str]:
    return {end for fact in facts for end in (fact.subject, fact.object)}


def _stretches(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """Return the parts of a text around some spans, each with where it begins; those that overlap are one."""
    bounds: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        wide = (max(0, start - _AROUND), end + _AROUND)
        if bounds and wide[0] <= bounds[-1][1]:
            before = bounds.pop()
            wide = (before[0], max(before[1], wide[1]))
        bounds.append(wide)
    return [(start, text[start:end]) for start, end in bounds]


def _pinyin(name: str) -> list[str]:
    """Return the syllables of a name and its other letters, each alone; none of a name without Chinese letters."""
    return [] if name.isascii() else [each.casefold() for each in lazy_pinyin(name, errors=list)]  # type: ignore[arg-type]
