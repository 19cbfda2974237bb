"""Counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_OTHER = "other"


class ServiceMetrics:
    """The metrics of one service; with `shared`, a folder that all worker processes write to, of all of them.

    The variable PROMETHEUS_MULTIPROC_DIR has to name that folder before this module is imported.
    """

    def __init__(self, shared: str = "") -> None:
        self._shared = shared
        self._registry = CollectorRegistry()
        labels = ("path", "status")
        self._requests = Counter("liantu_requests", "Requests by path and status", labels, registry=self._registry)
        self._seconds = Histogram(
            "liantu_seconds", "Seconds until the answer", ("path",), buckets=_SECONDS, registry=self._registry
        )
        self._open = Gauge(
            "liantu_open_requests", "Requests under way", registry=self._registry, multiprocess_mode="livesum"
        )
        self._kept = Counter("liantu_kept_answers", "Answers from memory and unchanged ones", registry=self._registry)

    def begin(self) -> None:
        """Count a request that is under way."""
        self._open.inc()

    def end(self, scope: Mapping[str, Any], status: int, seconds: float) -> None:
        """Count a request that ended; paths are those of the routes, so that strangers cannot add labels."""
        path = str(getattr(scope.get("route"), "path", _OTHER))
        self._open.dec()
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def keep(self) -> None:
        """Count an answer that was not computed."""
        self._kept.inc()

    def text(self) -> bytes:
        """Return all metrics."""
        registry = self._registry
        if self._shared:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, path=self._shared)  # type: ignore[no-untyped-call]
        return bytes(generate_latest(registry))
