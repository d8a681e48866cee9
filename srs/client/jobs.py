"""Jobs of a user: submit, plan, list."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from srs.client.connection import Connection
from srs.client.datasets import Dataset
from srs.client.job import Job, get_job
from srs.client.pages import items_of
from srs.errors import InputError


class Jobs:
    """Your jobs: `Client.jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def submit(
        self, dataset: Dataset | str, kind: str = "select", *, features: Any = None,
        name: str | None = None, idempotency_key: str | None = None,
        webhook: Mapping[str, str] | None = None, **settings: Any,
    ) -> Job:  # fmt: skip
        """Submit a selection (or an explanation) of a dataset, once.

        dataset          a dataset or its id
        kind             "select" or "explain"; `Datasets.upload` submits the third kind, "ingest"
        features         of an explanation: a selection that succeeded (a job or its id), or names
        name             what to call the job
        idempotency_key  the same key and request give the same job, from any process; None: a new
                         one, which covers the retries of this call
        webhook          url and secret: where to tell of the end
        settings         as of `srs.select` or `srs.explain`; analyses as there: ["mda", "umfi"],
                         feature_sets as there: a mapping or a file
        """
        body: dict[str, Any] = {"kind": kind, "dataset_id": _id(dataset)}
        if kind == "explain":
            body["features"] = _features(features)
            if "analyses" in settings:
                settings["analyses"] = [_analysis(text) for text in settings["analyses"]]
        elif features is not None:
            raise InputError("features belong to explanations: kind='explain'.")
        body |= {"settings": _settings(settings), "name": name, "webhook": webhook}
        key = idempotency_key or str(uuid.uuid4())
        return Job(self._connection, self._connection.post("/v1/jobs", body, key=key).json())

    def plan(self, dataset: Dataset | str, **settings: Any) -> dict[str, Any]:
        """What a selection would cost, without running it: memory, time, trees (see `srs.Plan`)."""
        body = {"dataset_id": _id(dataset), "settings": _settings(settings)}
        found: dict[str, Any] = self._connection.post(
            "/v1/jobs:plan", body, repeatable=True
        ).json()  # fmt: skip
        return found

    def list(
        self, *, status: str | None = None, kind: str | None = None,
        dataset: Dataset | str | None = None, limit: int | None = None,
    ) -> list[Job]:  # fmt: skip
        """Your jobs, the newest first."""
        params = {
            "status": status, "kind": kind,
            "dataset_id": None if dataset is None else _id(dataset),
        }  # fmt: skip
        found = items_of(self._connection, "/v1/jobs", params, limit)
        return [Job(self._connection, document) for document in found]

    def get(self, job_id: str) -> Job:
        """The job of an id."""
        return get_job(self._connection, job_id)


def _id(thing: Dataset | Job | str) -> str:
    return thing if isinstance(thing, str) else thing.id


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as the service wants them: sets of features as lists of names or ids."""
    sets = given.get("feature_sets")
    if sets is None:
        return dict(given)
    if not isinstance(sets, Mapping):
        from srs.sets import read_sets

        sets = read_sets(sets)
    members = {
        str(name): [f if isinstance(f, str) else int(f) for f in features]
        for name, features in sets.items()
    }
    return {**given, "feature_sets": members}


def _features(given: Any) -> dict[str, Any]:
    """A selection or names as the service wants them."""
    if given is None:
        raise InputError("an explanation needs features: a selection's job, or names.")
    if isinstance(given, (Job, str)):
        return {"job_id": _id(given)}
    return {"names": list(given)}


def _analysis(text: str) -> dict[str, str | None]:
    """
    >>> _analysis("context=sex"), _analysis("mda")
    ({'analysis': 'context', 'value': 'sex'}, {'analysis': 'mda', 'value': None})
    """
    name, _, value = text.partition("=")
    return {"analysis": name.strip(), "value": value.strip() or None}
