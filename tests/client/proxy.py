"""A TCP proxy before a real service that loses answers, cuts streams, or answers by itself."""

from __future__ import annotations

import contextlib
import select
import socket
import threading


class Proxy:
    """Forwards connections to a port of this machine.

    lose_answers   so many of the next connections pass their request on and lose the answer
    cut_after      bytes of an answer after which connections are cut; None: never
    canned         answers to the next requests, instead of the service's
    n_connections  so far
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.lose_answers = 0
        self.cut_after: int | None = None
        self.canned: list[bytes] = []
        self.n_connections = 0

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                self.n_connections += 1
                threading.Thread(target=self._forward, args=(near,), daemon=True).start()

    def _forward(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError):
            if self.canned:
                near.recv(65536)
                near.sendall(self.canned.pop(0))
                return
            with socket.create_connection(("127.0.0.1", self._port)) as far:
                self._copy(near, far)

    def _copy(self, near: socket.socket, far: socket.socket) -> None:
        passed = 0
        while True:
            ready, _, _ = select.select([near, far], [], [])
            for one in ready:
                data = one.recv(65536)
                if not data:
                    return
                if one is near:
                    far.sendall(data)
                    continue
                if self.lose_answers > 0:
                    self.lose_answers -= 1
                    return
                passed += len(data)
                near.sendall(data)
                if self.cut_after is not None and passed > self.cut_after:
                    return


def answer(status: str, *headers: str, body: str = "") -> bytes:
    """A whole response after which the connection closes."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()
