"""Write a feature store: features come in any order, and leave in the order of their places.

Codes go to spill files by the leading bits of the feature's hash, each small enough to be sorted
in memory, and from there chunk by chunk into zarr; where one file would do, they stay in memory.
Everything happens in a folder beside the destination that is renamed at the end, so an interrupted
ingest leaves nothing that opens.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numba import njit
from zarr.storage import MemoryStore

from srs.errors import StoreError
from srs.store import layout
from srs.store.content import Content
from srs.store.layout import CATEGORICAL, MISSING, Annotation, Manifest
from srs.store.packing import tile_rows
from srs.store.spill import CodeSpill
from srs.store.target_arrays import write_target
from srs.store.writing_plan import chunk_buffers, count_buckets, refuse_existing
from srs.store.zarr_arrays import Buffer, as_buffer, create_codes, write_array, write_strings
from srs.targets.target import Target
from srs.trees.random import mix64

Rows = list[tuple[np.ndarray, np.ndarray]]  # arrays of rows, and which of them
LAST_CODE = 3  # largest that two bits hold; one less beside missing values


@njit(nogil=True, cache=True)
def _spread_twins(keys, counts, hashes):  # type: ignore[no-untyped-def]
    """Give the second, third ... feature of equal content another hash, and so another place.

    Without this, duplicates (variants in full linkage, constant features) would stand side by
    side, always compete in the same trees, and overfill one spill file. `keys` and `counts` are
    an open-addressing table of what was seen.
    """
    size = np.uint64(keys.shape[0])
    for f in range(hashes.shape[0]):
        h = hashes[f] if hashes[f] != 0 else np.uint64(1)
        slot = h % size
        while keys[slot] != 0 and keys[slot] != h:
            slot = (slot + np.uint64(1)) % size
        keys[slot] = h
        hashes[f] = mix64(h + np.uint64(0x9E3779B97F4A7C15) * np.uint64(counts[slot]))
        counts[slot] += np.uint32(1)


@njit(nogil=True, cache=True)
def _turn_rows(rows, tiles):  # type: ignore[no-untyped-def]
    """tiles (k, n, 64) from rows of 64 k features: 0.21 ns a code, numpy 0.37."""
    for at in range(tiles.shape[0]):
        for i in range(tiles.shape[1]):
            for f in range(layout.TILE):
                tiles[at, i, f] = rows[layout.TILE * at + f, i]


class StoreWriter:
    """Collect encoded features, then write the store in one go with `finish`.

    `describe` comes before it, best before the first features.

    path        destination folder; None: keep the store in memory
    memory      bytes that sorting the spilled codes may take
    overwrite   replace a feature store that is at `path` already
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        n_samples: int,
        n_features: int,
        memory: int,
        overwrite: bool = False,
    ) -> None:
        self.path = None if path is None else Path(path)
        self.n_samples = n_samples
        self.n_features = n_features
        self.any_missing = False
        refuse_existing(self.path, overwrite)
        self._folder = None if self.path is None else self._make_folder(self.path)
        self._root: Any = MemoryStore() if self._folder is None else self._folder / "store"
        self._beside = ThreadPoolExecutor(1, "srs-describe")
        self._room = threading.local()
        self._n_buckets = count_buckets(n_samples, n_features, memory)
        self._spill = CodeSpill(self._folder, self._n_buckets, n_samples, n_features)
        self._top_shares = np.zeros(n_features, np.uint8)
        self._keys = np.zeros(2 * n_features + 16, np.uint64)
        self._counts = np.zeros(2 * n_features + 16, np.uint32)
        self._hashes: list[list[np.ndarray]] = [[] for _ in range(self._n_buckets)]

    @property
    def code_bits(self) -> int:
        """Bits of a code on disk, as far as is known now."""
        return 2 if self._spill.packed else 8

    @staticmethod
    def _make_folder(path: Path) -> Path:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=f".{path.name}.partial-", dir=path.parent))
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}.") from None

    def add(self, feature_ids: np.ndarray, codes: np.ndarray, content: Content) -> None:
        """Take features: their ids, their codes (k, n_samples), and `look_at` these."""
        ids, hashes = np.asarray(feature_ids, np.int64), content.hashes.copy()
        _spread_twins(self._keys, self._counts, hashes)
        self._top_shares[ids] = content.shares
        self.any_missing = self.any_missing or bool(content.missing.any())
        four = content.tops == LAST_CODE
        rows = self._spill.pack(ids, codes, content.tops <= LAST_CODE - content.missing)
        for b, chosen in self._sort_into_buckets(hashes):
            self._spill.write(b, ids[chosen], rows[chosen], four[chosen])
            self._hashes[b].append(hashes[chosen])

    def _sort_into_buckets(self, hashes: np.ndarray) -> Iterator[tuple[int, Any]]:
        """Buckets, and which features go there."""
        if self._n_buckets == 1:
            yield 0, slice(None)
            return
        bucket = ((hashes >> np.uint64(32)) * np.uint64(self._n_buckets)) >> np.uint64(32)
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(self._n_buckets + 1))
        for b in np.flatnonzero(np.diff(bounds)).tolist():
            yield b, order[bounds[b] : bounds[b + 1]]

    def _in_places(self, width: int) -> Iterator[tuple[np.ndarray, np.ndarray, Rows]]:
        """Feature ids, which have four levels, and where their rows are: `width` at a time in the
        order of places; the last may be fewer."""
        ids, four, rows = [], [], []
        n_wanted = width
        for b in range(self._n_buckets):
            if not self._hashes[b]:
                continue
            hashes, bucket_ids = np.concatenate(self._hashes[b]), self._spill.ids(b)
            codes, fours = self._spill.read(b)
            order = np.lexsort((bucket_ids, hashes))
            while len(order):
                part, order = order[:n_wanted], order[n_wanted:]
                n_wanted -= len(part)
                ids.append(bucket_ids[part])
                four.append(fours[part])
                rows.append((codes, part))
                if n_wanted == 0:
                    yield np.concatenate(ids), np.concatenate(four), rows
                    ids, four, rows = [], [], []
                    n_wanted = width
        if ids:
            yield np.concatenate(ids), np.concatenate(four), rows

    def describe(
        self,
        *,
        names: Sequence[str] | None,
        sample_ids: Sequence[str] | None,
        targets: Sequence[Target],
        annotations: Mapping[str, Annotation] | None = None,
    ) -> None:
        """Begin to write what is known before the codes are; names are by feature id.

        Small arrays, each of which waits for the file system: so beside all else.
        """
        self._group = zarr.create_group(self._root, zarr_format=3)
        self._target_names = tuple(target.name for target in targets)
        self._described = self._beside.submit(
            self._describe, names, sample_ids, targets, annotations or {}
        )

    def _describe(
        self,
        names: Sequence[str] | None,
        sample_ids: Sequence[str] | None,
        targets: Sequence[Target],
        annotations: Mapping[str, Annotation],
    ) -> tuple[list[Buffer], list[Buffer]]:
        """What the digest takes of it, before the labels of categories and after them."""
        before: list[Buffer] = []
        after: list[Buffer] = []
        for name, strings in (("names", names), ("samples", sample_ids)):
            if strings is not None:
                before += write_strings(self._group, name, strings)
        for target in targets:
            after += write_target(self._group, target)
        for name, annotation in annotations.items():
            array = write_array(self._group, f"annotations/{name}", annotation.values)
            about: layout.AnnotationAttributes = {"labels": list(annotation.labels)}
            array.attrs.update(**about)
            after.append(repr((name, annotation.labels)).encode())
            after.append(as_buffer(annotation.values))
        return before, after

    def finish(
        self,
        *,
        kinds: np.ndarray,
        n_levels: np.ndarray,
        labels: Mapping[int, Sequence[str]],
        source: Mapping[str, Any],
        notices: Sequence[str],
        srs_version: str,
        dosages: np.ndarray | None = None,
        values: Iterator[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> Any:
        """Write everything, the manifest last, and move the store to its destination.

        kinds, n_levels, dosages are by feature id; values, if kept, come as (ids, (k, n_samples)).
        """
        width = layout.chunk_features(self.n_samples, self.n_features)
        found = self._beside.submit(self._write_found, kinds, n_levels, labels)
        feature_id = self._write_codes(width)
        before, after = self._described.result()
        fingerprint = self._digest(kinds[feature_id], (*before, *found.result(), *after))
        write_array(self._group, "feature_id", feature_id)
        if dosages is not None and dosages.any():
            write_array(self._group, "dosages", dosages)
        if values is not None:
            self._write_values(values)
        manifest = Manifest(
            n_features=self.n_features,
            n_samples=self.n_samples,
            chunk_features=width,
            fingerprint=fingerprint,
            targets=self._target_names,
            any_missing=self.any_missing,
            any_categorical=bool(((kinds == CATEGORICAL) & (n_levels > 2)).any()),
            code_bits=self.code_bits,
            source=source,
            notices=tuple(notices),
            srs_version=srs_version,
        )
        self._group.attrs["srs"] = manifest.to_json()
        return self._root if self._folder is None else self._move(self._folder / "store")

    def _write_found(
        self, kinds: np.ndarray, n_levels: np.ndarray, labels: Mapping[int, Sequence[str]]
    ) -> list[Buffer]:
        """Write what coding found; what the digest takes of it."""
        write_array(self._group, "kind", kinds.astype(np.uint8))
        write_array(self._group, "n_levels", n_levels.astype(np.uint8))
        write_array(self._group, "top_share", self._top_shares)
        if not labels:
            return []
        label_ids, texts = layout.pack_labels(labels)
        parts = write_strings(self._group, "labels", texts)
        ids = np.array(label_ids, np.int64)
        write_array(self._group, "labels/feature_id", ids)
        return [*parts, as_buffer(ids)]

    def _digest(self, kinds: np.ndarray, parts: Iterable[Buffer]) -> str:
        """The fingerprint: of the hashes of all features and their kinds, in the order of places,
        and of what else the store tells. Hashing all codes once more took a tenth of an ingest."""
        digest = hashlib.blake2b(repr((self.n_samples, self.n_features)).encode(), digest_size=16)
        for hashes in self._hashes:
            digest.update(np.sort(np.concatenate([np.zeros(0, np.uint64), *hashes])).data)
        digest.update(kinds.astype(np.uint8).data)
        for part in parts:
            digest.update(part)
        return digest.hexdigest()

    def _write_codes(self, width: int) -> np.ndarray:
        depth = layout.TILE * self.code_bits // 8
        codes = create_codes(self._group, self.n_features, self.n_samples, width, depth)
        if self._folder is not None:
            (self._folder / "store" / "codes" / "c").mkdir()
        feature_id = np.empty(self.n_features, np.int64)
        fours = np.zeros(layout.TILE * layout.count_tiles(self.n_features), bool)
        n_written, n_threads = 0, chunk_buffers(self.n_samples, self.n_features) // 2
        with ThreadPoolExecutor(n_threads, "srs-write") as writing:
            leaving: deque[Future[None]] = deque()
            for ids, four, rows in self._in_places(8 // self.code_bits * width):
                here = slice(n_written, n_written + len(ids))
                feature_id[here], fours[here] = ids, four
                first, n_written = n_written // width, here.stop
                leaving.append(writing.submit(self._write_rows, codes, first, width, rows))
                if len(leaving) > n_threads:  # the rows of others must wait for memory
                    leaving.popleft().result()
            for one in leaving:
                one.result()
        if n_written != self.n_features:
            raise StoreError(f"{n_written} of {self.n_features} features were written.")
        if fours.any() and self._spill.packed:
            write_array(self._group, "four_levels", np.packbits(fours))
        if self._spill.wide:
            self._write_wide(feature_id)
        return feature_id

    def _write_wide(self, feature_id: np.ndarray) -> None:
        """Write the codes that two bits do not hold, in the order of places."""
        wide = self._spill.wide
        places = np.flatnonzero(np.isin(feature_id, list(wide)))
        codes = np.stack([wide[int(i)] for i in feature_id[places]])
        write_array(self._group, "wide/place", places)
        write_array(self._group, "wide/codes", codes)

    def _write_rows(self, codes: zarr.Array[Any], first: int, width: int, rows: Rows) -> None:
        """Write rows as chunks of so many features, from the first one on; what is left over in
        the last is MISSING. Packed chunks are so small that four are written at a time."""
        n_rows = sum(len(part) for _, part in rows)
        n_chunks = -(-n_rows // width)
        lines, tiles = self._chunk_room(n_chunks * width, codes.shape[1:])
        at = 0
        for source, part in rows:  # mode: else numpy makes a copy
            np.take(source, part, axis=0, out=lines[at : at + len(part)], mode="clip")
            at += len(part)
        lines[at:] = MISSING
        (tile_rows if self._spill.packed else _turn_rows)(lines, tiles)
        self._write_chunks(codes, first, np.split(tiles, n_chunks))

    def _chunk_room(self, n_rows: int, tile: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Room for rows and their tiles, one of each thread: new memory would cost as much as
        filling it."""
        if not hasattr(self._room, "parts"):  # the first chunks are the longest
            self._room.parts = (
                np.empty((n_rows, self._spill.row_bytes), np.uint8),
                np.empty((n_rows // layout.TILE, *tile), np.uint8),
            )
        lines, tiles = self._room.parts
        return lines[:n_rows], tiles[: n_rows // layout.TILE]

    def _write_chunks(self, codes: zarr.Array[Any], first: int, chunks: list[np.ndarray]) -> None:
        """Write chunks as zarr would, the checksum of each after it.

        zarr itself holds 9 copies of a chunk meanwhile, and takes twice the time.
        """
        if self._folder is None:
            start, tiles = first * len(chunks[0]), np.concatenate(chunks)
            codes[start : start + len(tiles)] = tiles[: codes.shape[0] - start]
            return
        for number, chunk in enumerate(chunks, first):
            folder = self._folder / "store" / "codes" / "c" / str(number)
            folder.mkdir()
            (folder / "0").mkdir()  # parents=True would ask four times
            with (folder / "0" / "0").open("wb") as raw:
                raw.write(chunk.data)
                raw.write(google_crc32c.value(chunk.reshape(-1)).to_bytes(4, "little"))

    def _write_values(self, values: Iterator[tuple[np.ndarray, np.ndarray]]) -> None:
        array = None
        for ids, part in values:
            if array is None:
                width = max(1, layout.chunk_features(self.n_samples, self.n_features) // 8)
                array = self._group.create_array(
                    "values",
                    shape=(self.n_features, self.n_samples),
                    chunks=(width, self.n_samples),
                    dtype=part.dtype,
                )
            array[int(ids[0]) : int(ids[-1]) + 1] = part

    def _move(self, finished: Path) -> Path:
        assert self.path is not None
        if self.path.exists():
            old = finished.parent / "replaced"
            self.path.rename(old)
        finished.rename(self.path)
        self.close()
        return self.path

    def close(self) -> None:
        """Remove everything temporary. Safe to call at any time and more than once."""
        self._beside.shutdown(wait=True, cancel_futures=True)
        self._spill.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        with contextlib.suppress(OSError):
            self.close()
