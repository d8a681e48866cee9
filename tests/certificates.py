"""Certificates of an authority of their own, for TLS on loopback."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest


def make_certificates(folder: Path) -> Path:
    """Write ca.pem, and cert.pem and key.pem of localhost, which it vouches for."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = x509.BasicConstraints(ca=True, path_length=None)
    local = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    (folder / "ca.pem").write_bytes(_issue("authority", ca_key.public_key(), ca_key, authority))
    (folder / "cert.pem").write_bytes(_issue("srs", key.public_key(), ca_key, local))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder


def _issue(name, public_key, ca_key, extension) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named("authority"))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        .sign(ca_key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)
