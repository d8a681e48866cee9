"""Predictions by the trees that a run kept: of its store, of a part of it, or of other samples.

Trees split codes, and codes are those of the store of the run. Values of other samples are turned
into them: a number gets the code of the nearest value of the store, a category the code of its
name. A split by a probe, whose values no other sample has, is taken both ways, by the shares of
the training samples. Missing features and unknown categories are missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from srs.errors import InputError
from srs.ingest import ingest
from srs.ingest.values import read_values
from srs.store import FeatureStore, open_store
from srs.store.layout import CATEGORICAL
from srs.store.remote import is_remote
from srs.store.view import StoreView
from srs.trees import MISSING, Tree, load_trees

if TYPE_CHECKING:
    import pandas as pd

    from srs.results.result import Result

PIECE = 1 << 16  # samples x features whose values are held at a time, in thousands


@njit(nogil=True, cache=True)
def _predict(codes, splits, value, n_node, total):  # type: ignore[no-untyped-def]
    """total[i] += what the tree predicts for sample i; columns below -1 are probes."""
    column, left, right = splits.column, splits.left, splits.right
    cut_code, cut_shift = splits.cut_code, splits.cut_shift
    subset, subset_row = splits.subset, splits.subset_row
    nodes, shares = np.empty(left.shape[0] + 1, np.int64), np.empty(left.shape[0] + 1)
    for i in range(codes.shape[0]):
        nodes[0], shares[0] = 0, 1.0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            node, share = nodes[n_waiting], shares[n_waiting]
            if left[node] < 0:
                for k in range(value.shape[1]):
                    total[i, k] += share * value[node, k]
            elif column[node] < 0:
                part = n_node[left[node]] / (n_node[left[node]] + n_node[right[node]])
                nodes[n_waiting], shares[n_waiting] = left[node], share * part
                nodes[n_waiting + 1], shares[n_waiting + 1] = right[node], share * (1 - part)
                n_waiting += 2
            else:
                code = codes[i, column[node]]
                if subset_row[node] >= 0:
                    go_left = subset[subset_row[node], code] != 0
                else:
                    go_left = np.uint8(code + np.uint8(cut_shift[node])) <= cut_code[node]
                nodes[n_waiting] = left[node] if go_left else right[node]
                shares[n_waiting] = share
                n_waiting += 1


def predict(result: Result, data: Any, store: Any, folder: Path | None) -> pd.DataFrame:
    """See `Result.predict`."""
    import pandas

    files = _tree_files(folder)
    part = _store_of(result, store)
    whole = part.base if isinstance(part, StoreView) else part
    places = _places_used(files)
    ids = np.asarray(part.source_ids[part.feature_ids[places]], np.int64)
    codes, samples = _codes(whole, ids, data)
    at = np.full(part.n_features, -1, np.int64)
    at[places] = np.arange(len(places))
    total: np.ndarray | None = None
    n_trees = 0
    for tree in _each(files):
        if total is None:
            total = np.zeros((len(codes), tree.value.shape[1]))
        column = np.where(tree.column >= 0, at[np.maximum(tree.column, 0)], -2)
        splits = tree.splits._replace(column=np.where(tree.left < 0, -1, column).astype(np.int32))
        _predict(codes, splits, tree.value, tree.n_node, total)
        n_trees += 1
    if total is None or n_trees != result.n_trees:
        raise InputError(
            f"the folder of the run has {n_trees} trees, and the run grew {result.n_trees}: trees "
            "of another run are there, or some are missing; run it again into an empty folder."
        )
    return pandas.DataFrame({"sample": samples, **_told(result, total / n_trees)})


def _told(result: Result, mean: np.ndarray) -> dict[str, Any]:
    """Columns of the prediction: the number, or the class and the share of each."""
    labels = result.document["data"]["labels"]
    if not labels:
        return {"prediction": mean[:, 0]}
    shares = {f"share_{label}": mean[:, k] for k, label in enumerate(labels)}
    return {"prediction": [labels[k] for k in mean.argmax(axis=1)], **shares}


def _tree_files(folder: Path | None) -> list[Path]:
    files = [] if folder is None else sorted((folder / "trees").glob("*.npz"))
    if not files:
        raise InputError(
            "the run kept no trees to predict with: run it with keep_trees=True and a folder "
            "(--keep-trees), and load its result from there."
        )
    return files


def _each(files: Sequence[Path]) -> Iterator[Tree]:
    for path in files:
        yield from load_trees(path)


def _places_used(files: Sequence[Path]) -> np.ndarray:
    """The places that some tree splits, ascending."""
    used: np.ndarray = np.empty(0, np.int64)
    for path in files:
        columns = np.concatenate([tree.column for tree in load_trees(path)])
        used = np.union1d(used, columns[columns >= 0])
    return used.astype(np.int64)


def _store_of(result: Result, store: Any) -> FeatureStore:
    """The store that the run used, or the part of it."""
    where = result.document["measured"]["store"] if store is None else store
    if where is None:
        raise InputError("the store of the run was in memory: give it (store=).")
    if isinstance(where, str) and not is_remote(where) and not Path(where).exists():
        raise InputError(f"the store of the run, {where}, does not exist: give its path (store=).")
    opened = where if isinstance(where, FeatureStore) else open_store(where)
    part = result.part_of(opened)
    if part.fingerprint != result.document["data"]["fingerprint"]:
        raise InputError(f"{opened!r} is not the store of the run.")
    return part


def _codes(whole: FeatureStore, ids: np.ndarray, data: Any) -> tuple[np.ndarray, list[str]]:
    """Codes (n_samples, k) of features of the run's store for other samples, and their ids."""
    given = data
    if isinstance(data, (str, Path)):
        given = open_store(data)
    elif not isinstance(data, FeatureStore):
        given = ingest(data, keep_values=True)
    base = given.base if isinstance(given, StoreView) else given
    rows = given.samples if isinstance(given, StoreView) else np.arange(given.n_samples)
    if base.fingerprint == whole.fingerprint:
        return np.ascontiguousarray(whole.read_codes(ids)[rows]), given.sample_ids
    theirs = _find(whole, base, ids)
    codes = np.full((given.n_samples, len(ids)), MISSING, np.uint8)
    step = max(1, (PIECE * 1000) // max(whole.n_samples + given.n_samples, 1))
    for start in range(0, len(ids), step):
        here = slice(start, start + step)
        codes[:, here] = _recoded(whole, ids[here], base, theirs[here])[rows]
    return codes, given.sample_ids


def _find(whole: FeatureStore, other: FeatureStore, ids: np.ndarray) -> np.ndarray:
    """The same features in another store: by name where both have names, else by position."""
    if whole.has_names and other.has_names:
        known = {name: i for i, name in enumerate(other.feature_names)}
        wanted = [whole.feature_names[i] for i in ids.tolist()]
        missing = [name for name in wanted if name not in known]
        if missing:
            raise InputError(
                f"{len(missing)} features that trees use are not in the data, the first is "
                f"{missing[0]!r}: give data with the features of the run."
            )
        return np.array([known[name] for name in wanted], np.int64)
    if other.n_features != whole.n_features:
        raise InputError(
            f"the data have {other.n_features} features and the store of the run has "
            f"{whole.n_features}: give all of them, in the same order."
        )
    return ids


def _recoded(
    whole: FeatureStore, ids: np.ndarray, other: FeatureStore, theirs: np.ndarray
) -> np.ndarray:
    """Codes that values of another store have in the store of the run."""
    known, codes = read_values(whole, ids), whole.read_codes(ids)
    found = read_values(other, theirs)
    out = np.full(found.shape, MISSING, np.uint8)
    for k, (ours, their) in enumerate(zip(ids.tolist(), theirs.tolist(), strict=True)):
        if whole.kinds[ours] == CATEGORICAL:
            out[:, k] = _by_label(whole.labels(ours), other, their)
        else:
            out[:, k] = _nearest(known[:, k], codes[:, k], found[:, k])
    return out


def _by_label(labels: Sequence[str], other: FeatureStore, feature_id: int) -> np.ndarray:
    theirs = other.labels(feature_id)
    number = {label: k for k, label in enumerate(labels)}
    table = np.full(256, MISSING, np.uint8)
    for k, label in enumerate(theirs):
        table[k] = number.get(label, MISSING)
    return np.asarray(table[other.read_codes([feature_id])[:, 0]])


def _nearest(known: np.ndarray, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The code of the nearest known value; codes ascend with values."""
    present = codes != MISSING
    if not present.any():
        return np.full(len(values), MISSING, np.uint8)
    order = np.argsort(known[present], kind="stable")
    levels, of = known[present][order], codes[present][order]
    right = np.clip(np.searchsorted(levels, values), 1, max(len(levels) - 1, 1))
    right = np.minimum(right, len(levels) - 1)
    left = np.maximum(right - 1, 0)
    with np.errstate(invalid="ignore"):
        closer = np.abs(values - levels[left]) <= np.abs(values - levels[right])
    return np.where(np.isnan(values), MISSING, np.where(closer, of[left], of[right]))
