"""What is known of a feature store, as JSON: what `srs info` and the service show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

import numpy as np

from srs.store.layout import KIND_NAMES, code_bytes
from srs.targets.registry import kind_like

if TYPE_CHECKING:
    from srs.store.reader import FeatureStore


class TargetDescription(TypedDict):
    """One target of a store. Its kind may add other keys, e.g. min and max.

    name     name of the target
    kind     what kind of target it is, e.g. "classes" or "numbers"
    classes  number of samples of each class; absent if it has none
    missing  number of samples without a value; absent if all have one
    """

    name: str
    kind: str
    classes: NotRequired[dict[str, int]]
    missing: NotRequired[int]


class StoreDescription(TypedDict):
    """What a feature store holds: `srs info --json` and `srs ingest --json`.

    path            where it is; null: in memory
    n_features      number of features
    n_samples       number of samples
    bytes           bytes of its codes
    code_bits       bits of a code on disk: 8 or 2
    kinds           number of features of each kind
    any_missing     whether any value is missing
    targets         its targets, the default one first
    chunk_features  features in one chunk of codes
    fingerprint     hash of the data; equal fingerprints, equal data
    source          where the data came from, as far as it can be read again
    notices         one sentence for each oddity that ingest accepted
    srs_version     version that wrote the store
    """

    path: str | None
    n_features: int
    n_samples: int
    bytes: int
    code_bits: int
    kinds: dict[str, int]
    any_missing: bool
    targets: list[TargetDescription]
    chunk_features: int
    fingerprint: str
    source: dict[str, Any]
    notices: list[str]
    srs_version: str


def describe_store(store: FeatureStore) -> StoreDescription:
    """Sizes, kinds, targets, fingerprint and notices of a store."""
    counts = np.bincount(store.kinds, minlength=len(KIND_NAMES)).tolist()
    manifest = store.manifest
    return {
        "path": store.location,
        "n_features": store.n_features,
        "n_samples": store.n_samples,
        "bytes": code_bytes(store.n_features, store.n_samples, manifest.code_bits),
        "code_bits": manifest.code_bits,
        "kinds": dict(zip(KIND_NAMES, counts, strict=True)),
        "any_missing": manifest.any_missing,
        "targets": [_describe_target(store, name) for name in store.target_names],
        "chunk_features": store.chunk_features,
        "fingerprint": store.fingerprint,
        "source": dict(manifest.source),
        "notices": list(manifest.notices),
        "srs_version": manifest.srs_version,
    }


def _describe_target(store: FeatureStore, name: str) -> TargetDescription:
    target = store.target(name)
    missing = target.missing
    if missing.any():
        target = replace(target, values=target.values[~missing])
    told: dict[str, Any] = {
        "name": name,
        "kind": target.kind,
        **kind_like(target).describe(target),
    }
    if missing.any():
        told["missing"] = int(missing.sum())
    return cast(TargetDescription, told)
