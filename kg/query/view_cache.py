"""What is built for whole views (indexes of names, statistics), kept for the sessions that follow."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kg.query.session import QuerySession

_Built = TypeVar("_Built")
_KEPT = 4  # views of each builder


class ViewCache:
    """Keeps what was built for the last views; thread-safe, one build of a kind at a time."""

    def __init__(self) -> None:
        self._lock, self._locks = Lock(), defaultdict[object, Lock](Lock)
        self._found = defaultdict[object, OrderedDict[Hashable, Any]](OrderedDict)

    def of(self, session: QuerySession, state: str, build: Callable[[QuerySession], _Built], *more: Hashable) -> _Built:
        """Return what `build` makes of a session's view; `state` is that of the store before the session was opened.

        `more` is what else the result depends on.
        """
        key = (state, session.view.as_of, session.view.known_at, *more)
        with self._lock:
            lock, found = self._locks[build], self._found[build]
        with lock:
            if key not in found:
                found[key] = build(session)
                if len(found) > _KEPT:
                    found.popitem(last=False)
            found.move_to_end(key)
            built: _Built = found[key]
            return built
