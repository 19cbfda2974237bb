"""Topics are grouped by the notes, companies and facts that they share."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from communities.evidence import TopicEvidence
from communities.grouping import LastWeek, group, rand_index

DAY = date(2024, 1, 1)


def planted(
    groups: int, topics: int, notes: int, *, mixing: float, seed: int = 1
) -> tuple[TopicEvidence, list[str], list[int]]:
    """Return notes that are each about three topics of one group, or of any at `mixing`."""
    source = np.random.default_rng(seed)
    evidence = TopicEvidence()
    names = [f"题{number}" for number in range(groups * topics)]
    home = [number // topics for number in range(groups * topics)]
    for note in range(notes):
        evidence.days[f"doc:{note}"] = DAY
        own = note % groups
        for _ in range(3):
            any_ = source.random() < mixing
            topic = int(source.integers(len(names)) if any_ else own * topics + source.integers(topics))
            evidence.focus[names[topic]][f"doc:{note}"] = evidence.parts[names[topic]][f"doc:{note}", 0] = 1.0
    return evidence, [name for name in names if name in evidence.focus], home


def labels(evidence: TopicEvidence, topics: list[str], **more: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    given_: dict[str, object] = {"before": {}, "last": LastWeek(), **more}
    return group(evidence, topics, topics, **given_).top  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(seed: int):
    evidence, topics, home = planted(5, 6, 400, mixing=0.2, seed=seed)
    assert rand_index(labels(evidence, topics), np.array([home[int(name[1:])] for name in topics])) >= 0.95


def test_a_group_stays_where_a_better_one_would_gain_little():
    """Last week's partition holds although it is not the one that would be found today."""
    evidence, topics, home = planted(4, 5, 200, mixing=0.1)
    found = labels(evidence, topics)
    moved = {topic: int(label) for topic, label in zip(topics, found, strict=True)}
    del moved[topics[0]]  # a new topic joins the group that it is like
    kept = labels(evidence, topics, before=moved)
    assert rand_index(kept, found) == 1.0
    assert kept[0] == kept[1] == home[0]


def test_no_topics_make_no_groups():
    assert not len(group(TopicEvidence(), [], [], before={}, last=LastWeek()).top)


def test_a_group_goes_by_the_topic_that_most_notes_share():
    evidence = TopicEvidence(days={f"doc:{number}": DAY for number in range(4)})
    for topic, notes in (("大", 4), ("小", 2)):
        evidence.focus[topic] = {f"doc:{number}": 0.5 for number in range(notes)}
        evidence.parts[topic] = {(f"doc:{number}", 0): 0.5 for number in range(notes)}
    found = group(evidence, ["大", "小"], ["大", "小"], before={}, last=LastWeek())
    assert found.top[0] == found.top[1]
    assert found.head([0, 1]) == 0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_the_rand_index_is_that_of_scikit_learn(pairs: list[tuple[int, int]]):
    one, other = np.array(pairs, dtype=np.int64).T
    assert rand_index(one, other) == pytest.approx(adjusted_rand_score(one, other))
