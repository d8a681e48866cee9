"""What is known of a feature store, as JSON: what `srs info` and the service show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srs.store.layout import KIND_NAMES, code_bytes

if TYPE_CHECKING:
    from srs.store.feature_store import FeatureStore


def describe_store(store: FeatureStore) -> dict[str, Any]:
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


def _describe_target(store: FeatureStore, name: str) -> dict[str, Any]:
    target = store.target(name)
    about: dict[str, Any] = {"name": name, "task": target.task}
    if target.labels:
        counts = np.bincount(target.values, minlength=len(target.labels)).tolist()
        return about | {"classes": dict(zip(target.labels, counts, strict=True))}
    values = target.values
    return about | {
        "min": float(values.min()), "mean": float(values.mean()), "max": float(values.max()),
    }  # fmt: skip
