"""What a feature store looks like on disk: names of arrays, the manifest, and its checks.

    wide.zarr/                      zarr v3 group; its attribute "srs" is the manifest
    ├── codes      uint8 (n_tiles, n_samples, 64) codes: place p is [p // 64, :, p % 64]; or
    │              (n_tiles, n_samples, 16) of 2 bits each, see `srs.store.packing`
    ├── four_levels uint8 (n_places / 8,)         a bit a place; only of 2-bit codes
    ├── wide/      place, codes                   of the few that 2 bits do not hold; their rows in
    │                                             `codes` are MISSING
    ├── feature_id int64 (n_features,)            place -> feature id (column of the source)
    ├── kind       uint8 (n_features,)            by feature id: numeric, ordinal, categorical
    ├── n_levels   uint8 (n_features,)            by feature id: distinct codes, missing aside; of
    │                                             fractions the highest code and 1
    ├── top_share  uint8 (n_features,)            by feature id: most frequent level, in 255ths
    ├── dosages    uint8 (n_features,)            by feature id: which of 0, 1, 2 occur, a bit
    │                                             each, or FRACTIONS; 0 where values are none;
    │                                             absent: of none
    ├── names/     data, offsets                  by feature id; absent: "f0", "f1", ...
    ├── samples/   data, offsets                  sample ids; absent: 0, 1, ...
    ├── labels/    data, offsets, feature_id      levels of categorical features, JSON each
    ├── values     float (n_features, n_samples)  by feature id; only where values are kept
    ├── annotations/NAME                          by feature id: positions and the like
    └── targets/NAME                              int32 class codes or float64 values; -1 or NaN
                                                  where a sample has none

`codes` is chunked by features and never along samples. Features stand in tiles of 64, and inside a
tile the bytes are sample-major: filling a block then copies cache lines, 64 features of a sample
at a time, from memory that is read in order. (With one wide sample-major chunk the same copies
jumped a kilobyte each and took ten times longer; feature-major they were a transposition.) The
last tile is padded with MISSING. Each chunk ends with its CRC-32C.

The *place* of a feature, its row in `codes`, follows from a hash of its content and its name, not
from its column in the source. So results do not depend on the order of columns, and neighbours in
the source, which are often correlated, do not always meet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

import numpy as np

from srs.errors import StoreError

FORMAT = "srs-feature-store"
SCHEMA_VERSION = 3
OLD_VERSIONS = (1, 2)  # that are read, too: 2 has no wide codes, 1 one byte a code
MISSING = 255  # the code kept for missing values
MAX_LEVELS = 255  # codes 0..254
FRACTIONS = 8  # of `dosages`: the code of a dosage is its number of steps
DOSAGE_STEPS = 127  # of one allele: codes 0..254 are dosages from 0 to 2

NUMERIC, ORDINAL, CATEGORICAL = 0, 1, 2
KIND_NAMES = ("numeric", "ordinal", "categorical")

TILE = 64  # features of a tile: one cache line a sample
CHUNK_BYTES = 1 << 20  # measured by benchmarks/store_chunks.py


@dataclass(frozen=True)
class Annotation:
    """What is known of each feature beside its name, such as its position on a genome.

    values  whole numbers by feature id: what is known, or numbers of labels
    labels  label of each number; empty where the numbers say it themselves
    """

    values: np.ndarray
    labels: tuple[str, ...] = ()


class TargetAttributes(TypedDict):
    """Attributes of the array `targets/NAME`.

    task    what kind of target it is, e.g. "classification" or "regression"
    labels  label of each class code; empty for numbers
    added   hash of its values, if it was added to a store that was there; else absent
    """

    task: str
    labels: list[str]
    added: NotRequired[str]


class AnnotationAttributes(TypedDict):
    """Attributes of the array `annotations/NAME`.

    labels  label of each number; empty where the numbers say it themselves
    """

    labels: list[str]


@dataclass(frozen=True)
class Manifest:
    """The attribute "srs" of the group; written last, so a store without it was never finished.

    n_features       number of features
    n_samples        number of samples
    chunk_features   features in one chunk of `codes`
    fingerprint      hash of codes, kinds, names, sample ids, labels and of the targets that came
                     with them (hexadecimal); targets that are added later do not change it
    targets          names of the targets, the default one first
    any_missing      whether any code is MISSING
    any_categorical  whether any feature is categorical with more than two levels
    code_bits        bits of a code on disk: 8, or 2 if nearly no feature has more than 4 codes,
                     the missing one included
    source           where the data came from, as far as it can be read again
    notices          one sentence for each oddity that ingest accepted
    srs_version      version that wrote the store
    format           says that this is a feature store
    schema_version   version of this schema
    """

    n_features: int
    n_samples: int
    chunk_features: int
    fingerprint: str
    targets: tuple[str, ...]
    any_missing: bool
    any_categorical: bool
    code_bits: int = 8
    source: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    srs_version: str = ""
    format: str = FORMAT
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "targets": list(self.targets), "notices": list(self.notices)}

    @classmethod
    def from_json(cls, raw: Any, where: str) -> Manifest:
        """Read a manifest; a foreign, newer or incomplete one is a StoreError naming `where`."""
        if not isinstance(raw, Mapping) or raw.get("format") != FORMAT:
            raise StoreError(
                f"{where} is a zarr group but not a feature store; make one with `srs ingest`."
            )
        if raw.get("schema_version") in OLD_VERSIONS:
            raw = {"code_bits": 8, **raw}
        elif raw.get("schema_version") != SCHEMA_VERSION:
            raise StoreError(
                f"{where} has schema version {raw.get('schema_version')!r}, and this srs reads "
                f"version {SCHEMA_VERSION}: ingest the source again, or use the srs that wrote it."
            )
        try:
            known = {name: raw[name] for name in cls.__dataclass_fields__}
            return cls(
                **{**known, "targets": tuple(raw["targets"]), "notices": tuple(raw["notices"])}
            )
        except KeyError as error:
            raise StoreError(f"{where}: the manifest lacks {error}; ingest again.") from None


def count_tiles(n_features: int) -> int:
    """Tiles that hold so many features."""
    return -(-n_features // TILE)


def code_bytes(n_features: int, n_samples: int, code_bits: int) -> int:
    """Bytes of so many codes on disk."""
    return n_features * n_samples * code_bits // 8


def chunk_features(n_samples: int, n_features: int) -> int:
    """Features in a chunk: whole tiles of about CHUNK_BYTES, and no more than the store has.

    >>> chunk_features(1000, 10**6), chunk_features(1000, 100), chunk_features(10**6, 1000)
    (1024, 128, 64)
    """
    n_tiles = max(1, round(CHUNK_BYTES / (TILE * max(n_samples, 1))))
    return TILE * min(n_tiles, count_tiles(n_features))


def pack_strings(strings: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strings as UTF-8 bytes and offsets: two plain arrays that any zarr reader understands.

    What is no Unicode text (a lone surrogate) is written as its escape.
    """
    joined = "".join(strings).encode("utf-8", "backslashreplace")
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    if int(lengths.sum()) != len(joined):  # not all of it is ASCII
        encoded = (s.encode("utf-8", "backslashreplace") for s in strings)
        lengths = np.fromiter(map(len, encoded), np.int64, len(strings))
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.frombuffer(joined, np.uint8), offsets


def unpack_strings(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    """The inverse of `pack_strings`."""
    raw = data.tobytes()
    ends = offsets.tolist()
    return [raw[a:b].decode("utf-8") for a, b in pairwise(ends)]


def pack_labels(labels: Mapping[int, Sequence[str]]) -> tuple[list[int], list[str]]:
    """Levels of categorical features as feature ids and one JSON list each."""
    ids = sorted(labels)
    return ids, [json.dumps(list(labels[i])) for i in ids]
