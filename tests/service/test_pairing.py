"""A database and a data folder that were never used together are refused, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from srs_service.data.layout import ID_FILE, OLD_SECONDS, DataFolder
from srs_service.data.pairing import SECRET, pair
from srs_service.database import JobStore, open_job_store
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.errors import Unavailable
from srs_service.http.app import Parts
from srs_service.job import JobKind
from srs_service.settings import Settings
from tests.service.server import ROOT

LIMITS = QueueLimits(9, 9)


def open_pair(data: Path, url: str | None) -> tuple[DataFolder, JobStore]:
    folder = DataFolder(data)
    folder.prepare()
    return folder, open_job_store(url, data, 4)


def submit_old_job(folder: DataFolder, store: JobStore) -> Path:
    """A job whose folder is old enough to be swept."""
    wanted = Submission("ann", JobKind.SELECT, "", {}, "d_1")
    path = folder.jobs / store.jobs.submit(wanted, LIMITS)[0].id
    path.mkdir()
    old = time.time() - 2 * OLD_SECONDS
    os.utime(path, (old, old))
    return path


@pytest.fixture(params=["with ids", "from before there were ids"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of an old job, in a data folder that was used with another database."""
    folder, store = open_pair(tmp_path / "data", None)
    if request.param == "with ids":
        pair(folder, store)
    path = submit_old_job(folder, store)
    store.close()
    return path


def test_a_service_with_another_database_does_not_start(kept: Path, postgres_url: str):
    data = kept.parents[1]
    ended = subprocess.run(
        [sys.executable, "-m", "srs.cli", "serve", "--port", "0"],
        text=True,
        timeout=60,
        capture_output=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SRS_DATA_DIR": str(data),
            "SRS_DATABASE_URL": postgres_url,
        },
    )
    assert ended.returncode == 2
    assert ended.stderr.strip() == (
        f"srs: the database and the data folder {data} do not belong together: set "
        "SRS_DATABASE_URL and SRS_DATA_DIR to a pair, or restore both from one backup."
    )
    assert kept.is_dir()


def test_a_used_pair_from_before_there_were_ids_gets_one(kept: Path):
    folder, store = open_pair(kept.parents[1], None)
    pair(folder, store)
    assert folder.read_id() == store.keys.find_secret(SECRET) is not None
    store.close()


def test_a_used_pair_that_lost_an_id_gets_it_again(kept: Path):
    folder, store = open_pair(kept.parents[1], None)
    pair(folder, store)
    of_pair = folder.read_id()
    (folder.root / ID_FILE).unlink()
    pair(folder, store)
    assert folder.read_id() == of_pair
    store.close()


def test_a_used_database_takes_no_empty_folder(tmp_path: Path, postgres_url: str):
    """A disk that is not mounted must not look like users without data."""
    folder, store = open_pair(tmp_path / "data", postgres_url)
    pair(folder, store)
    submit_old_job(folder, store)
    other = DataFolder(tmp_path / "other")
    other.prepare()
    with pytest.raises(Unavailable, match="do not belong together"):
        pair(other, store)
    pair(folder, store)
    store.close()


def test_two_used_pairs_are_not_mixed(tmp_path: Path):
    one, two = (open_pair(tmp_path / name, None) for name in ("one", "two"))
    pair(*one)
    pair(*two)
    with pytest.raises(Unavailable, match="do not belong together"):
        pair(one[0], two[1])
    for _, store in (one, two):
        store.close()


def test_replicas_that_start_together_agree(tmp_path: Path, postgres_url: str):
    settings = Settings(data_dir=tmp_path, database_url=postgres_url, max_running=0)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: Parts.make(settings), range(4)))
    for parts in made:
        pair(parts.folder, parts.store)
        parts.store.close()
    assert not [path for path in tmp_path.iterdir() if path.is_file() and path.name != ID_FILE]
