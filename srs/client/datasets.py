"""Datasets: upload, register, list, look at, delete."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from srs.client.connection import Connection
from srs.client.job import OnProgress, get_job
from srs.client.pages import items_of
from srs.errors import SourceError

TARGET_FILES = (".npy", ".csv", ".tsv", ".txt", ".gz")


class Dataset:
    """A dataset of the service, as it was when last looked at.

    document  what the service says of it (`GET /v1/datasets/{id}`)
    """

    def __init__(self, connection: Connection, document: Mapping[str, Any]) -> None:
        self._connection = connection
        self.document = document

    def __repr__(self) -> str:
        return f"<Dataset {self.id}: {self.name}, {self.status}>"

    @property
    def id(self) -> str:
        return str(self.document["id"])

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def status(self) -> str:
        """PENDING, READY or FAILED."""
        return str(self.document["status"])

    @property
    def n_features(self) -> int | None:
        found: int | None = self.document["n_features"]
        return found

    @property
    def n_samples(self) -> int | None:
        found: int | None = self.document["n_samples"]
        return found

    @property
    def targets(self) -> list[dict[str, Any]]:
        """Name, task and classes of each target."""
        return list(self.document["targets"] or ())

    def refresh(self) -> Dataset:
        """Look again."""
        self.document = self._connection.get(f"/v1/datasets/{self.id}").json()
        return self

    def wait(
        self, progress: bool | OnProgress = False, timeout: float | None = None
    ) -> Dataset:  # fmt: skip
        """Wait until its ingest has ended; JobError if that failed. Arguments as of `Job.wait`."""
        if self.status != "READY" and self.document["job_id"] is not None:
            get_job(self._connection, self.document["job_id"]).wait(progress, timeout)
        return self.refresh()

    def delete(self) -> None:
        """Remove it; a store that was registered stays where it is."""
        self._connection.delete(f"/v1/datasets/{self.id}")


class Datasets:
    """Your datasets: `Client.datasets`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def upload(
        self, path: str | os.PathLike[str], target: str | os.PathLike[str] | None = None, *,
        name: str | None = None, orientation: str = "samples", task: str | None = None,
        categorical: Sequence[str] = (), id_column: str | None = None, memory: str = "1GB",
    ) -> Dataset:  # fmt: skip
        """Send a file; the service makes a feature store of it, as `srs.ingest` does.

        path         .npy, .csv, .tsv, .txt (also .gz) or .parquet
        target       name of a column, or a file of one value a sample
        name         what to call the dataset; None: as the file
        orientation, task, categorical, id_column, memory   as of `srs.ingest`

        Returns when the file has arrived; `Dataset.wait` waits for the store.
        """
        file = Path(path)
        return self._ingest(
            name or file.name, self._send(file), self._target(target), orientation=orientation,
            task=task, categorical=list(categorical), id_column=id_column, memory=memory,
        )  # fmt: skip

    def ingest(
        self, source: str, target: str | None = None, *, name: str | None = None,
        orientation: str = "samples", task: str | None = None, categorical: Sequence[str] = (),
        id_column: str | None = None, memory: str = "1GB",
    ) -> Dataset:  # fmt: skip
        """Let the service make a feature store of a file that it can read itself.

        source  an http(s) address, or a path below a folder that the service opens to users
        target  name of a column, or an address or path of a file of one value a sample
        Other arguments as of `upload`.
        """
        wanted = None
        if target is not None:
            is_file = "://" in target or target.endswith(TARGET_FILES)
            wanted = {"file": _place(target)} if is_file else {"column": target}
        return self._ingest(
            name or _last(source), _place(source), wanted, orientation=orientation, task=task,
            categorical=list(categorical), id_column=id_column, memory=memory,
        )  # fmt: skip

    def _ingest(
        self, name: str, file: Mapping[str, str], target: Mapping[str, Any] | None, **how: Any
    ) -> Dataset:
        source = {"file": file, "target": target, **how}
        return self._create({"name": name, "source": source}, str(uuid.uuid4()))

    def register(
        self, store: str, name: str | None = None, *, idempotency_key: str | None = None
    ) -> Dataset:
        """Use a feature store that the service can read, by its path or address there.

        idempotency_key  the same key, store and name give the same dataset; None: a new one
        """
        body = {"name": name or _last(store), "store": store}
        return self._create(body, idempotency_key or str(uuid.uuid4()))

    def list(self, limit: int | None = None) -> list[Dataset]:
        """Your datasets, the newest first."""
        found = items_of(self._connection, "/v1/datasets", {}, limit)
        return [Dataset(self._connection, document) for document in found]

    def get(self, dataset_id: str) -> Dataset:
        """The dataset of an id."""
        return Dataset(self._connection, self._connection.get(f"/v1/datasets/{dataset_id}").json())

    def _create(self, body: Mapping[str, Any], key: str) -> Dataset:
        return Dataset(
            self._connection, self._connection.post("/v1/datasets", body, key=key).json()
        )

    def _target(self, target: str | os.PathLike[str] | None) -> dict[str, Any] | None:
        if target is None:
            return None
        if Path(target).is_file():
            return {"file": self._send(Path(target))}
        if str(target).endswith(TARGET_FILES) or not isinstance(target, str):
            raise SourceError(f"{target} does not exist: give a file or the name of a column.")
        return {"column": target}

    def _send(self, file: Path) -> dict[str, str]:
        try:
            size = file.stat().st_size
            handle = file.open("rb")
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}.") from None
        with handle:
            answer = self._connection.upload(
                "/v1/uploads", lambda: _parts(handle), {"filename": file.name}
            )
        received = answer.json()
        if received["n_bytes"] != size:
            raise SourceError(f"{file} changed while it was sent: send it again.")
        return {"upload_id": received["id"]}


def _parts(handle: BinaryIO) -> Any:
    """The file from its start, a mebibyte at a time."""
    handle.seek(0)
    while part := handle.read(1 << 20):
        yield part


def _place(text: str) -> dict[str, str]:
    return {"url" if "://" in text else "path": text}


def _last(path: str) -> str:
    """
    >>> _last("cohort7/wide.zarr/"), _last("wide.zarr")
    ('wide.zarr', 'wide.zarr')
    """
    return path.rstrip("/").rpartition("/")[2] or path
