"""Relevant voxels of images: where they are in millimetres, and which of them touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srs.results.documents.effects import ClusterRow, VoxelRow
from srs.results.documents.result import FeatureRow, ResultOutcome
from srs.results.feature_table import HeldTable
from srs.results.voxels import map_value
from srs.store import FeatureStore

AXES = ("i", "j", "k")
TOUCHING = np.ones((3, 3, 3), int)  # faces, edges and corners
DIGITS = 3


def find_clusters(
    store: FeatureStore, table: HeldTable, relevant: Sequence[FeatureRow]
) -> ResultOutcome:
    """Parts of the document on voxels; empty if features are none."""
    if not set(AXES) <= set(table.annotations):
        return {}  # type: ignore[typeddict-item]
    n_own = store.n_features - len(store.manifest.source.get("covariates", ()))
    rows: list[Any] = [row for row in relevant if row["feature_id"] < n_own]
    if not rows:
        return {"clusters": [], "voxels": []}  # type: ignore[typeddict-item]
    ijk = np.array([[row[axis] for axis in AXES] for row in rows], np.int64)
    values = np.array([map_value(row["p_value"]) for row in rows])
    numbers = label_voxels(ijk)
    affine = store.manifest.source.get("affine")
    mm = None if affine is None else ijk @ np.array(affine)[:3, :3].T + np.array(affine)[:3, 3]
    size = None if affine is None else abs(float(np.linalg.det(np.array(affine)[:3, :3])))
    voxels = [
        {"feature_id": row["feature_id"], **_place(ijk[at], mm, at)}
        | {"cluster": int(numbers[at]), "value": _rounded(values[at])}
        for at, row in enumerate(rows)
    ]
    clusters = []
    for number in range(1, int(numbers.max()) + 1):
        inside = np.flatnonzero(numbers == number)
        peak = int(inside[np.argmax(values[inside])])
        volume = None if size is None else _rounded(size * len(inside))
        clusters.append(
            {"cluster": number, "n_voxels": len(inside), "volume": volume}
            | {"feature_id": rows[peak]["feature_id"], "name": rows[peak]["name"]}
            | _place(ijk[peak], mm, peak)
            | {"value": _rounded(values[peak])}
        )
    return _parts(clusters, voxels)


def _parts(clusters: list[Any], voxels: list[Any]) -> ResultOutcome:
    told_clusters: list[ClusterRow] = clusters
    told_voxels: list[VoxelRow] = voxels
    return {"clusters": told_clusters, "voxels": told_voxels}  # type: ignore[typeddict-item]


def label_voxels(ijk: np.ndarray) -> np.ndarray:
    """The cluster of each voxel, numbered from 1 on, the largest first.

    >>> label_voxels(np.array([[9, 9, 9], [0, 0, 0], [1, 1, 1]])).tolist()
    [2, 1, 1]
    """
    from scipy import ndimage  # of images alone

    low = ijk.min(axis=0)
    volume = np.zeros(np.ptp(ijk, axis=0) + 1, bool)
    places = tuple((ijk - low).T)
    volume[places] = True
    found = ndimage.label(volume, TOUCHING)[0][places]
    sizes = np.bincount(found)[1:]
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(1, len(sizes) + 1)
    numbers: np.ndarray = rank[found - 1]
    return numbers


def _place(ijk: np.ndarray, mm: np.ndarray | None, at: int) -> dict[str, Any]:
    where = [None] * 3 if mm is None else [_rounded(v) for v in mm[at]]
    return dict(zip(AXES, ijk.tolist(), strict=True)) | dict(zip("xyz", where, strict=True))


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
