"""Figures for Prometheus: requests and jobs of this process, what waits, the disk, the cluster."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from srs_service.job import JobKind

if TYPE_CHECKING:
    from srs_service.http.app import Parts

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Jobs take from a second to days.
JOB_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86_400, 3 * 86_400)
GAUGES = {
    "running": ("srs_running", "Jobs that this process runs"),
    "streams": ("srs_streams", "Open event streams"),
    "oldest": ("srs_queue_oldest_seconds", "How long the oldest waiting job waits"),
    "disk_free": ("srs_disk_free_bytes", "Free bytes of the disk of the data folder"),
    "disk_total": ("srs_disk_total_bytes", "All bytes of the disk of the data folder"),
    "scheduler": ("srs_scheduler_up", "Whether the scheduler answers; 1 too if there is none"),
    "workers": ("srs_workers", "Workers of the scheduler; -1: not known, or there is none"),
    "exports_waiting": ("srs_exports_waiting", "Requests that wait for a place to export"),
    "questions_waiting": ("srs_questions_waiting", "Requests that wait for a plan, check or page"),
}


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
        self._job_seconds = Histogram(
            "srs_job_seconds",
            "Time of attempts that ended in this process",
            ["kind", "outcome"],
            buckets=JOB_SECONDS,
            registry=self._registry,
        )
        self._jobs = Gauge("srs_jobs", "Jobs by status", ["status"], registry=self._registry)
        self._waiting = Gauge(
            "srs_waiting", "Waiting jobs by what they wait for", ["reason"], registry=self._registry
        )
        self._webhooks = Gauge(
            "srs_webhooks", "Webhooks by how they stand", ["outcome"], registry=self._registry
        )
        self._gauges = {
            key: Gauge(name, about, registry=self._registry)
            for key, (name, about) in GAUGES.items()
        }

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        named = method if method in METHODS else "other"
        self._requests.labels(named, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_job(self, kind: str, outcome: str, seconds: float) -> None:
        """An attempt ended: done, failed, interrupted or crashed."""
        self._job_seconds.labels(kind, outcome).observe(seconds)

    def render(self, parts: Parts) -> bytes:
        """The text that Prometheus reads, with what is true now."""
        self.set_jobs(parts.store.jobs.count())
        for outcome, n in parts.store.deliveries.count().items():
            self._webhooks.labels(outcome).set(n)
        self._set_waiting(parts)
        disk = shutil.disk_usage(parts.folder.root)
        workers = parts.scheduler.n_workers
        for key, value in (
            ("running", parts.runner.n_running),
            ("streams", parts.streams.n_open),
            ("disk_free", disk.free),
            ("disk_total", disk.total),
            ("scheduler", int(parts.scheduler.answers)),
            ("workers", -1 if workers is None else workers),
            ("exports_waiting", parts.questions.exports.n_waiting),
            ("questions_waiting", parts.questions.lane.n_waiting),
        ):
            self._gauges[key].set(value)
        return self.show()

    def set_jobs(self, counts: Mapping[str, int]) -> None:
        """Jobs by status."""
        for status, n in counts.items():
            self._jobs.labels(status).set(n)

    def show(self) -> bytes:
        """The text that Prometheus reads, with what was last set."""
        return generate_latest(self._registry)

    def _set_waiting(self, parts: Parts) -> None:
        """Each waiting job for one reason: the cluster, the limit of its user, or a free place."""
        found = {"scheduler": 0, "workers": 0, "user limit": 0, "place": 0}
        rows = parts.store.jobs.waiting(parts.settings.max_running_per_user)
        for row in rows:
            n, limited = int(row["n"]), int(row["limited"] or 0)
            if row["kind"] == JobKind.SELECT and not parts.scheduler.answers:
                found["scheduler"] += n
            elif row["kind"] == JobKind.SELECT and parts.scheduler.n_workers == 0:
                found["workers"] += n
            else:
                found["user limit"] += limited
                found["place"] += n - limited
        for reason, n in found.items():
            self._waiting.labels(reason).set(n)
        self._gauges["oldest"].set(max((float(row["oldest"]) for row in rows), default=0.0))
