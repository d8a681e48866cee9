"""Which addresses may be reached, and that nothing else is: redirects, names that change, sizes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from srs_service.data.addresses import pin
from srs_service.data.fetching import fetch
from srs_service.errors import Invalid, OutOfReach, TooLarge

HERE = ("127.0.0.1/32",)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1/",
        "http://localhost/",
        "http://localhost.localdomain/",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[::]/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://198.18.0.1/",
        "file:///etc/passwd",
        "ftp://example.org/X.npy",
        "gopher://x/",
        "s3://bucket/x",
        "http://user:secret@1.1.1.1/",
        "http:///x",
        "http://",
        "x",
        "http://1.1.1.1:99999/",
        "http://1.1.1.1\\@127.0.0.1/",
        "http://1.1.1.1/a b",
        "http://[::1",
        "http://1.1.1.1/\n",
        "http://no-such-name.invalid/",
    ],
)
def test_what_must_not_be_reached(url):
    with pytest.raises(OutOfReach):
        pin(url)


def test_a_public_address_is_pinned():
    pinned = pin("https://1.1.1.1:8443/a?b=c")
    assert (pinned.url, pinned.host) == ("https://1.1.1.1:8443/a?b=c", "1.1.1.1:8443")
    assert pin("http://127.0.0.1:80/x", HERE).url == "http://127.0.0.1:80/x"


class Site:
    """A server on this machine that says what it was asked."""

    def __init__(self, address: str) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.redirect_to: str | None = None
        self.body = b"x" * 1000
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers["Host"]))
                self.send_response(302 if site.redirect_to else 200)
                if site.redirect_to:
                    self.send_header("Location", site.redirect_to)
                self.send_header("Content-Encoding", "gzip")
                self.end_headers()
                self.wfile.write(site.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://{address}:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> Site:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site("127.0.0.1") as made:
        yield made


def test_bytes_are_written_as_they_came(site, tmp_path):
    assert fetch(f"{site.url}/X.npy", tmp_path / "X.npy", 1000, HERE) == 1000
    assert (tmp_path / "X.npy").read_bytes() == site.body


def test_more_bytes_than_allowed_are_refused(site, tmp_path):
    with pytest.raises(TooLarge):
        fetch(f"{site.url}/X.npy", tmp_path / "X.npy", 999, HERE)


def test_a_redirect_to_a_private_address_is_not_followed(site, tmp_path):
    with Site("127.0.0.2") as inner:
        for target in (f"{inner.url}/secret", "file:///etc/passwd", "http://169.254.169.254/"):
            site.redirect_to = target
            with pytest.raises(OutOfReach):
                fetch(f"{site.url}/X.npy", tmp_path / "X.npy", 1000, HERE)
        assert inner.asked == []


def test_redirects_end(site, tmp_path):
    site.redirect_to = "/again.npy"
    with pytest.raises(Invalid, match="too often"):
        fetch(f"{site.url}/X.npy", tmp_path / "X.npy", 1000, HERE)
    assert len(site.asked) == 6


def test_a_name_is_resolved_once(site, tmp_path, monkeypatch):
    """A name that points elsewhere a moment later gains nothing: the address was pinned."""
    port = site.server.server_port
    resolve, asked = socket.getaddrinfo, []

    def rebinding(host, *rest, **more):
        if host == "data.example":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return resolve(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with Site("127.0.0.2") as inner:
        fetch(f"http://data.example:{port}/X.npy", tmp_path / "X.npy", 1000, HERE)
        assert inner.asked == []
    assert asked == ["data.example"]
    assert site.asked == [("/X.npy", f"data.example:{port}")]


def test_a_name_with_one_private_address_is_refused(monkeypatch):
    both = [(2, 1, 6, "", ("1.1.1.1", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(OutOfReach):
        pin("http://data.example/")
