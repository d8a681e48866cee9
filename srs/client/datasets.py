"""Datasets: upload, register, list, look at, delete."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from srs.client.connection import Connection
from srs.client.files import packed, plain_name, with_companions
from srs.client.job import OnProgress, get_job
from srs.client.pages import items_of
from srs.errors import SourceError

LocalPath = str | os.PathLike[str]
TARGET_FILES = (".npy", ".csv", ".tsv", ".txt", ".gz")


class Dataset:
    """A dataset of the service, as of the last request.

    document  its description by the service (`GET /v1/datasets/{id}`)
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
        """Name, kind and classes of each target."""
        return list(self.document["targets"] or ())

    def refresh(self) -> Dataset:
        """Ask the service for the current state."""
        self.document = self._connection.get(f"/v1/datasets/{self.id}").json()
        return self

    def wait(self, progress: bool | OnProgress = False, timeout: float | None = None) -> Dataset:
        """Wait until its ingest has ended; JobError if that failed. Arguments as in `Job.wait`."""
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
        self,
        path: LocalPath | Sequence[LocalPath],
        target: LocalPath | None = None,
        *,
        name: str | None = None,
        orientation: str = "samples",
        target_kind: str | None = None,
        event: str | None = None,
        exposure: str | None = None,
        ordinal: Sequence[str] | None = None,
        categorical: Sequence[str] = (),
        id_column: str | None = None,
        dataset: str | None = None,
        mask: LocalPath | None = None,
        table: LocalPath | None = None,
        covariates: Sequence[str] = (),
        sample_columns: Sequence[str] = (),
        names: LocalPath | None = None,
        sample_ids: LocalPath | None = None,
        memory: str = "1GB",
    ) -> Dataset:
        """Send data; the service makes a feature store of them, as `srs.ingest` does.

        path            a file, a folder, or several files that belong together; files that are
                        next to a file and belong to it (.bim and .fam of .bed) are sent with it
        target          name of a column, or a file with one value per sample
        name            name of the dataset; None: the name of the file
        mask, table, names, sample_ids   files, as in `srs.ingest`
        sample_columns  columns of the data or of `table` that are kept with the target
        event, exposure  columns of a time to event, or of a count
        Other arguments as in `srs.ingest`.

        Returns when the data have arrived; `Dataset.wait` waits for the store.
        """
        given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
        if not given:
            raise SourceError("no file was given.")
        source = {
            **self._send_source([Path(one) for one in given]),
            "target": self._target(target),
            **self._send_beside(mask=mask, table=table, names=names, sample_ids=sample_ids),
            "orientation": orientation,
            "target_kind": target_kind,
            **_of_target(event, exposure, ordinal),
            "categorical": list(categorical),
            "id_column": id_column,
            "dataset": dataset,
            "covariates": list(covariates),
            "sample_columns": list(sample_columns),
            "memory": memory,
        }
        return self._ingest(name or Path(given[0]).name, source)

    def ingest(
        self,
        source: str | Sequence[str],
        target: str | None = None,
        *,
        name: str | None = None,
        orientation: str = "samples",
        target_kind: str | None = None,
        event: str | None = None,
        exposure: str | None = None,
        ordinal: Sequence[str] | None = None,
        categorical: Sequence[str] = (),
        id_column: str | None = None,
        dataset: str | None = None,
        mask: str | None = None,
        table: str | None = None,
        covariates: Sequence[str] = (),
        sample_columns: Sequence[str] = (),
        names: str | None = None,
        sample_ids: str | None = None,
        memory: str = "1GB",
    ) -> Dataset:
        """Let the service make a feature store of data that it can read itself.

        source  an http(s) address, or a path in a folder that users of the service may read; or
                several that belong together
        target  name of a column, or an address or path of a file with one value per sample
        mask, table, names, sample_ids   addresses or paths
        Other arguments as in `upload`.
        """
        given = [source] if isinstance(source, str) else list(source)
        wanted = None
        if target is not None:
            is_file = "://" in target or target.endswith(TARGET_FILES)
            wanted = {"file": _place(target)} if is_file else {"column": target}
        beside = {"mask": mask, "table": table, "names": names, "sample_ids": sample_ids}
        places = [_place(one) for one in given]
        body = {
            **({"file": places[0]} if len(places) == 1 else {"files": places}),
            "target": wanted,
            **{key: _place(text) for key, text in beside.items() if text is not None},
            "orientation": orientation,
            "target_kind": target_kind,
            **_of_target(event, exposure, ordinal),
            "categorical": list(categorical),
            "id_column": id_column,
            "dataset": dataset,
            "covariates": list(covariates),
            "sample_columns": list(sample_columns),
            "memory": memory,
        }
        return self._ingest(name or _last(given[0]), body)

    def _ingest(self, name: str, source: Mapping[str, Any]) -> Dataset:
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

    def _send_source(self, paths: Sequence[Path]) -> dict[str, Any]:
        """Send what the data are: a folder in one archive, files with those beside them."""
        if len(paths) == 1 and paths[0].is_dir():
            with packed(paths[0]) as archive:
                return {"file": self._send(archive)}
        files = [file for path in paths for file in with_companions(path)]
        sent = [self._send(file) for file in dict.fromkeys(files)]
        return {"file": sent[0]} if len(sent) == 1 else {"files": sent}

    def _send_beside(self, **files: LocalPath | None) -> dict[str, Any]:
        return {name: self._send(Path(file)) for name, file in files.items() if file is not None}

    def _send(self, file: Path) -> dict[str, str]:
        try:
            size = file.stat().st_size
            handle = file.open("rb")
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}.") from None
        if not size:
            handle.close()
            raise SourceError(f"{file} is empty: there is nothing to send.")
        with handle:
            answer = self._connection.upload(
                "/v1/uploads", lambda: _parts(handle), {"filename": plain_name(file.name)}
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


def _of_target(
    event: str | None, exposure: str | None, ordinal: Sequence[str] | None
) -> dict[str, Any]:
    """What a kind of target needs, as far as it was given."""
    given = {
        "event": event,
        "exposure": exposure,
        "ordinal": None if ordinal is None else list(ordinal),
    }
    return {name: value for name, value in given.items() if value is not None}
