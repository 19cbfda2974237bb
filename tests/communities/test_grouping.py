"""Topics are grouped by the notes, companies and facts that they share."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from communities.evidence import TopicEvidence
from communities.grouping import group

DAY = date(2024, 1, 1)


def planted(
    groups: int, topics: int, notes: int, *, mixing: float, seed: int = 1
) -> tuple[TopicEvidence, list[str], list[int]]:
    """Return notes that are each about some topics of one group, or of any at `mixing`."""
    source = np.random.default_rng(seed)
    evidence = TopicEvidence()
    names = [f"题{number}" for number in range(groups * topics)]
    home = [number // topics for number in range(groups * topics)]
    for note in range(notes):
        evidence.days[f"doc:{note}"] = DAY
        own = note % groups
        for _ in range(5):
            any_ = source.random() < mixing
            topic = int(source.integers(len(names)) if any_ else own * topics + source.integers(topics))
            evidence.focus[names[topic]][f"doc:{note}"] = evidence.parts[names[topic]][f"doc:{note}", 0] = 1.0
    return evidence, [name for name in names if name in evidence.focus], home


def labels(evidence: TopicEvidence, topics: list[str], **more: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    given_: dict[str, object] = {"before": {}, **more}
    return group(evidence, topics, topics, **given_).top  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(seed: int):
    """Most topics are in a group, and no two of different planted groups are in one."""
    evidence, topics, home = planted(5, 5, 400, mixing=0.1, seed=seed)
    found = labels(evidence, topics)
    placed = [number for number, label in enumerate(found) if label >= 0]
    assert len(placed) >= 0.8 * len(topics)
    planted_home = [home[int(topics[number][1:])] for number in placed]
    assert adjusted_rand_score(found[placed], planted_home) == 1.0


def test_a_topic_leaves_last_weeks_head_only_for_a_much_closer_one():
    """Of three heads, notes are about two together with a topic, a few more about the second."""
    evidence = TopicEvidence(days={f"doc:{number}": DAY for number in range(90)})
    for topic, notes in (("甲", range(30)), ("乙", range(30, 60)), ("丁", range(60, 90)), ("丙", range(20, 42))):
        for number in notes:
            evidence.focus[topic][f"doc:{number}"] = evidence.parts[topic][f"doc:{number}", 0] = 0.5
    topics = ["甲", "乙", "丁", "丙"]
    found = labels(evidence, topics)
    assert found.tolist() == [0, 1, 2, 1]
    kept = labels(evidence, topics, before={"甲": "甲", "乙": "乙", "丙": "甲"})
    assert kept.tolist() == [0, 1, 2, 0]


def test_a_topic_like_no_head_is_in_no_group():
    evidence = TopicEvidence(days={f"doc:{number}": DAY for number in range(61)})
    for topic, notes in (("甲", range(30)), ("乙", range(30, 60)), ("丙", (60,))):
        for number in notes:
            evidence.focus[topic][f"doc:{number}"] = evidence.parts[topic][f"doc:{number}", 0] = 0.5
    assert labels(evidence, ["甲", "乙", "丙"]).tolist() == [0, 1, -1]


def test_no_topics_make_no_groups():
    assert not len(group(TopicEvidence(), [], [], before={}).top)


def test_a_group_goes_by_the_topic_that_most_notes_share():
    evidence = TopicEvidence(days={f"doc:{number}": DAY for number in range(4)})
    for topic, notes in (("大", 4), ("小", 2)):
        evidence.focus[topic] = {f"doc:{number}": 0.5 for number in range(notes)}
        evidence.parts[topic] = {(f"doc:{number}", 0): 0.5 for number in range(notes)}
    assert labels(evidence, ["大", "小"]).tolist() == [0, 0]
