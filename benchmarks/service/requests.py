"""`POST /v1/jobs` and `GET /v1/jobs/{id}` at 200 requests a second from wrk, on the same cores."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Line
from benchmarks.service.serving import serving
from tests.service.server import Server, register, select_request, submit

RATE, SECONDS, WARM_SECONDS, CONNECTIONS = 200, 30, 10, 20
MAX_P99 = 100.0  # milliseconds

# wrk has no fixed rate: each of its connections waits before it asks again.
SCRIPT = """
wrk.headers["Authorization"] = "Bearer %(key)s"
wrk.headers["Content-Type"] = "application/json"
wrk.method = "%(method)s"
wrk.path = "%(path)s"
%(body)s
function delay() return math.random() * %(pause)d end
"""


def run() -> Iterator[Line]:
    if shutil.which("wrk") is None:
        yield Line("wrk is not installed (Debian: apt-get install wrk)", "")
        return
    with serving(max_running=0, max_queued=10**6, max_queued_per_user=10**6) as server:
        yield from measure(server)


def measure(server: Server) -> Iterator[Line]:
    with server.client() as client:
        dataset_id = register(client, "data.zarr")
        job_id = submit(client, dataset_id)
    body = json.dumps(select_request(dataset_id))
    for method, path, sent in (("GET", f"/v1/jobs/{job_id}", ""), ("POST", "/v1/jobs", body)):
        rate, p99, n_wrong = load(server, method, path, sent)
        yield Line(
            f"{method} {path[:8]}: requests a second, {os.cpu_count()} cores shared with wrk",
            f"{rate:.0f}",
        )
        yield Line(
            f"{method}: 99th percentile ({n_wrong} answers were no success)",
            f"{p99:.1f} ms",
            f"under {MAX_P99:g} ms at {RATE}/s",
            p99 < MAX_P99 and not n_wrong and rate > 0.9 * RATE,
        )


def load(server: Server, method: str, path: str, body: str) -> tuple[float, float, int]:
    """Requests a second, 99th percentile in milliseconds, answers that were no success.

    Connections wait between an answer and their next request: a first, short load tells how long
    answers take, so that the second has the rate that is asked for.
    """
    _, mean, _, _ = _wrk(server, method, path=path, body=body, seconds=WARM_SECONDS, answer_ms=5.0)
    rate, _, p99, n_wrong = _wrk(
        server, method, path=path, body=body, seconds=SECONDS, answer_ms=mean
    )
    return rate, p99, n_wrong


def _wrk(
    server: Server, method: str, path: str, body: str, seconds: int, answer_ms: float
) -> tuple[float, float, float, int]:
    """Rate, mean and 99th percentile in milliseconds, answers that were no success."""
    script = Path(server.folder) / "load.lua"
    # The pause is uniform on 0 .. twice its mean.
    pause = 2 * (1000 * CONNECTIONS / RATE - answer_ms)
    script.write_text(
        SCRIPT
        % {
            "key": server.key,
            "method": method,
            "path": path,
            "pause": pause,
            "body": f"wrk.body = [[{body}]]" if body else "",
        }
    )
    time.sleep(1)
    text = subprocess.run(
        [
            "wrk",
            "-t1",
            f"-c{CONNECTIONS}",
            f"-d{seconds}s",
            "--latency",
            "-s",
            str(script),
            server.url,
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    assert rate is not None, text
    times = []
    for name in ("Latency", "99%"):
        found = re.search(rf"{name}\s+([\d.]+)(us|ms|s)", text)
        assert found is not None, text
        times.append(float(found[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]])
    return float(rate[1]), times[0], times[1], int(wrong[1]) if wrong else 0
