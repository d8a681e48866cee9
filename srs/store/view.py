"""A part of a feature store, some samples or some features of it, without a copy.

A view is read as a store is: chunks of its own are gathered from those of the store beneath, which
are each read whole. Feature ids of a view count its features; `source_ids` are those of the store.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from srs.errors import InputError
from srs.store import layout
from srs.store.layout import MISSING, TILE, Annotation
from srs.store.name_index import NameIndex
from srs.store.reader import FeatureStore
from srs.targets.target import Target


@njit(nogil=True, cache=True)
def _gather(chunk, within, samples, first, out):  # type: ignore[no-untyped-def]
    """Copy features of a chunk to places first, first + 1, ... of `out`, some samples of each."""
    for j in range(within.shape[0]):
        tile, lane = within[j] // 64, within[j] % 64
        to_tile, to_lane = (first + j) // 64, (first + j) % 64
        for i in range(samples.shape[0]):
            out[to_tile, i, to_lane] = chunk[tile, samples[i], lane]


@njit(nogil=True, cache=True)
def _count_tops(tiles, n_places, shares):  # type: ignore[no-untyped-def]
    """Share of the most frequent code of each place of a chunk, in 255ths, missing aside."""
    counts = np.empty(256, np.int64)
    for p in range(n_places):
        counts[:] = 0
        for i in range(tiles.shape[1]):
            counts[tiles[p // 64, i, p % 64]] += 1
        n_valid = tiles.shape[1] - counts[MISSING]
        shares[p] = np.uint8(255 * counts[:MISSING].max() // max(n_valid, 1))


@dataclass(frozen=True)
class Selection:
    """Which part of a store a view is: a bit each, compressed, so that it travels to workers.

    samples, features  None: all
    """

    samples: bytes | None
    features: bytes | None

    def apply(self, store: FeatureStore) -> StoreView:
        """The view of another process, in this one."""
        return StoreView(
            store, _unpack(self.samples, store.n_samples), _unpack(self.features, store.n_features)
        )


def _pack(chosen: np.ndarray, n: int) -> bytes | None:
    if len(chosen) == n:
        return None
    bits = np.zeros(n, bool)
    bits[chosen] = True
    return zlib.compress(np.packbits(bits).tobytes())


def _unpack(packed: bytes | None, n: int) -> np.ndarray:
    if packed is None:
        return np.arange(n)
    bits = np.unpackbits(np.frombuffer(zlib.decompress(packed), np.uint8), count=n)
    return np.flatnonzero(bits)


class StoreView(FeatureStore):
    """Some samples and features of a store; made by `FeatureStore.view`.

    base        the store beneath
    samples     int64, ascending: samples of the store
    source_ids  int64, ascending: feature ids of the store, by those of the view
    """

    def __init__(self, base: FeatureStore, samples: np.ndarray, features: np.ndarray) -> None:
        self.base, self.samples, self._features = base, samples, features
        digest = hashlib.blake2b(base.fingerprint.encode(), digest_size=16)
        self.selection = Selection(_pack(samples, base.n_samples), _pack(features, base.n_features))
        for part, packed in (("samples", samples), ("features", features)):
            digest.update(part.encode() + packed.astype(np.int64).tobytes())
        n_samples, n_features = len(samples), len(features)
        manifest = replace(
            base.manifest,
            n_samples=n_samples,
            n_features=n_features,
            chunk_features=layout.chunk_features(n_samples, n_features),
            fingerprint=digest.hexdigest(),
        )
        super().__init__(base._group, base.path, manifest, base._objects)

    def _part(self, samples: np.ndarray, ids: np.ndarray) -> FeatureStore:
        return StoreView(self.base, self.samples[samples], self._features[ids])

    @property
    def source_ids(self) -> np.ndarray:
        return self._features

    @cached_property
    def _base_places(self) -> np.ndarray:
        """Places of the store beneath, ascending: those of this view in order."""
        chosen = np.zeros(self.base.n_features, bool)
        chosen[self._features] = True
        return np.flatnonzero(chosen[self.base.feature_ids])

    @cached_property
    def feature_ids(self) -> np.ndarray:
        ids = self.base.feature_ids[self._base_places]
        return np.asarray(np.searchsorted(self._features, ids).astype(ids.dtype))

    @property
    def kinds(self) -> np.ndarray:
        return np.asarray(self.base.kinds[self._features])

    @property
    def n_levels(self) -> np.ndarray:
        """Of the whole store: codes are those of the store, whichever samples are chosen."""
        return np.asarray(self.base.n_levels[self._features])

    @property
    def dosages(self) -> np.ndarray | None:
        found = self.base.dosages
        return None if found is None else np.asarray(found[self._features])

    @cached_property
    def top_shares(self) -> np.ndarray:
        if len(self.samples) == self.base.n_samples:
            return np.asarray(self.base.top_shares[self._features])
        by_place = np.empty(self.n_features, np.uint8)
        buffer = self.empty_chunks(1)[0]
        for chunk in range(self.n_chunks):
            self.read_chunk(chunk, buffer)
            here = by_place[chunk * self.chunk_features : (chunk + 1) * self.chunk_features]
            _count_tops(buffer, len(here), here)
        shares = np.empty(self.n_features, np.float32)
        shares[self.feature_ids] = by_place / np.float32(255)
        return shares

    @property
    def feature_names(self) -> list[str]:
        names = self.base.feature_names
        return [names[i] for i in self._features.tolist()]

    @property
    def sample_ids(self) -> list[str]:
        ids = self.base.sample_ids
        return [ids[i] for i in self.samples.tolist()]

    def packed_names(self) -> tuple[np.ndarray, np.ndarray]:
        return layout.pack_strings(self.feature_names)

    def target(self, name: str | None = None) -> Target:
        whole = self.base.target(name)
        return replace(whole, values=whole.values[self.samples])

    def labels(self, feature_id: int) -> tuple[str, ...]:
        return self.base.labels(int(self._features[feature_id]))

    def annotations(self) -> dict[str, Annotation]:
        return {
            name: replace(one, values=one.values[self._features])
            for name, one in self.base.annotations().items()
        }

    def find_groups(self, features: Sequence[str | int]) -> list[list[int]]:
        """Feature ids of the view, of names or of ids of the store."""
        groups = []
        for feature, ids in zip(features, self.base.find_groups(features), strict=True):
            at = np.searchsorted(self._features, ids)
            inside = self._features[np.minimum(at, self.n_features - 1)] == ids
            groups.append(at[inside].tolist())
            if not groups[-1]:
                raise InputError(f"the feature {feature!r} is not among the chosen features.")
        return groups

    def read_chunk(self, chunk: int, out: np.ndarray) -> None:
        first = chunk * self.chunk_features
        places = self._base_places[first : first + self.chunk_features]
        width = self.base.chunk_features
        buffer = self.base.empty_chunks(1)[0]
        bounds = np.flatnonzero(np.diff(places // width, prepend=-1, append=-1))
        for start, stop in pairwise(bounds):
            self.base.read_chunk(int(places[start] // width), buffer)
            _gather(buffer, places[start:stop] % width, self.samples, start, out)
        n_tiles = layout.count_tiles(len(places))
        if len(places) % TILE:
            out[n_tiles - 1, :, len(places) % TILE :] = MISSING
        out[n_tiles:] = MISSING

    def kept_values(self, feature_ids: np.ndarray) -> np.ndarray | None:
        kept = self.base.kept_values(self._features[feature_ids])
        return None if kept is None else kept[self.samples]


def choose_samples(store: FeatureStore, samples: Any) -> np.ndarray:
    """Numbers of samples given by id or by number, each once, ascending; an id stands for all
    samples that have it."""
    index: NameIndex | None = None
    found = []
    for sample in samples:
        if isinstance(sample, str):
            index = index or NameIndex(store.sample_ids)
            here = index.find(sample)
            if not here:
                raise InputError(f"there is no sample {sample!r} in {store!r}.")
            found += here
        elif not isinstance(sample, (int, np.integer)):
            raise InputError(f"a sample is an id or a whole number, not {sample!r}.")
        elif not 0 <= int(sample) < store.n_samples:
            raise InputError(f"there is no sample {sample}: they are 0..{store.n_samples - 1}.")
        else:
            found.append(int(sample))
    return np.unique(np.array(found, np.int64))
