"""Work in processes of their own: a crash, a kill or a leak there does not reach the service.

A template process has imported and loaded what jobs need (see `template`: seconds, once); each
child is forked from it in some milliseconds and ends after one order. A child tells its parent what
happens as JSON lines over a pipe; when the pipe closes because the service is gone, the child ends
at once.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import queue
import resource
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

from starlette.concurrency import run_in_threadpool

from srs_service.errors import DoesNotFit, Invalid, Unavailable
from srs_service.jobs.lanes import Lane, LaneSize

_template = multiprocessing.get_context("forkserver")
# A child imports the module of the program again, `srs serve`: it finds it imported.
_template.set_forkserver_preload(["srs_service.jobs.template", "srs.cli.app"])

EXPORT_SECONDS = 600.0  # that an export may take
EXPORT_PATIENCE = 120.0  # that it may wait for a place
STOP, FINISH = b"stop", b"finish"  # what a child may be asked
GRANT = b"grant "  # before a number of bytes: the answer to what a child asks


def start_template() -> None:
    """Have the template import what jobs need before the first of them comes."""
    forkserver.ensure_running()


@dataclass
class Child:
    """A process that works on one order. `start_child` makes it.

    connection  where its messages arrive; readable or at its end when there is something to see
    """

    connection: Connection
    _process: Any
    _asked: set[bytes] = field(default_factory=set)

    def receive(self) -> dict[str, Any] | None:
        """The next message; None when the child has ended."""
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        return message

    def ask_to_stop(self) -> None:
        """Stop at the next moment that leaves a checkpoint."""
        self._ask(STOP)

    def ask_to_finish(self) -> None:
        """End with what was found so far."""
        self._ask(FINISH)

    def grant(self, n_bytes: int) -> None:
        """Say how many bytes it may write in all."""
        with contextlib.suppress(OSError):  # it has ended
            self.connection.send_bytes(GRANT + str(n_bytes).encode())

    def _ask(self, what: bytes) -> None:
        if what not in self._asked:
            self._asked.add(what)
            with contextlib.suppress(OSError):  # it has ended
                self.connection.send_bytes(what)

    def end(self) -> int | None:
        """Make sure that the process is gone; its exit code."""
        self._process.kill()
        self._process.join(10)
        self.connection.close()
        code: int | None = self._process.exitcode
        return code


def start_child(order: Mapping[str, Any]) -> Child:
    """Start a order of `srs_service.jobs.work` in a process of its own."""
    ours, theirs = _template.Pipe()
    process = _template.Process(target=_run, args=(theirs, dict(order)), daemon=True)
    try:
        process.start()
    finally:
        theirs.close()
    return Child(ours, process)


def ask_child(order: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Run a short order to its end and return what it found; raises what it says is wrong."""
    child = start_child(order)
    try:
        if not child.connection.poll(seconds):
            raise Unavailable(f"the question took more than {seconds:.0f} seconds.")
        message = child.receive()
    finally:
        child.end()
    if message is None:
        raise Unavailable("the question could not be answered: its process ended.")
    if message["event"] == "failed":
        raise refusal(message["error"])
    found: dict[str, Any] = message["found"]
    return found


def refusal(error: Mapping[str, Any]) -> Exception:
    """What to answer to a request that a order found wrong."""
    if error["code"] == "does-not-fit":
        return DoesNotFit(
            error["detail"], needed_mem=error["needed_mem"], allowed_mem=error["allowed_mem"]
        )
    return Invalid(error["detail"]) if error["yours"] else Unavailable(error["detail"])


class Questions:
    """Short orders for requests. Who waits for a place holds no thread; see `lanes`.

    lane     of plans, checks and pages of tables
    exports  of whole tables: they take long, and hold up exports only
    """

    def __init__(self) -> None:
        self.lane = Lane("questions", LaneSize(total=4, per_user=2))
        self.exports = Lane("exports", LaneSize(total=2, per_user=1), patience=EXPORT_PATIENCE)

    async def ask(
        self, owner: str, order: Mapping[str, Any], seconds: float = 60.0
    ) -> dict[str, Any]:
        async with self.lane.place(owner):
            return await run_in_threadpool(ask_child, order, seconds)

    async def export(self, owner: str, order: Mapping[str, Any]) -> dict[str, Any]:
        async with self.exports.place(owner):
            return await run_in_threadpool(ask_child, order, EXPORT_SECONDS)


# -- in the child -----------------------------------------------------------------------------


def _run(connection: Connection, order: dict[str, Any]) -> None:
    from srs_service.jobs.reporting import Reporter, Room
    from srs_service.jobs.work import run_work

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the service's to obey
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = {STOP: threading.Event(), FINISH: threading.Event()}
    granted: queue.Queue[int] = queue.Queue()
    threading.Thread(target=_listen, args=(connection, asked, granted), daemon=True).start()

    def report(message: Mapping[str, Any]) -> None:
        connection.send_bytes(json.dumps(message).encode())

    reporter = Reporter(report, asked[STOP], asked[FINISH])
    run_work(order, reporter, Room(report, order.get("granted", 0), granted))


def _listen(
    connection: Connection, asked: Mapping[bytes, threading.Event], granted: queue.Queue[int]
) -> None:
    """Hear what is asked; end at once when the service is gone."""
    while True:
        try:
            heard = connection.recv_bytes()
        except (EOFError, OSError):
            os._exit(1)
        if heard.startswith(GRANT):
            granted.put(int(heard.removeprefix(GRANT)))
        else:
            asked[heard].set()
