"""Asks a Dask scheduler for its workers, again and again. Runs in a child process of its own.

The service itself never imports Dask: it takes seconds and some 60 MB.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srs_service.jobs.reporting import Reporter

EVERY_SECONDS = 2.0
ANSWER_SECONDS = 3.0


def watch_cluster(order: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Report the number of workers until the service ends this process; None: no answer."""
    while not reporter.asked_to_stop:
        n_workers = asyncio.run(_count(order["scheduler"], order["scheduler_tls"]))
        reporter.end({"event": "cluster", "n_workers": n_workers})
        time.sleep(EVERY_SECONDS)
    return {}


async def _count(address: str, tls: str | None) -> int | None:
    from distributed.core import rpc
    from distributed.security import Security

    options: dict[str, Any] = {}
    if tls is not None:
        files = {"ca": "ca.pem", "client_cert": "cert.pem", "client_key": "key.pem"}
        named = {f"tls_{name}": str(Path(tls) / file) for name, file in files.items()}
        named["tls_ca_file"] = named.pop("tls_ca")
        security = Security(require_encryption=True, **named)
        options["connection_args"] = security.get_connection_args("client")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            async with rpc(address, **options) as scheduler:
                found = await scheduler.identity()
    except (OSError, TimeoutError, asyncio.CancelledError):
        return None
    return int(found.get("n_workers", len(found["workers"])))
