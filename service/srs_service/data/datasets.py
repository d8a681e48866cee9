"""Which data exist, who may read them, and where they are.

Paths of users are resolved, links included, and must then be below a folder that is open to
users; addresses must be below a prefix that is. Nothing else is ever opened.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from srs_service.data.addresses import pin
from srs_service.data.layout import DataFolder
from srs_service.data.uploads import check_name, check_together
from srs_service.database import JobStore
from srs_service.database.datasets import Dataset
from srs_service.errors import Conflict, NotFound, OutOfReach
from srs_service.job import Job
from srs_service.schemas.datasets import SourceRequest
from srs_service.schemas.fields import parse_memory
from srs_service.settings import Settings

COMPANIONS = ("table", "mask", "names", "sample_ids")  # files of a source beside its own


class DatasetRegistry:
    """The datasets of all users."""

    def __init__(self, settings: Settings, store: JobStore, folder: DataFolder) -> None:
        self._settings = settings
        self._store = store
        self._folder = folder

    def find_location(self, text: str) -> str:
        """The store that a user names, if users may read it."""
        if "::" in text:
            raise OutOfReach("chained addresses are not read: give a plain path or address.")
        if "://" in text:
            return self._find_address(text)
        path = self.find_path(text)
        if not path.is_dir():
            raise OutOfReach("a store is a folder, and this is a file.")
        return str(path)

    def _find_address(self, url: str) -> str:
        allowed = any(url.startswith(prefix) for prefix in self._settings.store_urls)
        if not allowed or ".." in url or "%" in url or "\\" in url:
            raise OutOfReach("stores at this address may not be read: ask the administrator.")
        return url

    def find_path(self, text: str) -> Path:
        """A path of the user: relative to one of the open folders, or absolute below one."""
        for root in self._settings.store_roots:
            path = (root / text).resolve()
            if path.is_relative_to(root) and path.exists():
                return path
        raise OutOfReach("there is no such path in the folders that users may read.")

    def locate(self, dataset: Dataset) -> str:
        """Where the store of a dataset is, for reading."""
        if dataset.status != "READY":
            raise Conflict(f"the dataset is {dataset.status}: only READY ones can be read.")
        return self._folder.locate(dataset.location) if dataset.managed else dataset.location

    def check_source(self, source: SourceRequest, owner: str) -> None:
        """Refuse files that are not there or may not be read."""
        files = self._find_files(source.model_dump(), owner)["source"]
        for file in files:
            check_name(file["name"])
        alone = files[0] if len(files) == 1 else None
        if alone is not None and source.file is not None and source.file.path is not None:
            check_together([Path(alone["path"])], beside=True)
        else:
            check_together([Path(file["name"]) for file in files], beside=False)

    def ingest_order(self, job: Job) -> dict[str, Any]:
        """What the child of an ingest needs to know."""
        source = job.spec["source"]
        location = self._folder.start_store(job.dataset_id, job.fence)
        return {
            "location": str(location),
            "files": self._find_files(source, job.owner),
            "target_column": (source["target"] or {}).get("column"),
            "sample_columns": source.get("sample_columns", []),
            "memory": source["memory"],
            "memory_bytes": parse_memory(source["memory"]),
            "orientation": source["orientation"],
            "target_kind": source["target_kind"],
            "event": source.get("event"),
            "exposure": source.get("exposure"),
            "ordinal": source.get("ordinal"),
            "categorical": source["categorical"],
            "id_column": source.get("id_column"),
            "dataset": source.get("dataset"),
            "covariates": source.get("covariates", []),
        }

    def limits(self, dataset: Dataset | None = None) -> dict[str, Any]:
        """What children must keep to when they read data of users.

        dataset: whose store is read; analyses may go back to the source that it was made from
        """
        settings = self._settings
        own = [] if dataset is None else self._sources(dataset)
        return {
            "max_upload": int(settings.max_upload),
            "max_features": settings.max_features,
            "trusted_networks": settings.trusted_networks,
            "readable": [str(folder) for folder in settings.store_roots],
            "own": [str(folder) for folder in own],
        }

    def _sources(self, dataset: Dataset) -> list[Path]:
        """The folders of the data folder that the ingest of a dataset has read."""
        if dataset.job_id is None:
            return []
        try:
            job = self._store.jobs.get(dataset.job_id, dataset.owner)
        except NotFound:  # deleted: its files are, too
            return []
        source = job.spec["source"]
        files = [source.get("file"), *(source.get("files") or ())]
        files += [(source.get("target") or {}).get("file"), *map(source.get, COMPANIONS)]
        ids = {file["upload_id"] for file in files if file and file.get("upload_id")}
        return [self._folder.jobs / job.id, *map(self._folder.upload, sorted(ids))]

    def _find_files(self, source: dict[str, Any], owner: str) -> dict[str, list[dict[str, Any]]]:
        """All files of a request, by what they are for."""
        target = source["target"] or {}
        given = {
            "source": source.get("files") or [source["file"]],
            "target": [target.get("file")],
            **{name: [source.get(name)] for name in COMPANIONS},
        }
        return {
            name: [self._find_file(file, owner, name) for file in files if file is not None]
            for name, files in given.items()
        }

    def _find_file(self, file: dict[str, Any], owner: str, name: str) -> dict[str, Any]:
        """Where a file of a user is: a path that may be read, or an address that may be fetched."""
        if file["url"] is not None:
            pin(file["url"], self._settings.trusted_networks)
            last = PurePosixPath(urlsplit(file["url"]).path).name
            return {"path": None, "url": file["url"], "as": name, "name": last}
        if file["path"] is not None:
            path = self.find_path(file["path"])
        else:
            upload = self._store.uploads.get(file["upload_id"], owner)
            path = self._folder.upload(upload.id) / upload.filename
        return {"path": str(path), "url": None, "as": name, "name": path.name}
