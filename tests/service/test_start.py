"""How `srs serve` starts: what it prints, and the socket that it listens on."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from srs.cli.commands.serve import listen
from srs.errors import InputError
from srs_service.database import open_job_store
from tests.service.postgres import running_cluster
from tests.service.server import ROOT, free_port


def serve(*options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "srs.cli", "serve", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **settings},
    )


def test_the_address_the_folder_and_a_first_key_are_printed_once(start_service):
    server = start_service(max_running=0)
    address, data, key = server.printed
    assert address == f"address   {server.url}"
    assert data == f"data      {(server.folder / 'data').resolve()} (SQLite)"
    assert re.fullmatch(r"API key   srs_[0-9a-f]{12}_\S{43}  \(of user admin; shown once\)", key)
    server.stop()
    assert "srs_" not in "".join(server.start().printed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_orderly_end_is_no_failure(start_service, number):
    server = start_service(max_running=1)
    assert server.end(number) == 0
    assert "interrupted" not in server.log()


def test_answers_are_sent_at_once():
    """Without TCP_NODELAY every answer of two parts waits for the client's acknowledgement."""

    async def look() -> int:
        seen = asyncio.get_running_loop().create_future()

        def connected(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            opened = writer.get_extra_info("socket")
            seen.set_result(opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listen("127.0.0.1", 0)
        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            found = await seen
            writer.close()
            return found

    assert asyncio.run(look()) == 1


def test_an_address_that_is_taken_is_said_in_a_sentence():
    port = free_port()
    with socket.create_server(("127.0.0.1", port)), pytest.raises(InputError) as caught:
        listen("127.0.0.1", port)
    assert str(caught.value) == f"127.0.0.1:{port} cannot be listened on: Address already in use."


def test_without_keys_only_on_loopback(tmp_path):
    ended = serve("--no-auth", "--host", "0.0.0.0", "--data-dir", str(tmp_path))
    assert ended.returncode == 2
    assert "only on loopback" in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("login", "reason"),
    [
        ("srs:wonderland", "Connection refused"),
        ("srs:wonder@land", "SRS_DATABASE_URL cannot be read"),
        ("srs:wonder%land", "SRS_DATABASE_URL cannot be read"),
        ("srs:wonder/land", "SRS_DATABASE_URL cannot be read"),
    ],
)
def test_why_the_database_cannot_be_opened_is_said_without_the_password(tmp_path, login, reason):
    url = f"postgresql://{login}@127.0.0.1:{free_port()}/srs"
    ended = serve("--data-dir", str(tmp_path), SRS_DATABASE_URL=url)
    assert ended.returncode == 2
    assert ended.stderr.startswith("srs: the database cannot be opened: ")
    assert reason in ended.stderr
    assert "wonder" not in ended.stderr
    assert "land" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_root_certificate_that_is_missing_is_named(tmp_path):
    """What a URL with sslmode=verify-full alone comes to, and what makes it work."""
    port = free_port()
    with running_cluster(tls_port=port) as inside:
        authority = re.search(r"host=([^&]+)", inside)[1] + "/ca.pem"
        url = f"postgresql://srs@localhost:{port}/postgres?sslmode=verify-full"
        ended = serve("--data-dir", str(tmp_path), SRS_DATABASE_URL=url, HOME=str(tmp_path))
        assert ended.returncode == 2
        assert "root.crt" in ended.stderr
        open_job_store(f"{url}&sslrootcert={authority}", tmp_path, 2).close()
