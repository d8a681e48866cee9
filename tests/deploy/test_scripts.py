"""Shell scripts are clean, and certificates are what TLS in the cluster needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.deploy.tools import DEPLOY, run_script, run_tool

SCRIPTS = sorted(
    path
    for path in DEPLOY.rglob("*")
    if path.is_file() and path.read_bytes()[:2] == b"#!" and b"sh" in path.read_bytes()[:20]
)
MAKE = DEPLOY / "tls" / "make-certificates"


def test_scripts_are_clean():
    assert len(SCRIPTS) >= 8
    done = run_tool("shellcheck", *SCRIPTS)
    assert done.returncode == 0, done.stdout
    assert not [str(path) for path in SCRIPTS if not path.stat().st_mode & 0o100]


def openssl(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["openssl", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("role", ["service", "scheduler", "worker"])
def test_certificates_serve_both_sides(certificates: Path, role: str):
    folder = certificates / role
    assert sorted(path.name for path in folder.iterdir()) == ["ca.pem", "cert.pem", "key.pem"]
    assert (folder / "key.pem").stat().st_mode & 0o077 == 0
    for purpose in ("sslserver", "sslclient"):
        done = openssl(
            *[
                "verify",
                "-x509_strict",
                "-purpose",
                purpose,
                "-CAfile",
                certificates / "service" / "ca.pem",
                folder / "cert.pem",
            ],
        )
        assert done.returncode == 0, done.stderr


def test_the_key_of_the_authority_is_gone(certificates: Path):
    """Guards the cluster: who finds these files cannot make more certificates."""
    authority = openssl("x509", "-in", certificates / "worker" / "ca.pem", "-noout", "-pubkey")
    keys = [openssl("pkey", "-in", key, "-pubout") for key in certificates.rglob("key.pem")]
    assert len(keys) == 3
    assert {done.returncode for done in (authority, *keys)} == {0}
    assert authority.stdout not in [key.stdout for key in keys]
    assert len({key.stdout for key in keys}) == 3


def test_valid_certificates_are_kept_until_renewed(tmp_path: Path):
    def read() -> list[bytes]:
        return [path.read_bytes() for path in sorted(tmp_path.rglob("*.pem"))]

    run_script(MAKE, tmp_path, "a", "b")
    first = read()
    run_script(MAKE, tmp_path, "a", "b")
    assert read() == first
    run_script(MAKE, "--renew", tmp_path, "a", "b")
    assert not set(read()) & set(first)
    (tmp_path / "a" / "cert.pem").unlink()
    before = (tmp_path / "b" / "cert.pem").read_bytes()
    run_script(MAKE, tmp_path, "a", "b")
    assert (tmp_path / "b" / "cert.pem").read_bytes() != before, "one authority for all"
    run_script(MAKE, code=2)
