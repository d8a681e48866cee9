"""Turns a valid request into a job: what can be checked is checked before it is accepted."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.concurrency import run_in_threadpool

from srs_service.data.addresses import pin
from srs_service.data.datasets import DatasetRegistry
from srs_service.database import JobStore
from srs_service.database.datasets import Dataset
from srs_service.database.idempotency import RequestKey
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.errors import Conflict, DoesNotFit, Invalid
from srs_service.job import Job, JobKind, JobStatus
from srs_service.jobs.children import Questions
from srs_service.jobs.runner import Runner
from srs_service.schemas.datasets import DatasetRequest
from srs_service.schemas.fields import Request, parse_memory
from srs_service.schemas.jobs import (
    ExplainRequest,
    IngestRequest,
    PlanRequest,
    SelectRequest,
)
from srs_service.schemas.select_settings import SelectSettings
from srs_service.settings import Settings

REMEMBERED_CHECKS = 1_000
# Of a request, what has columns of its own.
NOT_IN_SPEC = {"webhook", "name", "kind", "dataset_id", "priority", "labels"}
# Keys of requests before there were these stay good.
ADDED_LATER: dict[str, Any] = {"targets": None, "priority": 0, "labels": {}}


class Submitter:
    """Where jobs are submitted; in the event loop, with threads for the database only."""

    def __init__(
        self,
        settings: Settings,
        store: JobStore,
        library: DatasetRegistry,
        questions: Questions,
        runner: Runner,
    ) -> None:
        self._settings = settings
        self._store = store
        self._registry = library
        self._questions = questions
        self._runner = runner
        self._checked: OrderedDict[str, None] = OrderedDict()
        self._under_way: set[tuple[str, str]] = set()

    @property
    def limits(self) -> QueueLimits:
        return QueueLimits(self._settings.max_queued, self._settings.max_queued_per_user)

    async def submit(
        self, owner: str, request: SelectRequest | ExplainRequest | IngestRequest, key: str | None
    ) -> tuple[Job, bool]:
        """Accept a job, or find the one that the same key made; whether it is new."""
        wanted = _submission(owner, request, key)
        if request.webhook is not None:
            await run_in_threadpool(pin, request.webhook.url, self._settings.trusted_networks)
        with self._one_at_a_time(wanted.key):
            if wanted.key:
                made = await run_in_threadpool(self._store.jobs.find_by_key, wanted.key)
                if made is not None:
                    return made, False
            if isinstance(request, SelectRequest):
                await self._check_select(owner, request)
            job, is_new = await run_in_threadpool(self._store_job, wanted, request)
        self._runner.wake()
        return job, is_new

    def _store_job(
        self, wanted: Submission, request: SelectRequest | ExplainRequest | IngestRequest
    ) -> tuple[Job, bool]:
        self._store.space.check(wanted.owner, int(self._settings.max_user_data))
        if isinstance(request, IngestRequest):
            return self._submit_ingest(wanted, request)
        if isinstance(request, ExplainRequest):
            self._check_explain(wanted.owner, request)
        return self._store.jobs.submit(wanted, self.limits)

    async def register(self, owner: str, request: DatasetRequest, key: str | None) -> Dataset:
        """A dataset of a store that is there, or the one that the same key made."""
        assert request.store is not None
        wanted = _request_key(owner, request, key)
        datasets = self._store.datasets
        with self._one_at_a_time(wanted):
            if wanted:
                made = await run_in_threadpool(datasets.find_by_key, wanted)
                if made is not None:
                    return made
            location = await run_in_threadpool(self._registry.find_location, request.store)
            order = {"work": "inspect", "location": location, "limits": self._registry.limits()}
            about = await self._questions.ask(owner, order)
            return await run_in_threadpool(
                datasets.register,
                owner,
                request.name,
                location=location,
                about=about,
                key=wanted,
            )

    @contextmanager
    def _one_at_a_time(self, key: RequestKey | None) -> Iterator[None]:
        """Refuse a key whose first request is still being looked at."""
        if key is None:
            yield
            return
        name = (key.owner, key.text)
        if name in self._under_way:
            raise Conflict(
                "a request with this Idempotency-Key is under way: try again in a moment.",
                headers={"Retry-After": "1"},
            )
        self._under_way.add(name)
        try:
            yield
        finally:
            self._under_way.discard(name)

    async def plan(self, owner: str, request: PlanRequest) -> dict[str, Any]:
        """What a selection would cost; DoesNotFit with both numbers if it cannot run."""
        question = await run_in_threadpool(
            self._question, "plan", owner, request.dataset_id, request.settings
        )
        return await self._questions.ask(owner, question)

    # -- checks -------------------------------------------------------------------------------

    def _check_memory(self, memory: str) -> None:
        wanted, allowed = parse_memory(memory), self._settings.max_memory
        if wanted > allowed:
            raise DoesNotFit(
                f"the job asks for {wanted} bytes of memory and {int(allowed)} are allowed here.",
                needed_mem=wanted,
                allowed_mem=int(allowed),
            )

    async def _check_select(self, owner: str, request: SelectRequest) -> None:
        question = await run_in_threadpool(
            self._question, "check", owner, request.dataset_id, request.settings
        )
        if isinstance(request.targets, list):
            dataset = await run_in_threadpool(self._store.datasets.get, request.dataset_id, owner)
            _check_targets(dataset, request.targets)
            question["settings"]["target"] = request.targets[0]  # others need as much memory
        # The seed changes neither what fits nor what is valid.
        asked = json.dumps(
            [request.dataset_id, {**question["settings"], "seed": 0}], sort_keys=True
        )
        known = hashlib.sha256(asked.encode()).hexdigest()
        if known in self._checked:
            self._checked.move_to_end(known)
            return
        await self._questions.ask(owner, question)
        self._checked[known] = None
        if len(self._checked) > REMEMBERED_CHECKS:
            self._checked.popitem(last=False)

    def _check_explain(self, owner: str, request: ExplainRequest) -> None:
        dataset = self._store.datasets.get(request.dataset_id, owner)
        self._registry.locate(dataset)
        _check_columns(dataset, request)
        if request.features.job_id is not None:
            selection = self._store.jobs.get(request.features.job_id, owner)
            if selection.kind != JobKind.SELECT or selection.status != JobStatus.SUCCEEDED:
                raise Invalid("features.job_id must name a selection that succeeded.")
            targets, target = selection.spec.get("targets"), request.features.target
            if (targets is None) != (target is None):
                needs = "has many targets: say which" if target is None else "has one target"
                raise Invalid(f"features.target: the selection {needs}.")
            if (selection.summary or {}).get("n_relevant") == 0:
                raise Invalid(
                    "the selection found no relevant feature: name features to explain instead."
                )

    def _submit_ingest(self, wanted: Submission, request: IngestRequest) -> tuple[Job, bool]:
        self._check_memory(request.source.memory)
        self._registry.check_source(request.source, wanted.owner)
        job, _, is_new = self._store.datasets.submit_ingest(wanted, self.limits)
        return job, is_new

    def _question(
        self, order: str, owner: str, dataset_id: str, settings: SelectSettings
    ) -> dict[str, Any]:
        dataset = self._store.datasets.get(dataset_id, owner)
        self._check_memory(settings.memory)
        return {
            "work": order,
            "location": self._registry.locate(dataset),
            "settings": settings.model_dump(),
            "threads": self._settings.job_threads,
            "scheduler": self._settings.scheduler,
            "limits": self._registry.limits(dataset),
        }


def _check_targets(dataset: Dataset, targets: list[str]) -> None:
    """Refuse targets that the dataset does not have."""
    known = [target["name"] for target in (dataset.about or {}).get("targets", ())]
    for name in targets:
        if name not in known:
            there = ", ".join(known) or "none"
            raise Invalid(f"targets: the dataset has no target {name!r}; it has {there}.")


def _check_columns(dataset: Dataset, request: ExplainRequest) -> None:
    """Refuse a target or subjects that the dataset does not have."""
    known = [target["name"] for target in (dataset.about or {}).get("targets", ())]
    for name in ("target", "subjects"):
        column = getattr(request.settings, name)
        if column is not None and column not in known:
            there = ", ".join(known) or "none"
            raise Invalid(f"{name}: the dataset has no column {column!r}; it has {there}.")


def _submission(
    owner: str, request: SelectRequest | ExplainRequest | IngestRequest, key: str | None
) -> Submission:
    spec: dict[str, Any] = request.model_dump(exclude=NOT_IN_SPEC)
    sets = None
    if isinstance(request, SelectRequest) and request.settings.feature_sets is not None:
        sets = request.settings.feature_sets
        n_members = sum(map(len, sets.values()))
        spec["settings"]["feature_sets"] = {"n_sets": len(sets), "n_members": n_members}
    return Submission(
        owner=owner,
        kind=JobKind(request.kind),
        name=request.name or "",
        spec=spec,
        dataset_id="" if isinstance(request, IngestRequest) else request.dataset_id,
        key=_request_key(owner, request, key),
        webhook=None if request.webhook is None else request.webhook.model_dump(),
        sets=sets,
        priority=request.priority,
        labels=request.labels or None,
    )


def _request_key(owner: str, request: Request, key: str | None) -> RequestKey | None:
    if key is None:
        return None
    asked = request.model_dump()
    for name, unsaid in ADDED_LATER.items():
        if asked.get(name) == unsaid:
            asked.pop(name, None)
    body = json.dumps(asked, sort_keys=True)
    return RequestKey(owner, key, hashlib.sha256(body.encode()).hexdigest())
