"""What child processes are told of a job: its request with paths of this machine."""

from __future__ import annotations

from typing import Any

from srs_service.data.datasets import DatasetRegistry
from srs_service.data.layout import DataFolder, target_folder
from srs_service.database import JobStore
from srs_service.errors import NotFound
from srs_service.job import Job, JobKind
from srs_service.settings import Settings


class Orders:
    def __init__(
        self, settings: Settings, store: JobStore, folder: DataFolder, registry: DatasetRegistry
    ) -> None:
        self._settings = settings
        self._store = store
        self._folder = folder
        self._registry = registry

    def write(self, job: Job) -> dict[str, Any]:
        """The order of a job, with the folder of its attempt made."""
        order: dict[str, Any] = {
            "work": job.kind.value,
            "threads": self._settings.job_threads,
            "folder": str(self._folder.start_attempt(job.id, job.fence)),
            "settings": job.spec.get("settings"),
            "scheduler": self._settings.scheduler,
            "scheduler_tls": _text(self._settings.scheduler_tls),
        }
        if job.kind == JobKind.INGEST:
            return order | {"limits": self._registry.limits()} | self._registry.ingest_order(job)
        dataset = self._store.datasets.get(job.dataset_id, job.owner)
        order["location"] = self._registry.locate(dataset)
        order["limits"] = self._registry.limits(dataset)
        if job.kind == JobKind.SELECT:
            sets = self._store.jobs.feature_sets(job.id)
            order["settings"] = {**job.spec["settings"], "feature_sets": sets}
            order["targets"] = job.spec.get("targets")  # jobs of version 0.1 have none
        if job.kind == JobKind.EXPLAIN:
            order["features"] = self._features(job)
            order["memory_bytes"] = int(self._settings.max_memory)
        return order

    def _features(self, job: Job) -> Any:
        wanted = job.spec["features"]
        if wanted["names"] is not None:
            return wanted["names"]
        selection = self._store.jobs.get(wanted["job_id"], job.owner)
        if selection.result_fence is None:
            raise NotFound("the selection whose features were to be explained has no result.")
        folder = self._folder.attempt(selection.id, selection.result_fence)
        target = wanted.get("target")
        return str(folder if target is None else target_folder(folder, target))


def _text(path: Any) -> str | None:
    return None if path is None else str(path)
