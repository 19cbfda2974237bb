"""Join the names of one topic when a question is asked: 生猪 and 生猪养殖, 光模块 and 光模块及器件."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from kg.text.homonyms import is_undecided, sense_of, senses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kg.query.session import QuerySession

_KINDS = ("product:", "industry:", "theme:", "business:")
_TRADE = re.compile(r"(?:产业链?|行业|板块|业务|领域|赛道|概念|环节|企业|公司|厂商|养殖业?|类?产品)$")
_AND = re.compile(r"(?<=...)及[^及]{2,8}$")  # 工业及医疗电子 is no 工业
_ENDS = tuple("业块务域道念品链殖节司商")
_SHORTEST = 2


def stems(name: str) -> Iterator[str]:
    """Yield a name without the endings that only say that it is a trade, the longest first.

    >>> list(stems("光模块及光器件行业"))
    ['光模块及光器件', '光模块']
    """
    if "及" not in name and not name.endswith(_ENDS):
        return
    for tail in (_TRADE, _AND, _TRADE):
        stem = tail.sub("", name)
        if _SHORTEST <= len(stem) < len(name):
            yield stem
            name = stem


def head_of(name: str, known: Collection[str], topic: str = "") -> str:
    """Return the known name that a name is a kind of: its longest ending; "" for none.

    Of an ending that means several things, what the rest of the name tells counts, then the topic that is asked for.

    >>> head_of("POE胶膜", {"胶膜"}), head_of("BC电池", {"电池片", "锂电池"}), head_of("半导体硅片", {"硅片"})
    ('胶膜', '电池片', '')
    """
    for at in range(1, len(name) - _SHORTEST + 1):
        tail = name[at:]
        if tail in senses():
            sense = sense_of(tail, [name, topic], "")
            return sense if sense in known and sense != name else ""
        if tail in known:
            return tail
    return ""


def _joined(session: QuerySession) -> dict[str, list[str]]:
    """Return the entities of each topic of several names, by each of them."""
    groups: dict[str, list[str]] = defaultdict(list)
    named = [(name, each) for name, each in session.view.names() if each.startswith(_KINDS)]
    known = {name for name, _ in named}
    for name, each in named:
        key = next((stem for stem in reversed(list(stems(name))) if stem in known), name)
        if not is_undecided(key) or each.endswith(f":{key}"):
            groups[key].append(each)
    joined: dict[str, list[str]] = {}
    for group in groups.values():
        if len(group) > 1:
            whole = sorted({member for each in group for member in joined.get(each, [each])})
            joined |= dict.fromkeys(whole, whole)
    return joined


class Topics:
    """Which entities of a view are one topic, by snapshot row; a topic goes by its best connected entity."""

    def __init__(self, session: QuerySession) -> None:
        self._session = session
        self._heads: dict[int, int] = {}

    def ids(self, entity_id: str) -> list[str]:
        """Return the entities of the topic of an entity, itself included; a company or measure is alone."""
        return self._session.kept(_joined).get(entity_id, [entity_id])

    def rows(self, rows: Iterable[int]) -> list[int]:
        """Return the rows of all entities of the topics of some rows."""
        session, rows = self._session, set(rows)
        found = {session.index(each) for row in rows for each in self.ids(session.id_of(row))}
        return sorted({*rows, *(row for row in found if row is not None)})

    def head(self, row: int) -> int:
        """Return the row that a topic goes by: something is said of it, then plainest, a product, best known."""
        if row not in self._heads:
            members = self.rows([row])
            best = min(members, key=self._rank)
            self._heads |= dict.fromkeys(members, best)
        return self._heads[row]

    def _rank(self, row: int) -> tuple[bool, int, bool, int, str]:
        session = self._session
        identity, degree = session.id_of(row), session.graph.degree(row)
        tails = len(list(stems(identity.partition(":")[2])))
        return not degree, tails, not identity.startswith(_KINDS[0]), -degree, identity
