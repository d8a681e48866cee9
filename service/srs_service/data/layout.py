"""Where the service keeps files: one folder a job, one below it an attempt.

An attempt writes into its own folder only. So a runner that lost its lease, and does not know it
yet, cannot disturb the one that has the job now; which attempt's files count is in the database.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from srs_service.errors import DiskFull, NotFound

OLD_SECONDS = 86_400.0  # uploads and exports that are under way are younger
SWEPT_AT_ONCE = 10_000
ID_FILE = "id"
TARGETS_NAME = "targets.json"  # in the folder of a selection of many targets
CHECKPOINTS = ("checkpoint.npz", "checkpoint-previous.npz")  # what `srs.select` leaves


@dataclass(frozen=True)
class DataFolder:
    """The folder of the service's data."""

    root: Path

    def prepare(self) -> None:
        for folder in (self.root, self.jobs, self.datasets, self.uploads, self.exports):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @property
    def jobs(self) -> Path:
        return self.root / "jobs"

    @property
    def datasets(self) -> Path:
        return self.root / "datasets"

    @property
    def uploads(self) -> Path:
        return self.root / "uploads"

    @property
    def exports(self) -> Path:
        return self.root / "exports"

    def read_id(self) -> str | None:
        """The id that the database has too, see `srs_service.data.pairing`; None: it has none
        yet."""
        try:
            return (self.root / ID_FILE).read_text().strip()
        except FileNotFoundError:
            return None

    def write_id(self, new: str) -> None:
        with tempfile.NamedTemporaryFile("w", dir=self.root, delete=False) as file:
            file.write(f"{new}\n")
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(self.root / ID_FILE)

    def held(self) -> dict[str, list[str]]:
        """Ids of jobs, datasets and uploads that have files here, by noun; of many only some."""
        return {
            folder.name: [entry.name for entry in islice(folder.iterdir(), SWEPT_AT_ONCE)]
            for folder in (self.jobs, self.datasets, self.uploads)
        }

    def attempt(self, job_id: str, fence: int) -> Path:
        return self.jobs / job_id / f"attempt-{fence}"

    def written_store(self, dataset_id: str, fence: int) -> Path:
        return self.datasets / dataset_id / f"{fence}.zarr"

    def upload(self, upload_id: str) -> Path:
        return self.uploads / upload_id

    def start_attempt(self, job_id: str, fence: int) -> Path:
        """The folder of an attempt, with the newest checkpoint of those before."""
        folder = self.attempt(job_id, fence)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for earlier in sorted(_attempts(folder.parent), reverse=True):
            if earlier < fence and copy_checkpoint(self.attempt(job_id, earlier), folder):
                break
        self.drop_earlier_attempts(job_id, fence)
        return folder

    def start_store(self, dataset_id: str, fence: int) -> Path:
        """Where an ingest writes its store; what earlier attempts wrote there is removed."""
        location = self.written_store(dataset_id, fence)
        shutil.rmtree(location.parent, ignore_errors=True)
        location.parent.mkdir(parents=True)
        return location

    def locate(self, location: str) -> str:
        """The path of a store of ours, which the database has relative to this folder."""
        return str(self.root / location)

    def drop_ingest(self, job_id: str, dataset_id: str, fence: int) -> None:
        """Remove what an attempt to ingest wrote, which nobody can use."""
        shutil.rmtree(self.attempt(job_id, fence), ignore_errors=True)
        shutil.rmtree(self.written_store(dataset_id, fence), ignore_errors=True)

    def size_of_job(self, job_id: str) -> int:
        """Bytes of the files of a job; what is linked to an upload counts there."""
        return folder_size(self.jobs / job_id)

    def require_space(self, least: int) -> None:
        """DiskFull if fewer bytes are left on the disk."""
        if self.free_bytes() < least:
            raise DiskFull

    def free_bytes(self) -> int:
        """What is left on the disk of this folder."""
        return shutil.disk_usage(self.root).free

    def drop_earlier_attempts(self, job_id: str, fence: int) -> None:
        """Remove what attempts before this one left."""
        for earlier in _attempts(self.jobs / job_id):
            if earlier < fence:
                shutil.rmtree(self.attempt(job_id, earlier), ignore_errors=True)

    def sweep(self, known_ids: Callable[[str, Sequence[str]], set[str]]) -> int:
        """Remove what a kill left: folders that the database does not know, a day old or more."""
        n_removed = 0
        for folder in (self.jobs, self.datasets, self.uploads):
            old = [e.name for e in _old_entries(folder)][:SWEPT_AT_ONCE]
            for name in set(old) - known_ids(folder.name, old):
                shutil.rmtree(folder / name, ignore_errors=True)
                n_removed += 1
        for file in _old_entries(self.exports):
            file.unlink(missing_ok=True)
            n_removed += 1
        return n_removed

    def remove_job(self, job_id: str) -> None:
        shutil.rmtree(self.jobs / job_id, ignore_errors=True)

    def remove_dataset(self, dataset_id: str) -> None:
        shutil.rmtree(self.datasets / dataset_id, ignore_errors=True)

    def remove_upload(self, upload_id: str) -> None:
        shutil.rmtree(self.upload(upload_id), ignore_errors=True)


def folder_size(folder: Path) -> int:
    """Bytes of the files below a folder that have no other name."""
    n_bytes = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                found = os.lstat(os.path.join(where, name))  # noqa: PTH118
            except FileNotFoundError:
                continue
            n_bytes += found.st_size if found.st_nlink == 1 else 0
    return n_bytes


def _old_entries(folder: Path) -> list[Path]:
    limit = time.time() - OLD_SECONDS
    return [entry for entry in folder.iterdir() if entry.stat().st_mtime < limit]


def _attempts(folder: Path) -> list[int]:
    if not folder.is_dir():
        return []
    found = (re.fullmatch(r"attempt-(\d+)", entry.name) for entry in folder.iterdir())
    return [int(match[1]) for match in found if match]


def has_checkpoint(folder: Path) -> bool:
    return any((folder / name).is_file() for name in CHECKPOINTS)


def target_folder(folder: Path, target: str) -> Path:
    """The folder of one target of a selection of many; NotFound if it has no result."""
    for row in read_targets(folder):
        if row["target"] == target and row["folder"] is not None:
            return folder / Path(row["folder"]).name
    raise NotFound(f"the selection has no result of the target {target!r}.")


def read_targets(folder: Path) -> list[dict[str, Any]]:
    """What became of the targets of a selection of many; NotFound if it had one."""
    try:
        document = json.loads((folder / TARGETS_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFound("the selection has one target, and no list of targets.") from None
    found: list[dict[str, Any]] = document["targets"]
    return found


def copy_checkpoint(old: Path, new: Path) -> bool:
    """Link the checkpoint of one attempt into another, and of many targets also the results that
    are done; whether there was one.

    A link is enough: these files are replaced by renaming and never written in place.
    """
    parts = old.iterdir() if old.is_dir() else ()
    begun = [part for part in parts if has_checkpoint(part) or (part / "result.json").is_file()]
    for part in begun:
        (new / part.name).mkdir(exist_ok=True)
        for file in part.iterdir():
            if file.is_file():
                _link(file, new / part.name / file.name)
    for name in CHECKPOINTS:
        if (old / name).is_file():
            _link(old / name, new / name)
    return has_checkpoint(new) or bool(begun)


def _link(old: Path, new: Path) -> None:
    try:
        os.link(old, new)
    except FileNotFoundError:
        return
    except OSError:
        shutil.copy2(old, new)
