"""Counters and times in Prometheus' format; the only module that knows its library."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import Scope

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """One server's figures, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)  # memory, processor time, open files
        self._requests = Counter(
            "icons_requests_total", "Requests answered.", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "icons_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS, registry=self._registry
        )

    def watch(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Add a figure that is read when it is asked for."""
        Gauge(name, meaning, registry=self._registry).set_function(value)

    def count(self, scope: Scope, *, status: int, seconds: float) -> None:
        """Note a request. Routes are counted by their pattern, so that ids and junk make no series of their own."""
        route = getattr(scope.get("route"), "path_format", "other")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "OPTIONS") else "other"
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """All figures, in the text format."""
        return generate_latest(self._registry)
