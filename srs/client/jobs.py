"""Jobs of a user: submit, plan, list."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from srs.catalogue import Analysis, Option
from srs.catalogue.requests import Request, split_request
from srs.client.connection import Connection
from srs.client.datasets import Dataset
from srs.client.job import Job, get_job
from srs.client.pages import items_of
from srs.client.settings import JobSettings, SelectSettings, unknown_setting
from srs.errors import InputError


class Jobs:
    """Your jobs: `Client.jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def submit(
        self,
        dataset: Dataset | str,
        kind: str = "select",
        *,
        features: Any = None,
        targets: Sequence[str] | str | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
        webhook: Mapping[str, str] | None = None,
        **settings: Unpack[JobSettings],
    ) -> Job:
        """Submit a selection (or an explanation) of a dataset, once.

        dataset          a dataset or its id
        kind             "select" or "explain"; `Datasets.upload` submits the third kind, "ingest"
        features         of an explanation: a selection that succeeded (a job or its id; of one for
                         many targets {"job_id": ..., "target": ...}), or names
        targets          of a selection: names of targets, or "all", to select for each of them;
                         None: for one, the setting `target`
        name             name of the job
        idempotency_key  the same key and request give the same job, from any process; None: a new
                         one, which covers the retries of this call
        webhook          url and secret of a request that is sent at the end
        settings         as in `srs.select` or `srs.explain`; analyses as there, e.g.
                         ["mda", ("umfi", {"n_repeats": 5})]; feature_sets as there: a
                         mapping or a file
        """
        body: dict[str, Any] = {"kind": kind, "dataset_id": _id(dataset)}
        if kind == "explain":
            body["features"] = _features(features)
        elif features is not None:
            raise InputError("features can only be given for explanations: use kind='explain'.")
        else:
            _refuse_unknown(settings)
            if targets is not None:
                body["targets"] = targets if isinstance(targets, str) else list(targets)
        body |= {"settings": _settings(settings), "name": name, "webhook": webhook}
        key = idempotency_key or str(uuid.uuid4())
        return Job(self._connection, self._connection.post("/v1/jobs", body, key=key).json())

    def plan(self, dataset: Dataset | str, **settings: Unpack[SelectSettings]) -> dict[str, Any]:
        """What a selection would cost, without running it: memory, time, trees (see `srs.Plan`)."""
        _refuse_unknown(settings)
        body = {"dataset_id": _id(dataset), "settings": _settings(settings)}
        found: dict[str, Any] = self._connection.post("/v1/jobs:plan", body, repeatable=True).json()
        return found

    def analyses(self) -> dict[str, Analysis]:
        """The analyses that the service offers, by name, with their options."""
        items = self._connection.get("/v1/analyses").json()["items"]
        return {item["analysis"]: _offered(item) for item in items}

    def list(
        self,
        *,
        status: str | Sequence[str] | None = None,
        kind: str | Sequence[str] | None = None,
        dataset: Dataset | str | None = None,
        name: str | None = None,
        team: str | None = None,
        limit: int | None = None,
    ) -> list[Job]:
        """Your jobs, the newest first.

        status, kind  one or several
        name          a part of the name
        team          jobs that are shared with this team of yours
        """
        params = {
            "status": status,
            "kind": kind,
            "dataset_id": None if dataset is None else _id(dataset),
            "name": name,
            "team": team,
        }
        found = items_of(self._connection, "/v1/jobs", params, limit)
        return [Job(self._connection, document) for document in found]

    def compare(
        self,
        a: Job | str,
        b: Job | str,
        *,
        target_a: str | None = None,
        target_b: str | None = None,
    ) -> dict[str, Any]:
        """Two selections side by side: overlap of their relevant features, changed verdicts.

        target_a, target_b  of selections for many targets: which
        """
        params = {"a": _id(a), "b": _id(b)}
        targets = {"target_a": target_a, "target_b": target_b}
        params |= {name: target for name, target in targets.items() if target is not None}
        found: dict[str, Any] = self._connection.get("/v1/compare", params).json()
        return found

    def get(self, job_id: str) -> Job:
        """The job of an id."""
        return get_job(self._connection, job_id)


def _id(thing: Dataset | Job | str) -> str:
    return thing if isinstance(thing, str) else thing.id


def _refuse_unknown(settings: Mapping[str, Any]) -> None:
    """As any function refuses an argument that it does not have."""
    unknown = unknown_setting(settings)
    if unknown is not None:
        raise TypeError(unknown)


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as the service wants them: None is left out, sets are lists of names or ids."""
    given = {name: value for name, value in given.items() if value is not None}
    if "analyses" in given:
        given["analyses"] = [_analysis(text) for text in given["analyses"]]
    sets = given.get("feature_sets")
    if sets is None:
        return given
    if not isinstance(sets, Mapping):
        from srs.selection.set_files import read_sets

        sets = read_sets(sets)
    members = {
        str(name): [f if isinstance(f, str) else int(f) for f in features]
        for name, features in sets.items()
    }
    return {**given, "feature_sets": members}


def _features(given: Any) -> dict[str, Any]:
    """A selection or names as the service wants them."""
    if given is None:
        raise InputError(
            "an explanation needs features: the job of a selection, or names of features."
        )
    if isinstance(given, (Job, str)):
        return {"job_id": _id(given)}
    if isinstance(given, Mapping):
        return {"job_id": _id(given["job_id"]), "target": given.get("target")}
    return {"names": list(given)}


def _offered(item: Mapping[str, Any]) -> Analysis:
    """An analysis of the service; it cannot be run here."""
    options = tuple(
        Option(**{**option, "choices": tuple(option["choices"])}) for option in item["options"]
    )
    return Analysis(
        name=item["analysis"],
        title=item["title"],
        question=item["question"],
        run="",
        options=options,
        value=item["value"],
        forest=item["forest"],
        whole_subjects=item.get("whole_subjects", False),
    )


def _analysis(request: Request) -> dict[str, Any]:
    """A request for an analysis as the service wants it, which checks it.

    >>> _analysis("context=sex")
    {'analysis': 'context', 'value': 'sex', 'options': {}}
    >>> _analysis(("umfi", {"n_repeats": 5}))
    {'analysis': 'umfi', 'value': None, 'options': {'n_repeats': 5}}
    """
    name, value, options = split_request(request)
    for option, given in options.items():
        if not isinstance(given, (str, bool, int, float, list, tuple, type(None))):
            raise InputError(
                f"the service takes numbers, texts and lists of names: {option} of {name} is none "
                f"of them."
            )
    return {"analysis": name, "value": value or None, "options": options}
