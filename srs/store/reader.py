"""A feature store that was opened (`opening`), and how it is read.

Reading is whole chunks at a time (`read_chunk`), into memory that the caller owns. Chunks of a
store on a local disk are read from their files directly, several times faster than through
zarr-python and without its copies; a test holds both ways equal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import google_crc32c
import numpy as np

from srs.errors import InputError, StoreError, near
from srs.store import layout, packing
from srs.store.description import StoreDescription, describe_store
from srs.store.layout import Annotation, Manifest
from srs.store.name_index import NameIndex
from srs.store.remote import RemoteObjects
from srs.targets.registry import read_kind
from srs.targets.target import Target

if TYPE_CHECKING:
    from srs.store.view import Selection


Chosen = Sequence[str | int] | np.ndarray


class FeatureStore:
    """A feature store that has been opened and checked. Made by `open_store` and `ingest`.

    path         folder of the store; None if it lives in memory or in object storage
    location     path or address, as `open_store` takes it; None if it lives in memory
    n_features   number of features
    n_samples    number of samples
    fingerprint  hash of the content: equal fingerprints mean equal data
    selection    which part of a store this is; None: the whole
    """

    selection: Selection | None = None

    def __init__(
        self,
        root: Any,
        path: Path | None,
        manifest: Manifest,
        objects: RemoteObjects | None = None,
    ) -> None:
        self._group = root
        self._objects = objects
        self.path = path
        self.location = str(path) if path is not None else None if objects is None else objects.url
        self.manifest = manifest
        self.n_features = manifest.n_features
        self.n_samples = manifest.n_samples
        self.fingerprint = manifest.fingerprint
        self.chunk_features = manifest.chunk_features
        self.n_chunks = -(-self.n_features // self.chunk_features)

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk on disk, its checksum aside."""
        return layout.code_bytes(self.chunk_features, self.n_samples, self.manifest.code_bits)

    def __repr__(self) -> str:
        where = self.location or "memory"
        return f"<FeatureStore {where}: {self.n_features} features x {self.n_samples} samples>"

    def shared_location(self) -> str:
        """Where workers, which run in other folders, find the store."""
        if self.location is None:
            raise InputError(
                "a feature store in memory cannot be read by workers: ingest to a path that they "
                "see."
            )
        return self.location if self.path is None else str(self.path.resolve())

    def view(self, samples: Chosen | None = None, features: Chosen | None = None) -> FeatureStore:
        """Some samples (ids or numbers) and features (names or ids) of the store, not copied.

        >>> import numpy as np, srs
        >>> store = srs.ingest(np.arange(12.0).reshape(4, 3))
        >>> store.view(samples=[0, 2, 3], features=["f2", "f0"])
        <FeatureStore memory: 2 features x 3 samples>
        """
        from srs.store.view import choose_samples

        rows, ids = np.arange(self.n_samples), np.arange(self.n_features)
        if samples is not None:
            rows = choose_samples(self, samples)
        if features is not None:
            ids = np.unique(self.find_ids(list(features)))
        if len(rows) < 2 or not len(ids):
            raise InputError(
                f"{len(ids)} features and {len(rows)} samples were chosen; at least 1 and 2 are "
                f"needed."
            )
        return self._part(rows, ids)

    def _part(self, samples: np.ndarray, ids: np.ndarray) -> FeatureStore:
        from srs.store.view import StoreView

        return StoreView(self, samples, ids)

    @property
    def source_ids(self) -> np.ndarray:
        """feature id -> feature id of the whole store; another one only in a view."""
        return np.arange(self.n_features)

    # -- what is known of features, samples and targets ------------------------------------

    @cached_property
    def feature_ids(self) -> np.ndarray:
        """place -> feature id (the column of the source); int32 where that is enough."""
        small = self.n_features <= np.iinfo(np.int32).max
        return np.asarray(self._group["feature_id"][:]).astype(np.int32 if small else np.int64)

    # These are read when they are asked for, and not kept: bytes a feature add up.

    @property
    def kinds(self) -> np.ndarray:
        """uint8 by feature id: NUMERIC, ORDINAL or CATEGORICAL."""
        return np.asarray(self._group["kind"][:])

    @property
    def n_levels(self) -> np.ndarray:
        """uint8 by feature id: distinct codes, missing aside; 0 where all are missing."""
        return np.asarray(self._group["n_levels"][:])

    @property
    def top_shares(self) -> np.ndarray:
        """float32 by feature id: share of the most frequent level, missing values aside."""
        return np.asarray(self._group["top_share"][:]) / np.float32(255)

    @property
    def dosages(self) -> np.ndarray | None:
        """uint8 by feature id: which dosages the codes stand for, bit 0 for 0 and so on, or
        FRACTIONS; 0 where values are no dosages. None: of no feature."""
        return np.asarray(self._group["dosages"][:]) if "dosages" in self._group else None

    @property
    def has_names(self) -> bool:
        return "names" in self._group

    @property
    def feature_names(self) -> list[str]:
        """Names by feature id ("f0", "f1", ... where the source had none)."""
        if not self.has_names:
            return [f"f{i}" for i in range(self.n_features)]
        return self._strings("names")

    @property
    def sample_ids(self) -> list[str]:
        """Ids of the samples ("0", "1", ... where the source had none)."""
        if "samples" not in self._group:
            return [str(i) for i in range(self.n_samples)]
        return self._strings("samples")

    def describe(self) -> StoreDescription:
        """Sizes, kinds, targets, fingerprint and notices, as JSON values."""
        return describe_store(self)

    @property
    def target_names(self) -> tuple[str, ...]:
        return self.manifest.targets

    def target(self, name: str | None = None) -> Target:
        """A target by name; None: the first."""
        if not self.manifest.targets:
            raise InputError(f"{self!r} has no target: ingest again with one (--target).")
        name = self.manifest.targets[0] if name is None else name
        if name not in self.manifest.targets:
            raise InputError(
                f"there is no target {name!r}; the store has {', '.join(self.manifest.targets)}."
            )
        array = self._group[f"targets/{name}"]
        attrs = dict(array.attrs)
        return Target(name, read_kind(attrs["task"]), np.asarray(array[:]), tuple(attrs["labels"]))

    def added_mark(self, name: str | None) -> str | None:
        """The hash of a target that was added to the store, which its fingerprint does not tell;
        None: it came with the store."""
        name = self.manifest.targets[0] if name is None else name
        return dict(self._group[f"targets/{name}"].attrs).get("added")

    def labels(self, feature_id: int) -> tuple[str, ...]:
        """Levels of a categorical feature, by code; empty for the others."""
        if "labels" not in self._group:
            return ()
        ids = np.asarray(self._group["labels/feature_id"][:])
        at = int(np.searchsorted(ids, feature_id))
        if at == len(ids) or ids[at] != feature_id:
            return ()
        start, stop = np.asarray(self._group["labels/offsets"][at : at + 2])
        text = np.asarray(self._group["labels/data"][start:stop]).tobytes().decode()
        return tuple(json.loads(text))

    def annotations(self) -> dict[str, Annotation]:
        """What is known about features besides their names; empty for most sources."""
        if "annotations" not in self._group:
            return {}
        arrays = self._group["annotations"].arrays()
        return {
            name: Annotation(np.asarray(array[:]), tuple(array.attrs["labels"]))
            for name, array in sorted(arrays)
        }

    def find_ids(self, features: Sequence[str | int]) -> np.ndarray:
        """Feature ids of names or ids; a name stands for all features that have it. An unknown
        one is an InputError that names it."""
        groups = self.find_groups(features)
        return np.array([i for ids in groups for i in ids], np.int64)

    def find_groups(self, features: Sequence[str | int]) -> list[list[int]]:
        """The same, apart for each of the names or ids."""
        index: NameIndex | None = None
        groups = []
        for feature in features:
            if isinstance(feature, str):
                index = index or NameIndex(self.feature_names)
                groups.append(index.find(feature))
                if not groups[-1]:
                    hint = near(feature, self.feature_names)
                    raise InputError(f"the store has no feature named {feature!r}{hint}")
            elif not isinstance(feature, (int, np.integer)) or isinstance(feature, bool):
                raise InputError(f"a feature is a name or a whole number, not {feature!r}.")
            elif not 0 <= int(feature) < self.n_features:
                raise InputError(
                    f"there is no feature {feature}: ids are 0..{self.n_features - 1}."
                )
            else:
                groups.append([int(feature)])
        return groups

    def packed_names(self) -> tuple[np.ndarray, np.ndarray]:
        """Names as UTF-8 bytes and offsets, a tenth of the memory of a list of strings."""
        return self._packed("names")

    def _packed(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        group = self._group[name]
        return np.asarray(group["data"][:]), np.asarray(group["offsets"][:])

    def _strings(self, name: str) -> list[str]:
        return layout.unpack_strings(*self._packed(name))

    # -- reading codes ----------------------------------------------------------------------

    @cached_property
    def _codes_in_memory(self) -> np.ndarray:
        return np.asarray(self._group["codes"][:])

    def read_chunk(self, chunk: int, out: np.ndarray) -> None:
        """Read one chunk into `out`, uint8 (chunk_features // 64, n_samples, 64), C-contiguous.

        What the last chunk lacks is MISSING.
        """
        if self.manifest.code_bits == 8:
            self._read_stored(chunk, out)
            return
        packed = np.empty((*out.shape[:2], packing.PACKED_TILE), np.uint8)
        self._read_stored(chunk, packed)
        packing.unpack(packed, out)
        first = chunk * self.chunk_features
        if len(self._four_levels):
            for place in np.flatnonzero(self._four_levels[first : first + self.chunk_features]):
                one = out[place // layout.TILE, :, place % layout.TILE]
                one[one == layout.MISSING] = 3
        places, codes = self._wide
        for row in range(*np.searchsorted(places, (first, first + self.chunk_features))):
            tile, lane = divmod(int(places[row]) - first, layout.TILE)
            out[tile, :, lane] = codes[row]

    @cached_property
    def _four_levels(self) -> np.ndarray:
        """Whether the code 3 of a place is a level, and not MISSING; empty if of none."""
        if "four_levels" not in self._group:
            return np.zeros(0, bool)
        return np.unpackbits(np.asarray(self._group["four_levels"][:])).astype(bool)

    @cached_property
    def _wide(self) -> tuple[np.ndarray, np.ndarray]:
        """Places, ascending, of features that two bits do not hold, and their codes."""
        if "wide" not in self._group:
            return np.zeros(0, np.int64), np.zeros((0, self.n_samples), np.uint8)
        group = self._group["wide"]
        places, codes = np.asarray(group["place"][:]), np.asarray(group["codes"][:])
        if codes.shape != (len(places), self.n_samples) or codes.dtype != np.uint8:
            raise StoreError(f"{self!r}: wide/codes is damaged, ingest again.")
        return places, codes

    def _read_stored(self, chunk: int, out: np.ndarray) -> None:
        """Read one chunk as it is on disk."""
        if self._objects is not None:
            key = chunk_key(chunk)
            tail = self._objects.read(key, out)
            _check(f"{self._objects.url}/{key}", out, out.nbytes if tail else 0, tail)
            return
        if self.path is None:
            n_tiles = self.chunk_features // layout.TILE
            tiles = self._codes_in_memory[chunk * n_tiles : (chunk + 1) * n_tiles]
            out[: len(tiles)] = tiles
            out[len(tiles) :] = layout.MISSING
            return
        path = self.path / chunk_key(chunk)
        try:
            with path.open("rb", buffering=0) as file:
                n_read = file.readinto(out.reshape(-1).data)
                tail = file.read(5)
        except FileNotFoundError:
            raise StoreError(f"{path} is missing: the store is damaged, ingest again.") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
        _check(str(path), out, n_read, tail)

    def empty_chunks(self, n_chunks: int) -> np.ndarray:
        """Uninitialised memory for chunks; its item i is an `out` of `read_chunk`."""
        n_tiles = self.chunk_features // layout.TILE
        return np.empty((n_chunks, n_tiles, self.n_samples, layout.TILE), np.uint8)

    def read_places(self, places: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Codes of the features at `places`, (n_samples, len(places)), one chunk at a time."""
        places = np.asarray(places, np.int64)
        if out is None:
            out = np.empty((self.n_samples, len(places)), np.uint8)
        buffer = self.empty_chunks(1)[0]
        chunks, within = np.divmod(places, self.chunk_features)
        for chunk in np.unique(chunks):
            self.read_chunk(int(chunk), buffer)
            for column in np.flatnonzero(chunks == chunk):
                tile, lane = divmod(int(within[column]), layout.TILE)
                out[:, column] = buffer[tile, :, lane]
        return out

    def read_codes(self, feature_ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Codes of features by id, uint8 (n_samples, k); 255 is missing."""
        return self.read_places(self.places_of(feature_ids))

    def places_of(self, feature_ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """feature ids -> places."""
        ids = np.asarray(feature_ids, np.int64)
        if len(ids) and (ids.min() < 0 or ids.max() >= self.n_features):
            raise InputError(f"feature ids must be 0..{self.n_features - 1}.")
        place_of = np.empty(self.n_features, np.int64)
        place_of[self.feature_ids] = np.arange(self.n_features)
        return place_of[ids]

    def kept_values(self, feature_ids: np.ndarray) -> np.ndarray | None:
        """Original values (n_samples, k) where the store keeps them, else None."""
        if "values" not in self._group:
            return None
        values = self._group["values"]
        return np.stack([np.asarray(values[int(i)]) for i in feature_ids], axis=1)


def _check(where: str, out: np.ndarray, n_read: int, tail: bytes) -> None:
    """Whether a chunk has its size and its checksum, which stands behind it."""
    if n_read != out.nbytes or len(tail) != 4:
        raise StoreError(f"{where} is truncated or too long: the store is damaged, ingest again.")
    if google_crc32c.value(out.reshape(-1)) != int.from_bytes(tail, "little"):
        raise StoreError(f"{where} is corrupted (checksum differs): ingest again.")


def chunk_key(chunk: int) -> str:
    return f"codes/c/{chunk}/0/0"
