"""Pairs of names that may be triples, and what speaks for each: the tagger, the wordings, the names known, the places.

Features are strings with a value; those of the listed name are told alone and together with the relation.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.training.role_features import FIRM_LABELS
from extraction.training.role_lexicon import APART, OWNER, USED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from extraction.training.role_examples import Mark
    from extraction.training.role_tagger import Spot, Tagged

Place = tuple[int, int]
_OWNERS = 5  # that are asked about of one listed name
_KNOWN = 0.3  # the share from which a known name is asked about wherever it stands
_ODDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97)
_SHARES = (0.01, 0.2, 0.4, 0.6, 0.8, 0.95)
_DISTANCES = (1, 3, 8, 15, 30, 60, 120)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two places of a text that may be owner and listed name, with the features of the pair."""

    owner: Place
    relation: str
    name: Place
    features: dict[str, float]


@dataclass(slots=True)
class _Listed:
    """A stretch that may be listed in a role."""

    relation: str
    place: Place
    odds: float
    best: bool
    readings: tuple[Mark, ...]


@dataclass(slots=True)
class _Owner:
    """A stretch that may own what is listed."""

    place: Place
    odds: float
    labels: frozenset[str]


def candidates_of(tagged: Tagged, marks: Sequence[Mark]) -> list[Candidate]:
    """Return the pairs of a text, one of each relation and two spellings: the one whose listed place is likeliest."""
    return _Text(tagged, marks).candidates()


class _Text:
    """A tagged text and what its pairs are judged by."""

    def __init__(self, tagged: Tagged, marks: Sequence[Mark]) -> None:
        self.text, self.tagged, self.marks = tagged.words.text, tagged, marks
        self.listed = list(self._listed())
        self.owners = {used: self._owners(used=used) for used in (False, True)}
        self.firms = [each.place for each in self.owners[False] if each.labels & FIRM_LABELS]
        self.shares = {(each.name, each.role): each for each in tagged.known}
        self.odds_of: dict[str, list[float]] = defaultdict(list)
        for each in self.listed:
            self.odds_of[each.relation].append(each.odds)

    def candidates(self) -> list[Candidate]:
        """Pair every listed stretch with the likeliest owners."""
        best: dict[tuple[str, str, str], tuple[float, Candidate]] = {}
        for each in self.listed:
            of_name = self._of_name(each)
            for rank, owner in enumerate(self._asked(each)):
                key = (self._at(owner.place), each.relation, self._at(each.place))
                if key not in best or best[key][0] < each.odds:
                    features = of_name | self._of_pair(each, owner, rank)
                    best[key] = (each.odds, Candidate(owner.place, each.relation, each.place, features))
        return [candidate for _, candidate in best.values()]

    def _listed(self) -> Iterator[_Listed]:
        readings: dict[tuple[str, Place], list[Mark]] = defaultdict(list)
        for mark in self.marks:
            if mark.read:
                readings[mark.label, (mark.start, mark.end)].append(mark)
        spots = {(spot.role, (spot.start, spot.end)): spot for spot in self.tagged.spots if not _is_owner(spot)}
        asked = spots.keys() | readings.keys()
        for name in self.tagged.known:
            places = [(start, start + len(name.name)) for start in name.starts]
            named = any((name.role, place) in asked for place in places)
            if name.role not in (OWNER, USED) and name.share >= _KNOWN and not named:
                asked.add((name.role, places[0]))
        for role, place in sorted(asked):
            spot = spots.get((role, place))
            yield _Listed(role, place, *_odds(spot), tuple(readings.get((role, place), ())))

    def _owners(self, *, used: bool) -> list[_Owner]:
        labels: dict[Place, set[str]] = defaultdict(set)
        odds: dict[Place, float] = {}
        for spot in self.tagged.spots:
            if spot.role == (USED if used else OWNER):
                odds[spot.start, spot.end] = spot.probability
        for mark in self.marks:
            if mark.read and (mark.label in APART) == used:
                labels[mark.owner].add("told")
            elif not mark.read and not used and mark.label in FIRM_LABELS | {"institution"}:
                labels[mark.start, mark.end].add(mark.label)
        places = sorted(odds.keys() | labels.keys())
        return [_Owner(place, odds.get(place, 0.0), frozenset(labels[place])) for place in places]

    def _asked(self, listed: _Listed) -> list[_Owner]:
        """Return the owners that a listed name may have, one a spelling, the likeliest first."""
        told = {mark.owner for mark in listed.readings}
        best: dict[str, tuple[tuple[bool, float, int], _Owner]] = {}
        for owner in self.owners[listed.relation in APART]:
            name = self._at(owner.place)
            if _overlap(owner.place, listed.place) or name == self._at(listed.place):
                continue
            key = (owner.place in told, owner.odds, -_distance(owner.place, listed.place))
            if name not in best or key > best[name][0]:
                best[name] = (key, owner)
        owners = [owner for _, owner in best.values()]
        return sorted(owners, key=lambda owner: (-owner.odds, owner.place))[:_OWNERS]

    def _of_name(self, listed: _Listed) -> dict[str, float]:
        """Return the features of a listed stretch."""
        start, end = listed.place
        name, relation = self._at(listed.place), listed.relation
        rivals = [each for each in self.listed if each.place != listed.place and _overlap(each.place, listed.place)]
        same = max((each.odds for each in rivals if each.relation == relation), default=0.0)
        other = max((each.odds for each in rivals if each.relation != relation), default=0.0)
        known = self.shares.get((name, relation))
        share = known.share if known else 0.0
        beside = self.odds_of[relation]
        told = {
            "odds": _step(listed.odds, _ODDS),
            "best": listed.best,
            "same": _step(same, _ODDS),
            "other": _step(other, _ODDS),
            "share": _step(share, _SHARES),
            "known": min(known.count, 3) if known else 0,
            "long": min(end - start, 14) // 2,
            "list": _step(len(beside), (1, 2, 4, 8, 12)),
            "mean": _step(sum(beside) / len(beside), (0.1, 0.2, 0.4, 0.6)),
            "otherwise": min(sum(bool(each.readings) for each in rivals), 2),
            "last": name[-2:],
            "behind": self.text[end : end + 2],
            "before": self.text[max(0, start - 2) : start],
        }
        features = _crossed(told, relation)
        for value, what in ((listed.odds, "odds"), (same, "same"), (other, "other"), (share, "share")):
            features |= {f"#{what}": value, f"{relation}|#{what}": value}
        for reading in {mark.read for mark in listed.readings}:
            features |= {f"read={reading}": 1.0, f"read={reading}|{_step(listed.odds, _ODDS) // 3}": 1.0}
        return features

    def _of_pair(self, listed: _Listed, owner: _Owner, rank: int) -> dict[str, float]:
        """Return the features of a listed stretch and its owner together."""
        before = owner.place[1] <= listed.place[0]
        first, second = sorted((owner.place, listed.place))
        gap = self.text[first[1] : second[0]]
        between = bisect_right(self.firms, listed.place) - bisect_right(self.firms, owner.place) if before else 9
        name = self._at(owner.place)
        roles = (each for each in (self.shares.get((name, role)) for role in (OWNER, USED)) if each)
        others = [self._at(each.place) for each in self.owners[listed.relation in APART]]
        named, said = "company" in owner.labels, owner.place in {mark.owner for mark in listed.readings}
        odds, ahead = _step(owner.odds, _ODDS), min(between, 3)
        told = {
            "owner": odds,
            "rank": rank,
            "owners": min(len(set(others)), 5),
            "in front": before,
            "far": _step(len(gap), _DISTANCES),
            "stops": min(sum(char in "。；" for char in gap), 2),
            "between": ahead,
            "listed": named,
            "acting": "acting" in owner.labels,
            "told": said,
            "first": owner.place == self.firms[0] if self.firms else "none",
            "times": min(self.text.count(name), 3),
            "within": any(name != other and name in other for other in others),
            "around": any(name != other and other in name for other in others),
            "opens": owner.place[0] == 0,
        }
        features = _crossed(told, listed.relation)
        features |= dict.fromkeys(
            (
                f"{rank}|{odds}",
                f"in front={before}|{ahead}|{named}",
                f"told={said}|{rank}",
                f"both={_step(listed.odds, _ODDS) // 3}|{odds // 3}|{rank}",
                f"owner share={_step(max((each.share for each in roles), default=0.0), (0.01, 0.3, 0.6, 0.9))}",
            ),
            1.0,
        )
        return features | {"#owner": owner.odds, "#both": owner.odds * listed.odds}

    def _at(self, place: Place) -> str:
        return self.text[place[0] : place[1]]


def _crossed(told: Mapping[str, object], relation: str) -> dict[str, float]:
    plain = [f"{what}={value}" for what, value in told.items()]
    return dict.fromkeys([*plain, *(f"{relation}|{each}" for each in plain)], 1.0)


def _odds(spot: Spot | None) -> tuple[float, bool]:
    return (spot.probability, spot.best) if spot else (0.0, False)


def _is_owner(spot: Spot) -> bool:
    return spot.role in (OWNER, USED)


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _distance(one: Place, other: Place) -> int:
    return max(one[0], other[0]) - min(one[1], other[1])


def _step(value: float, steps: Sequence[float]) -> int:
    return bisect_right(steps, value)
