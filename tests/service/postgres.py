"""A PostgreSQL cluster of the tests' own, in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.certificates import make_certificates

PORT = "5432"  # names the socket file; nothing listens on the network


def find_binaries() -> Path:
    """The folder of initdb and pg_ctl; skips where PostgreSQL is not installed."""
    found = shutil.which("pg_ctl")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists():
            return folder
    pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")


def as_user() -> list[str]:
    """What to put before a command: initdb refuses to run as root."""
    if os.getuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    name = "postgres" if "postgres" in names else "nobody"
    return ["setpriv", f"--reuid={name}", f"--regid={pwd.getpwnam(name).pw_gid}", "--clear-groups"]


@contextmanager
def running_cluster(tls_port: int | None = None) -> Iterator[str]:
    """A cluster while the body runs; its URL.

    tls_port  listens there too, by TLS; ca.pem of the URL's folder vouches for it as localhost
    """
    binaries = find_binaries()
    folder = Path(tempfile.mkdtemp(prefix="srs-pg-"))
    before = as_user()
    if before:
        shutil.chown(folder, before[1].partition("=")[2])

    def run(*command: str) -> None:
        done = subprocess.run(
            [*before, *command], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    data = str(folder / "data")
    # What kills are done to is the service: the cluster itself may be quick and careless.
    careless = "-c fsync=off -c full_page_writes=off"
    options = f"{careless} -c listen_addresses='' -c unix_socket_directories={folder} -p {PORT}"
    if tls_port is not None:
        make_certificates(folder)
        if before:
            shutil.chown(folder / "key.pem", before[1].partition("=")[2])
        (folder / "key.pem").chmod(0o600)
        options += f" -p {tls_port} -c listen_addresses=localhost -c ssl=on"
        options += f" -c ssl_cert_file={folder}/cert.pem -c ssl_key_file={folder}/key.pem"
    try:
        run(*[str(binaries / "initdb"), "-D", data, "-U", "srs", "-A", "trust", "--no-sync"])
        run(
            *[
                str(binaries / "pg_ctl"),
                "-D",
                data,
                "-w",
                "-o",
                options,
                "-l",
                f"{folder}/log",
                "start",
            ],
        )
        try:
            yield f"postgresql://srs@/postgres?host={folder}&port={tls_port or PORT}"
        finally:
            run(*[str(binaries / "pg_ctl"), "-D", data, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
