"""Backup while the service writes, restore elsewhere, and what an upgrade makes of old tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.backup.postgres import split_password
from srs_service.data.layout import DataFolder
from srs_service.data.pairing import pair
from srs_service.database import JobStore, open_job_store
from srs_service.database.connection import open_database
from srs_service.database.jobs import QueueLimits, Submission
from srs_service.database.keys import Caller, hash_secret
from srs_service.database.migrations import STEPS, migrate, read_version
from srs_service.job import JobKind
from tests.deploy.tools import DEPLOY, run_script

BACKUP, RESTORE = DEPLOY / "backup" / "backup", DEPLOY / "backup" / "restore"
LIMITS = QueueLimits(100_000, 100_000)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    """Where the database is; None: SQLite in the data folder."""
    return None if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def other_url(url: str | None, request: pytest.FixtureRequest) -> str | None:
    """An empty database of the same kind."""
    if url is None:
        return None
    import psycopg

    cluster = str(request.getfixturevalue("cluster"))
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS restored WITH (FORCE)")
        connection.execute("CREATE DATABASE restored")
    return cluster.replace("/postgres?", "/restored?")


def settings(data: Path, url: str | None) -> dict[str, str]:
    return {"SRS_DATA_DIR": str(data), "SRS_DATABASE_URL": url or ""}


def submit(store: JobStore, folder: DataFolder, number: int) -> str:
    """A job with a file: the file is there before the database says so."""
    attempt = folder.jobs / f"file-{number}"
    attempt.mkdir()
    (attempt / "result.json").write_text(str(number))
    wanted = Submission("ann", JobKind.SELECT, f"{number}", {"number": number}, "d_1")
    return store.jobs.submit(wanted, LIMITS)[0].id


@pytest.fixture
def busy(tmp_path: Path, url: str | None) -> Iterator[tuple[Path, Callable[[], list[str]]]]:
    """A data folder that a writer fills; the second stops it and gives the ids of its jobs."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    store = open_job_store(url, folder.root, 4)
    pair(folder, store)
    ids = [submit(store, folder, number) for number in range(50)]
    stop = threading.Event()

    def write() -> None:
        number = 50
        while not stop.is_set():
            ids.append(submit(store, folder, number))
            number += 1

    writer = threading.Thread(target=write)
    writer.start()

    def end() -> list[str]:
        stop.set()
        writer.join()
        return ids

    yield folder.root, end
    end()
    store.close()


def test_what_was_accepted_before_a_backup_is_there_after_a_restore(
    busy: tuple[Path, Callable[[], list[str]]],
    url: str | None,
    other_url: str | None,
    tmp_path: Path,
):
    """Guards the order of a backup: every job of the copied database has its file."""
    data, end = busy
    made = run_script(BACKUP, tmp_path / "backups", **settings(data, url)).stdout.strip()
    ids = end()
    assert len(ids) > 50, "nothing was written meanwhile"
    new = tmp_path / "new"
    run_script(RESTORE, made, **settings(new, other_url))
    store = open_job_store(other_url, new, 2)
    pair(_prepared(new), store)  # or the service would not start
    jobs = store.jobs.list("ann", limit=100_000, filters={})
    store.close()
    assert {job.id for job in jobs} >= set(ids[:50])
    assert {job.id for job in jobs} <= set(ids)
    for job in jobs:
        assert (new / "jobs" / f"file-{job.name}" / "result.json").read_text() == job.name
    assert not list(new.glob("service.sqlite3-*")), "one whole file"


def test_a_restore_overwrites_nothing_and_sees_damage(
    busy: tuple[Path, Callable[[], list[str]]],
    url: str | None,
    other_url: str | None,
    tmp_path: Path,
):
    data, end = busy
    end()
    backups = tmp_path / "backups"
    made = Path(run_script(BACKUP, backups, **settings(data, url)).stdout.strip())
    assert "not empty" in run_script(RESTORE, made, code=1, **settings(data, url)).stderr
    with (made / "files.tar").open("r+b") as file:
        file.seek(600)
        file.write(b"x")
    run_script(RESTORE, made, code=1, **settings(tmp_path / "new", other_url))
    assert not (tmp_path / "new").exists()


def test_a_restore_into_a_used_database_says_what_to_do(postgres_url: str, tmp_path: Path):
    data = tmp_path / "data"
    data.mkdir()
    open_job_store(postgres_url, data, 2).close()
    made = run_script(BACKUP, tmp_path / "backups", **settings(data, postgres_url)).stdout.strip()
    given = settings(tmp_path / "new", postgres_url)
    assert "dropdb, createdb" in run_script(RESTORE, made, code=1, **given).stderr
    cluster = ("--maintenance-db", postgres_url.replace("/service?", "/postgres?"))
    for command in (["dropdb", "--force"], ["createdb"]):
        subprocess.run([*command, *cluster, "service"], check=True)
    run_script(RESTORE, made, **given)


@pytest.mark.parametrize(
    ("url", "without", "password"),
    [
        ("postgresql://srs:a%40b@db:5432/srs?x=1", "postgresql://srs@db:5432/srs?x=1", "a@b"),
        ("postgresql://srs:@db/srs", "postgresql://srs@db/srs", ""),
        ("postgresql://srs@/srs?host=/run", "postgresql://srs@/srs?host=/run", None),
        ("postgresql:///srs?host=/run", "postgresql:///srs?host=/run", None),
    ],
)
def test_the_password_is_taken_from_the_url(url: str, without: str, password: str | None):
    assert split_password(url) == (without, password)


def test_arguments_of_commands_have_no_password(postgres_url: str, tmp_path: Path):
    """Guards the password: all users of a machine see the arguments of its commands."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("pg_dump", "pg_restore"):
        program = programs / name
        program.write_text(
            f'#!/bin/sh\necho "{name} $PGPASSWORD $*" >>{tmp_path}/seen\n'
            f'exec {shutil.which(name)} "$@"\n'
        )
        program.chmod(0o755)
    data = tmp_path / "data"
    data.mkdir()
    given = settings(data, postgres_url.replace("//srs@", "//srs:se%63ret@"))
    given["PATH"] = f"{programs}:{os.environ['PATH']}"
    made = run_script(BACKUP, tmp_path / "backups", **given).stdout.strip()
    run_script(RESTORE, made, **given)
    for line, name in zip(
        (tmp_path / "seen").read_text().splitlines(), ("pg_dump", "pg_restore"), strict=True
    ):
        program, password, arguments = line.split(" ", 2)
        assert (program, password) == (name, "secret")
        assert "--dbname=postgresql://srs@/" in arguments
        assert "secret" not in arguments.replace("%63", "c")


def test_old_backups_go(tmp_path: Path):
    data, backups = tmp_path / "data", tmp_path / "backups"
    data.mkdir()
    open_job_store(None, data, 2).close()
    for day in range(10, 14):
        (backups / f"srs-202601{day}T000000Z").mkdir(parents=True)
    made = run_script(BACKUP, backups, KEEP="3", **settings(data, None)).stdout.strip()
    left = sorted(path.name for path in backups.iterdir())
    assert left == ["srs-20260112T000000Z", "srs-20260113T000000Z", Path(made).name]


@pytest.mark.parametrize("version", range(1, len(STEPS) + 1))
def test_a_backup_of_any_version_is_restored_and_upgraded(
    version: int, url: str | None, other_url: str | None, tmp_path: Path
):
    """Guards upgrades: users, keys and jobs of the first tables are there in those of today."""
    data = tmp_path / "data"
    data.mkdir()
    database = open_database(url, data, 2)
    migrate(database, STEPS[:version])
    with database.transaction() as change:
        change.run("INSERT INTO users (owner) VALUES ('ann')")
        change.run(
            "INSERT INTO jobs (id, owner, kind, name, spec, dataset_id, status, queued_at, "
            "created_at) VALUES ('j_1', 'ann', 'select', 'old', '{}', 'd_1', 'SUCCEEDED', 1, 1)"
        )
        change.run(
            "INSERT INTO api_keys (id, owner, name, hash, scopes, created_at) "
            "VALUES ('0123456789ab', 'ann', 'laptop', :hash, 'read write', 1)",
            hash=hash_secret("secret"),
        )
    database.close()
    made = run_script(BACKUP, tmp_path / "backups", **settings(data, url)).stdout.strip()
    new = tmp_path / "new"
    run_script(RESTORE, made, **settings(new, other_url))
    store = open_job_store(other_url, new, 2)
    job = store.jobs.get("j_1", "ann")
    assert (job.name, job.status.value) == ("old", "SUCCEEDED")
    found = store.keys.find("srs_0123456789ab_secret")
    assert found == Caller("ann", ("read", "write"), key_id="0123456789ab")
    assert submit(store, _prepared(new), 1)
    store.close()
    database = open_database(other_url, new, 2)
    with database.transaction(write=False) as look:
        assert read_version(look) == len(STEPS)
    database.close()


def _prepared(root: Path) -> DataFolder:
    folder = DataFolder(root)
    folder.prepare()
    return folder
