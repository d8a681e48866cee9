"""Write a feature store: features come in any order, and leave in the order of their places.

Codes go to spill files by the leading bits of the feature's hash, each small enough to be sorted
in memory, and from there chunk by chunk into zarr; where one file would do, they stay in memory.
Everything happens in a folder beside the destination that is renamed at the end, so an interrupted
ingest leaves nothing that opens.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numba import njit
from zarr.codecs import BytesCodec, Crc32cCodec
from zarr.storage import MemoryStore

from srs.errors import StoreError
from srs.store import layout
from srs.store.content import Content
from srs.store.layout import CATEGORICAL, MISSING, Annotation, Manifest, Target
from srs.store.packing import tile_rows
from srs.store.spill import CodeSpill
from srs.tree.random import mix64

Buffer = bytes | memoryview
LAST_CODE = 3  # largest that two bits hold; one less beside missing values
WRITE_THREADS = 2  # making the folders and the file of a chunk takes longer than filling it
SMALL_CHUNK = 4 << 20  # of these four may be on their way to disk, of larger ones two


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


def refuse_existing(path: Path | None, overwrite: bool) -> None:
    """StoreError if something is at `path` that may not be replaced."""
    if path is None or not path.exists():
        return
    if not overwrite:
        raise StoreError(
            f"{path} exists already: choose another path, or overwrite it "
            f"(overwrite=True, --overwrite)."
        )
    try:
        attributes = json.loads((path / "zarr.json").read_text())["attributes"]
        is_store = attributes["srs"]["format"] == layout.FORMAT
    except (OSError, ValueError, LookupError, TypeError):
        is_store = False
    if not is_store:
        raise StoreError(f"{path} is not a feature store and is not overwritten.")


def chunk_buffers(n_samples: int, n_features: int) -> int:
    """Chunks of bytes, or four packed ones, that are filled or written at a time."""
    return 4 if n_samples * layout.chunk_features(n_samples, n_features) <= SMALL_CHUNK else 2


def count_buckets(n_samples: int, n_features: int, memory: int) -> int:
    """Into how many buckets codes go before they are sorted."""
    return max(1, -(-n_features * n_samples // max(1 << 20, memory // 4)))


def holds_codes(n_samples: int, n_features: int, memory: int) -> bool:
    """Whether the writer keeps the codes in memory, before it sorts them."""
    return count_buckets(n_samples, n_features, memory) == 1


def renew_source(path: Path, changes: Mapping[str, Any]) -> None:
    """Put changes into what a store says of its source; codes and fingerprint stay."""
    attributes = zarr.open_group(path, mode="r+").attrs
    manifest: Any = attributes["srs"]
    attributes["srs"] = {**manifest, "source": {**manifest["source"], **changes}}


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
        self._n_buckets = count_buckets(n_samples, n_features, memory)
        self._spill = CodeSpill(self._folder, self._n_buckets, n_samples)
        self._top_shares = np.zeros(n_features, np.uint8)
        self._keys = np.zeros(2 * n_features + 16, np.uint64)
        self._counts = np.zeros(2 * n_features + 16, np.uint32)
        self._hashes: list[list[np.ndarray]] = [[] for _ in range(self._n_buckets)]
        self._ids: list[list[np.ndarray]] = [[] for _ in range(self._n_buckets)]

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
        few = bool((content.tops <= LAST_CODE - content.missing).all())
        rows = self._spill.pack(codes, few)
        bucket = ((hashes >> np.uint64(32)) * np.uint64(self._n_buckets)) >> np.uint64(32)
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(self._n_buckets + 1))
        for b in range(self._n_buckets):
            chosen = order[bounds[b] : bounds[b + 1]]
            if len(chosen):
                self._spill.write(b, rows[chosen], four[chosen])
                self._hashes[b].append(hashes[chosen])
                self._ids[b].append(ids[chosen])

    def _in_places(self, width: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Feature ids, rows and which have four levels, `width` at a time in the order of places.

        The last may have fewer ids; its rows are padded with MISSING.
        """
        rows = np.empty((width, self._spill.row_bytes), np.uint8)
        ids, four = np.empty(width, np.int64), np.zeros(width, bool)
        n_filled = 0
        for b in range(self._n_buckets):
            if not self._ids[b]:
                continue
            hashes, bucket_ids = np.concatenate(self._hashes[b]), np.concatenate(self._ids[b])
            codes, fours = self._spill.read(b, len(bucket_ids))
            order = np.lexsort((bucket_ids, hashes))
            while len(order):
                part = order[: width - n_filled]
                here = slice(n_filled, n_filled + len(part))
                np.take(codes, part, axis=0, out=rows[here], mode="clip")  # else a copy
                ids[here], four[here] = bucket_ids[part], fours[part]
                order, n_filled = order[len(part) :], n_filled + len(part)
                if n_filled == width:
                    yield ids, rows, four
                    n_filled = 0
        if n_filled:
            rows[n_filled:] = MISSING
            yield ids[:n_filled], rows, four[:n_filled]

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
                before += _write_strings(self._group, name, strings)
        for target in targets:
            array = _write_array(self._group, f"targets/{target.name}", target.values)
            array.attrs.update({"task": target.task, "labels": list(target.labels)})
            after.append(repr((target.name, target.task, target.labels)).encode())
            after.append(_buffer(target.values))
        for name, annotation in annotations.items():
            array = _write_array(self._group, f"annotations/{name}", annotation.values)
            array.attrs["labels"] = list(annotation.labels)
            after.append(repr((name, annotation.labels)).encode())
            after.append(_buffer(annotation.values))
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
        values: Iterator[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> Any:
        """Write everything, the manifest last, and move the store to its destination.

        kinds, n_levels are by feature id; values, if kept, come as (ids, (k, n_samples)).
        """
        width = layout.chunk_features(self.n_samples, self.n_features)
        found = self._beside.submit(self._write_found, kinds, n_levels, labels)
        feature_id = self._write_codes(width)
        before, after = self._described.result()
        fingerprint = self._digest(kinds[feature_id], (*before, *found.result(), *after))
        _write_array(self._group, "feature_id", feature_id)
        if values is not None:
            self._write_values(values)
        manifest = Manifest(
            self.n_features, self.n_samples, width, fingerprint, self._target_names,
            self.any_missing, bool(((kinds == CATEGORICAL) & (n_levels > 2)).any()),
            self.code_bits, source, tuple(notices), srs_version,
        )  # fmt: skip
        self._group.attrs["srs"] = manifest.to_json()
        return self._root if self._folder is None else self._move(self._folder / "store")

    def _write_found(
        self, kinds: np.ndarray, n_levels: np.ndarray, labels: Mapping[int, Sequence[str]]
    ) -> list[Buffer]:
        """Write what coding found; what the digest takes of it."""
        _write_array(self._group, "kind", kinds.astype(np.uint8))
        _write_array(self._group, "n_levels", n_levels.astype(np.uint8))
        _write_array(self._group, "top_share", self._top_shares)
        if not labels:
            return []
        label_ids, texts = layout.pack_labels(labels)
        parts = _write_strings(self._group, "labels", texts)
        ids = np.array(label_ids, np.int64)
        _write_array(self._group, "labels/feature_id", ids)
        return [*parts, _buffer(ids)]

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
        codes = _create_codes(self._group, self.n_features, self.n_samples, width, depth)
        if self._folder is not None:
            (self._folder / "store" / "codes" / "c").mkdir()
        feature_id = np.empty(self.n_features, np.int64)
        fours = np.zeros(layout.TILE * layout.count_tiles(self.n_features), bool)
        together = 8 // self.code_bits  # chunks; packed ones are too small to be handed on alone
        free = [np.empty((together * width // layout.TILE, self.n_samples, depth), np.uint8)
                for _ in range(chunk_buffers(self.n_samples, self.n_features))]  # fmt: skip
        n_written = 0
        with ThreadPoolExecutor(WRITE_THREADS, "srs-write") as writing:
            leaving: deque[tuple[np.ndarray, Future[None]]] = deque()
            for ids, rows, four in self._in_places(together * width):
                buffer = free.pop() if free else _wait(leaving.popleft())
                n_chunks = -(-len(ids) // width)
                chunks = buffer[: n_chunks * width // layout.TILE]
                (tile_rows if self._spill.packed else _turn_rows)(rows, chunks)
                feature_id[n_written : n_written + len(ids)] = ids
                fours[n_written : n_written + len(ids)] = four
                first = n_written // width
                n_written += len(ids)
                written = writing.submit(
                    self._write_chunks, codes, first, np.split(chunks, n_chunks)
                )
                leaving.append((buffer, written))
            for one in leaving:
                _wait(one)
        if n_written != self.n_features:
            raise StoreError(f"{n_written} of {self.n_features} features were written.")
        if fours.any() and self._spill.packed:
            _write_array(self._group, "four_levels", np.packbits(fours))
        return feature_id

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
                    "values", shape=(self.n_features, self.n_samples),
                    chunks=(width, self.n_samples), dtype=part.dtype,
                )  # fmt: skip
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


def _wait(leaving: tuple[np.ndarray, Future[None]]) -> np.ndarray:
    """The buffer of chunks, once they are written."""
    buffer, written = leaving
    written.result()
    return buffer


def _create_codes(
    group: zarr.Group, n_features: int, n_samples: int, width: int, depth: int
) -> zarr.Array[Any]:
    return group.create_array(
        "codes",
        shape=(layout.count_tiles(n_features), n_samples, depth),
        chunks=(width // layout.TILE, n_samples, depth),
        dtype="uint8",
        fill_value=MISSING,
        serializer=BytesCodec(),
        compressors=[Crc32cCodec()],
    )


def _write_array(group: zarr.Group, name: str, data: np.ndarray) -> zarr.Array[Any]:
    chunks = tuple(max(1, min(n, 1 << 20)) for n in data.shape)
    array = group.create_array(name, shape=data.shape, chunks=chunks, dtype=data.dtype)
    array[...] = data
    return array


def _write_strings(group: zarr.Group, name: str, strings: Sequence[str]) -> list[Buffer]:
    """Write strings; what the digest takes of them."""
    data, offsets = layout.pack_strings(strings)
    _write_array(group, f"{name}/data", data)
    _write_array(group, f"{name}/offsets", offsets)
    return [name.encode(), _buffer(offsets), _buffer(data)]


def _buffer(values: np.ndarray) -> memoryview:
    """The bytes of an array, without a copy."""
    return np.ascontiguousarray(values).view(np.uint8).data
