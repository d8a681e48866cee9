"""Receives files: streamed to disk, counted as they arrive, gone if they do not arrive whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from service.errors import Invalid, TooLarge
from service.job_store.datasets import Upload
from service.jobs import new_id

if TYPE_CHECKING:
    from service.app import Parts

# One plain name, of a kind that an ingest reads; nothing that could be a path or a header.
FILENAME = r"^[A-Za-z0-9_][A-Za-z0-9_. -]*\.(npy|csv|tsv|txt|csv\.gz|tsv\.gz|txt\.gz|parquet|zip)$"
WRITE_BYTES = 1 << 20


async def receive_upload(
    parts: Parts, owner: str, filename: str, body: AsyncIterator[bytes]
) -> Upload:
    """Store a file of a user; TooLarge as soon as it has more bytes than allowed."""
    kept = await run_in_threadpool(parts.store.uploads.bytes_kept, owner)
    limit = min(int(parts.settings.max_upload), int(parts.settings.max_user_data) - kept)
    upload_id = new_id("u")
    folder = parts.folder.upload(upload_id)
    folder.mkdir(parents=True)
    try:
        n_bytes, digest = await _write(str(folder / filename), body, limit)
        return await run_in_threadpool(
            parts.store.uploads.add, upload_id, owner, filename, n_bytes, digest
        )
    except BaseException:
        parts.folder.remove_upload(upload_id)
        raise


async def _write(path: str, body: AsyncIterator[bytes], limit: int) -> tuple[int, str]:
    n_bytes, digest = 0, hashlib.sha256()
    held = bytearray()
    with open(path, "wb") as file:  # noqa: PTH123

        def write() -> None:
            digest.update(held)
            file.write(held)
            held.clear()

        async for part in body:
            n_bytes += len(part)
            if n_bytes > limit:
                raise TooLarge(f"the file has more than the {limit} bytes that are left to you.")
            held += part
            if len(held) >= WRITE_BYTES:
                await run_in_threadpool(write)
        await run_in_threadpool(write)
        file.flush()
        await run_in_threadpool(os.fsync, file.fileno())
    if not n_bytes:
        raise Invalid("the body is empty: send the file as the body.")
    return n_bytes, digest.hexdigest()
