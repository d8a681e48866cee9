"""Receives files: streamed to disk, counted as they arrive, gone if they do not arrive whole."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from srs import find_format, formats
from srs_service.database.datasets import Upload
from srs_service.errors import FULL, DiskFull, Invalid, OverQuota, TooLarge
from srs_service.job import new_id

if TYPE_CHECKING:
    from srs_service.http.app import Parts

ARCHIVE = ".zip"  # of a zarr folder, or of other files that belong together
WRITE_BYTES = 1 << 20
RESERVED_BYTES = 16 << 20  # at once, for uploads whose length is not said


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
    parts: Parts, owner: str, filename: str, body: AsyncIterator[bytes], length: int | None
) -> Upload:
    """Store a file of a user; TooLarge as soon as it has more bytes than allowed.

    length  that the client promised; None: it did not
    """
    check_name(filename)
    upload_id = new_id("u")
    most = int(parts.settings.max_upload)
    if length is not None and length > most:
        raise _too_large(most)

    async def reserve(n_bytes: int) -> None:
        await run_in_threadpool(
            parts.store.space.reserve_upload,
            upload_id,
            owner,
            n_bytes,
            int(parts.settings.max_user_data),
        )

    parts.folder.require_space(int(parts.settings.min_free))
    await reserve(length or 0)
    folder = parts.folder.upload(upload_id)
    try:
        folder.mkdir(parents=True)
        target = _Target(str(folder / filename), most, length or 0, reserve)
        n_bytes, digest = await _write(target, body)
        return await run_in_threadpool(
            parts.store.uploads.add,
            upload_id,
            owner,
            filename=filename,
            n_bytes=n_bytes,
            sha256=digest,
        )
    except BaseException as error:
        parts.folder.remove_upload(upload_id)
        # Also if the client has gone: the loop would cancel a wait, and the bytes stay reserved.
        await asyncio.shield(run_in_threadpool(parts.store.space.give_back, upload_id))
        if isinstance(error, OSError) and error.errno in FULL:
            raise DiskFull from None
        raise


@dataclass
class _Target:
    """A file that is being written.

    limit     bytes that it may have
    reserved  bytes that are reserved for it
    reserve   reserves so many in all, or raises
    """

    path: str
    limit: int
    reserved: int
    reserve: Callable[[int], Awaitable[None]]

    async def make_room(self, n_bytes: int) -> None:
        """Have room for so many bytes before they are written."""
        if n_bytes > self.limit:
            raise _too_large(self.limit)
        if n_bytes > self.reserved:
            self.reserved = max(n_bytes, min(self.limit, self.reserved + RESERVED_BYTES))
            try:
                await self.reserve(self.reserved)
            except OverQuota:  # for all of that: it may need less
                self.reserved = n_bytes
                await self.reserve(n_bytes)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"a file may have {limit} bytes.", limit=limit)


async def _write(target: _Target, body: AsyncIterator[bytes]) -> tuple[int, str]:
    n_bytes, digest = 0, hashlib.sha256()
    held = bytearray()
    with open(target.path, "wb") as file:  # noqa: PTH123

        def write() -> None:
            digest.update(held)
            file.write(held)
            held.clear()

        async for part in body:
            n_bytes += len(part)
            await target.make_room(n_bytes)
            held += part
            if len(held) >= WRITE_BYTES:
                await run_in_threadpool(write)
        await run_in_threadpool(write)
        file.flush()
        await run_in_threadpool(os.fsync, file.fileno())
    if not n_bytes:
        raise Invalid("the body is empty: send the file as the body.")
    return n_bytes, digest.hexdigest()
