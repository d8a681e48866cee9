"""One job: watch it, fetch its result, finish, cancel, resume, delete it."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srs.client.connection import Connection
from srs.client.events import ENDED, Event, follow
from srs.client.progress import JobProgress, Lines
from srs.errors import InputError, JobError, JobTimeout

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from srs.results.many import ManyResults
    from srs.results.result import Result

PARQUET = "application/vnd.apache.parquet"
POLL_SECONDS = 30.0  # that the service holds a question back until something changes
OnProgress = Callable[["Job"], None]


class Job:
    """A job of the service, as of the last request; `refresh` updates it.

    document  its description by the service (`GET /v1/jobs/{id}`)
    """

    def __init__(self, connection: Connection, document: Mapping[str, Any]) -> None:
        self._connection = connection
        self.document = document

    def __repr__(self) -> str:
        return f"<Job {self.id}: {self.kind}, {self.status}>"

    @property
    def id(self) -> str:
        return str(self.document["id"])

    @property
    def kind(self) -> str:
        """select, explain or ingest."""
        return str(self.document["kind"])

    @property
    def name(self) -> str | None:
        name: str | None = self.document["name"]
        return name

    @property
    def status(self) -> str:
        """QUEUED, RUNNING, CANCELLING, SUCCEEDED, FAILED or CANCELLED."""
        return str(self.document["status"])

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def dataset_id(self) -> str:
        return str(self.document["dataset_id"])

    @property
    def progress(self) -> JobProgress | None:
        """How far it is; None before it has started."""
        found = self.document["progress"]
        return None if found is None else JobProgress.read(found)

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """Figures of its result; None before its end."""
        found: Mapping[str, Any] | None = self.document["summary"]
        return found

    def describe(self) -> str:
        """Its status, or how far it is, in words."""
        progress = self.progress
        if self.status != "RUNNING" or progress is None:
            return self.status.lower()
        share = "" if progress.share is None else f"{progress.share:.0%}, "
        return share + progress.describe()

    # -- watching -----------------------------------------------------------------------------

    def refresh(self, wait: float = 0.0) -> Job:
        """Ask for the current state; with `wait`, up to that many seconds for a change."""
        headers = {"If-None-Match": f'"{self.document["last_event"]}"'}
        params = {"wait": f"{wait:.1f}"} if wait else None
        answer = self._connection.get(self._path(), params, headers, timeout=wait)
        if answer.status_code != HTTPStatus.NOT_MODIFIED:
            self.document = answer.json()
        return self

    def events(self, after: int = 0) -> Iterator[Event]:
        """What happened to it since event number `after`, and then live, until it has ended.

        Lost connections are resumed: no event is missing, and none comes twice.
        """
        return follow(self._connection, self._path("/events"), after)

    def wait(self, progress: bool | OnProgress = False, timeout: float | None = None) -> Job:
        """Wait until it has succeeded; JobError if it fails or is cancelled.

        progress  True: print lines to stderr; a function: called with the job
        timeout   seconds until JobTimeout is raised; the job continues
        """
        until = None if timeout is None else time.monotonic() + timeout
        show = _shower() if progress is True else progress or None
        self.refresh()
        while not self.ended:
            if show is not None:
                show(self)
            left = POLL_SECONDS if until is None else min(POLL_SECONDS, until - time.monotonic())
            if left <= 0:
                raise JobTimeout(
                    f"the job {self.id} is {self.status} after {timeout:g} seconds; it "
                    "continues on the service.",
                    self.id,
                    self.status,
                )
            self.refresh(wait=left)
        if show is not None:
            show(self)
        self.check()
        return self

    def check(self) -> None:
        """JobError if it failed or was cancelled."""
        if self.status == "FAILED":
            error = self.document["error"] or {}
            detail = error.get("detail", "no reason was given.")
            raise JobError(
                f"the job {self.id} failed: {detail}",
                self.id,
                self.status,
                bool(error.get("yours")),
            )
        if self.status == "CANCELLED":
            raise JobError(
                f"the job {self.id} was cancelled: resume it to continue.", self.id, self.status
            )

    # -- changing -----------------------------------------------------------------------------

    def cancel(self) -> Job:
        """Stop it; the work so far is kept, and `resume` continues from there."""
        self.document = self._connection.post(self._path(":cancel"), repeatable=True).json()
        return self

    def finish(self) -> Job:
        """End a running selection with what it has found so far; `wait` then ends soon."""
        self.document = self._connection.post(self._path(":finish"), repeatable=True).json()
        return self

    def resume(self) -> Job:
        """Continue a cancelled or failed job, to the same result as without the break."""
        self.document = self._connection.post(self._path(":resume")).json()
        return self

    def delete(self) -> None:
        """Remove a job that has ended, and its result."""
        self._connection.delete(self._path())

    # -- results ------------------------------------------------------------------------------

    @property
    def has_targets(self) -> bool:
        """Whether it is a selection for many targets."""
        return self.document.get("targets") is not None

    def targets(self) -> list[dict[str, Any]]:
        """What became of each target of a selection for many, as `ManyResults.summary` tells."""
        self._expect("select")
        found = self._connection.get(self._path("/targets")).json()["items"]
        return list(found)

    def overview(self) -> pd.DataFrame:
        """Targets by features that are relevant for one of them, of a selection for many."""
        self._expect("select")
        frame: pd.DataFrame = self._table("/overview", {}).to_pandas()
        return frame

    def result(self, target: str | None = None) -> Result:
        """The result of a selection that succeeded, as `srs.select` returns it.

        target  of a selection for many targets: which
        """
        from srs.results.feature_table import WholeTable
        from srs.results.result import make_result

        self._expect("select")
        if self.has_targets and target is None:
            raise InputError(f"{self.id} has many targets: say which, see Job.targets.")
        params = {} if target is None else {"target": target}
        document = self._connection.get(self._path("/result"), params).json()
        table = WholeTable(self._table("/features", params))
        return make_result(document, table, f"the result of {self.id}")

    def features(
        self,
        *,
        verdict: str | Sequence[str] = (),
        sort: str | None = None,
        search: str | None = None,
        limit: int | None = None,
        target: str | None = None,
    ) -> pd.DataFrame:
        """Features of a selection, sorted and filtered by the service.

        verdict  RELEVANT, UNDECIDED, IRRELEVANT, or several of them
        sort     a column, e.g. "q_value"; "-importance": descending
        search   only names that contain this text
        limit    number of rows (at most 10,000)
        target   of a selection for many targets: which
        """
        wanted = {
            "target": target,
            "verdict": [verdict] if isinstance(verdict, str) else list(verdict),
            "sort": sort,
            "search": search,
            "limit": limit,
        }
        params = {name: value for name, value in wanted.items() if value not in (None, [])}
        frame: pd.DataFrame = self._table("/features", params).to_pandas()
        return frame

    def pairs(
        self,
        *,
        sort: str | None = None,
        search: str | None = None,
        limit: int | None = None,
        target: str | None = None,
    ) -> pd.DataFrame:
        """Pairs of features that matter together, of a selection that looked at pairs.

        Columns as in `Result.pairs`; the most certain first if no order is given.

        sort    a column, e.g. "q_value"; "-statistic": descending
        search  only pairs with a name that contains this text
        limit   number of rows (at most 10,000)
        target  of a selection for many targets: which
        """
        self._expect("select")
        wanted = {"sort": sort, "search": search, "limit": limit, "target": target}
        params = {name: value for name, value in wanted.items() if value is not None}
        frame: pd.DataFrame = self._table("/pairs", params).to_pandas()
        return frame

    def explanation(self) -> dict[str, Any]:
        """The content of explain.json of an explanation."""
        self._expect("explain")
        found: dict[str, Any] = self._connection.get(self._path("/result")).json()
        return found

    def analysis(self, name: str) -> pd.DataFrame:
        """The table of one analysis of an explanation, e.g. "mda"."""
        self._expect("explain")
        frame: pd.DataFrame = self._table(f"/analyses/{name}", {}).to_pandas()
        return frame

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write what `srs select` or `srs explain` would have written; returns the folder."""
        if self.has_targets:
            return self._results().save(folder)
        if self.kind != "explain":
            return self.result().save(folder)
        import pyarrow.parquet as pq

        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for name in (self.refresh().summary or {}).get("analyses", ()):
            pq.write_table(self._table(f"/analyses/{name}", {}), path / f"{name}.parquet")
        report = self._connection.get(self._path("/report"), headers={"Accept": "text/html"})
        (path / "explain.html").write_bytes(report.content)
        (path / "explain.json").write_bytes(self._connection.get(self._path("/result")).content)
        return path

    def _results(self) -> ManyResults:
        """The results of all targets of a selection for many."""
        from srs.results.many import ManyResults

        rows = self.targets()
        found = {row["target"]: self.result(row["target"]) for row in rows if row["error"] is None}
        failed = {row["target"]: row["error"] for row in rows if row["error"] is not None}
        return ManyResults(found, failed)

    def _expect(self, kind: str) -> None:
        if self.kind != kind:
            raise InputError(f"{self.id} is a job of the kind {self.kind}, not {kind}.")

    def _table(self, part: str, params: Mapping[str, Any]) -> pa.Table:
        import pyarrow.parquet as pq

        answer = self._connection.get(self._path(part), params, {"Accept": PARQUET}, timeout=600)
        return pq.read_table(io.BytesIO(answer.content))

    def _path(self, part: str = "") -> str:
        return f"/v1/jobs/{self.id}{part}"


def get_job(connection: Connection, job_id: str) -> Job:
    """The job of an id."""
    return Job(connection, connection.get(f"/v1/jobs/{job_id}").json())


def _shower() -> OnProgress:
    lines = Lines()
    return lambda job: lines.show(job.kind, job.describe(), job.ended)
