from __future__ import annotations

import numpy as np

from extraction.models.decoding import pairs_of, scope_of
from extraction.models.edges import features_of, name_features, token_spans
from extraction.models.scheme import ATTRIBUTES, LINKS, RELATIONS, ROLES, WIDTH
from kg.relations import vocabulary

TOKENS = 12


def scores(**above: tuple[int, int, int]) -> np.ndarray:
    out = np.full((len(ROLES) + 2 * len(LINKS), TOKENS, TOKENS), -20, dtype=np.float32)
    for place in above.values():
        out[place] = 3
    return out


def test_a_pair_needs_both_spans_and_both_links():
    whole = {"subject": (0, 1, 2), "object": (1, 5, 7), "first": (3, 1, 5), "last": (5, 2, 7)}
    ends, features = pairs_of(scores(**whole))
    assert ends.tolist() == [[1, 2, 5, 7]]
    assert features.tolist() == [[3.0, 3.0, 3.0, 3.0]]
    for missing in whole:
        assert not len(pairs_of(scores(**{name: place for name, place in whole.items() if name != missing}))[0])


def test_spans_that_overlap_are_no_pair():
    ends, _ = pairs_of(scores(subject=(0, 1, 5), object=(1, 4, 7), first=(3, 1, 4), last=(5, 5, 7)))
    assert not len(ends)


def test_a_scope_stands_apart_from_its_core():
    found = scores(scope=(2, 1, 2), first=(4, 1, 5), last=(6, 2, 6))
    assert scope_of(found, (5, 6)) == (1, 2)
    assert scope_of(found, (8, 9)) is None


def test_nothing_above_the_floor_is_nothing():
    ends, features = pairs_of(scores())
    assert (ends.shape, features.shape) == ((0, 4), (0, 4))


def test_attributes_fill_their_width_and_relations_are_of_the_vocabulary():
    assert max(high for _, high in ATTRIBUTES.values()) == WIDTH
    assert set(RELATIONS) <= set(vocabulary().relations)


def test_features_say_by_how_much_a_group_beats_none():
    attributes = np.zeros((1, WIDTH), dtype=np.float32)
    low, high = ATTRIBUTES["group"]
    attributes[0, low], attributes[0, high - 1] = 2.0, 0.5
    assert features_of(np.array([[9.0, 1.0, 2.0, -1.0]]), attributes).tolist() == [[2.0, -1.0, -1.0, 2.0, 1.0, 1.5]]


def test_pieces_give_their_places():
    assert token_spans(["▁", "减速", "器", ":"]) == ([0, 0, 2, 3], [0, 2, 3, 4])


def test_a_name_has_the_same_slots_wherever_it_stands():
    assert name_features("碳酸锂价格", 1 << 14) == name_features("碳酸锂价格", 1 << 14)
    assert name_features("碳酸锂价格", 1 << 14) != name_features("碳酸锂需求", 1 << 14)
