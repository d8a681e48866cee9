"""Receives files: streamed to disk, counted as they arrive, gone if they do not arrive whole."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from srs import find_format, formats
from srs_service.database.datasets import Upload
from srs_service.errors import Invalid, TooLarge
from srs_service.job import new_id

if TYPE_CHECKING:
    from srs_service.http.app import Parts

ARCHIVE = ".zip"  # of a zarr folder, or of other files that belong together
WRITE_BYTES = 1 << 20


def _filename() -> str:
    """One plain name of a file that an ingest reads; nothing that could be a path or a header."""
    stored = [one for one in formats() if one.is_stored]
    ends = {s for one in stored for s in one.all_suffixes} | {ARCHIVE}
    known = "|".join(re.escape(end.removeprefix(".")) for end in sorted(ends))
    return rf"^[A-Za-z0-9_][A-Za-z0-9_. -]*\.({known})$"


FILENAME = _filename()


def check_name(filename: str) -> None:
    """Invalid if the reader of such files is not safe with those of strangers."""
    found = find_format(filename)
    if found is not None and not found.safe:
        raise Invalid(f"{found.title} files are not read here: their reader is not declared safe.")


def check_together(paths: Sequence[Path], *, beside: bool) -> None:
    """Invalid if a file is not there that belongs to one of these.

    beside  whether files next to these are there, too
    """
    for path in paths:
        found = find_format(path)
        if found is None:
            continue
        missing = found.say_missing(path, lambda file: file in paths or (beside and file.is_file()))
        if missing:
            how = "put them into one folder" if beside else "give them as `files`, or in one .zip"
            raise Invalid(f"{missing}: {how}.")


async def receive_upload(
    parts: Parts, owner: str, filename: str, body: AsyncIterator[bytes]
) -> Upload:
    """Store a file of a user; TooLarge as soon as it has more bytes than allowed."""
    check_name(filename)
    kept = await run_in_threadpool(parts.store.uploads.bytes_kept, owner)
    limit = min(int(parts.settings.max_upload), int(parts.settings.max_user_data) - kept)
    upload_id = new_id("u")
    folder = parts.folder.upload(upload_id)
    folder.mkdir(parents=True)
    try:
        n_bytes, digest = await _write(str(folder / filename), body, limit)
        return await run_in_threadpool(
            parts.store.uploads.add,
            upload_id,
            owner,
            filename=filename,
            n_bytes=n_bytes,
            sha256=digest,
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
                raise TooLarge(
                    f"the file has more than the {limit} bytes that remain of your quota."
                )
            held += part
            if len(held) >= WRITE_BYTES:
                await run_in_threadpool(write)
        await run_in_threadpool(write)
        file.flush()
        await run_in_threadpool(os.fsync, file.fileno())
    if not n_bytes:
        raise Invalid("the body is empty: send the file as the body.")
    return n_bytes, digest.hexdigest()
