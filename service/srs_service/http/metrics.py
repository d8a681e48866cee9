"""Figures for Prometheus: requests of this process, jobs of the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "srs_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "srs_request_seconds",
            "Time until a response was sent",
            ["route"],
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
            registry=self._registry,
        )
        self._jobs = Gauge("srs_jobs", "Jobs by status", ["status"], registry=self._registry)
        self._gauges = {
            "running": Gauge("srs_running", "Jobs that this process runs", registry=self._registry),
            "streams": Gauge("srs_streams", "Open event streams", registry=self._registry),
        }

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        named = method if method in METHODS else "other"
        self._requests.labels(named, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def render(self, jobs: Mapping[str, int], gauges: Iterable[tuple[str, int]]) -> bytes:
        """The text that Prometheus reads."""
        for status, n in jobs.items():
            self._jobs.labels(status).set(n)
        for name, value in gauges:
            self._gauges[name].set(value)
        return generate_latest(self._registry)
