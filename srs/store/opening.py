"""Open a feature store at a path, at an address or in memory, and check it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import zarr

from srs.errors import StoreError
from srs.store import layout
from srs.store.layout import Manifest
from srs.store.reader import FeatureStore, chunk_key
from srs.store.remote import RemoteObjects, first_line, is_remote


def open_store(path: str | os.PathLike[str], check_chunks: bool = True) -> FeatureStore:
    """Open a feature store at a path or an address (s3://, gs://, https://) and check it.

    Every chunk must be there with its right size; its checksum is compared when it is read.
    check_chunks: False leaves that to reading, for workers of a run whose coordinator has checked.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise StoreError(
            f"a feature store or its path is needed, not a {type(path).__name__}: make a store of "
            "data with srs.ingest."
        )
    if is_remote(str(path)):
        return _open_remote(str(path), check_chunks)
    folder = Path(path)
    if not folder.exists():
        raise StoreError(f"{folder} does not exist; make a feature store with `srs ingest`.")
    if folder.is_file():
        raise StoreError(
            f"{folder} is a file, not a feature store: make one of it with `srs ingest {folder}`."
        )
    if not (folder / "zarr.json").is_file():
        raise StoreError(f"{folder} is not a feature store: {folder / 'zarr.json'} is missing.")
    store = open_root(folder)
    expected = store.chunk_bytes + 4
    for chunk in range(store.n_chunks if check_chunks else 0):
        file = folder / chunk_key(chunk)
        try:
            size = file.stat().st_size
        except OSError:
            raise StoreError(f"{file} is missing: the store is damaged, ingest again.") from None
        if size != expected:
            raise StoreError(
                f"{file} has {size} bytes instead of {expected}: the store is damaged, ingest "
                f"again."
            )
    return store


def _open_remote(url: str, check_chunks: bool) -> FeatureStore:
    store = open_root(RemoteObjects.at(url))
    assert store._objects is not None
    sizes = store._objects.sizes("codes/c/") if check_chunks else None
    expected = store.chunk_bytes + 4
    for chunk in range(0 if sizes is None else store.n_chunks):
        key = chunk_key(chunk)
        if (size := (sizes or {}).get(key)) != expected:
            what = "is missing" if size is None else f"has {size} bytes instead of {expected}"
            raise StoreError(f"{url}/{key} {what}: the store is damaged, ingest again.")
    return store


def open_root(root: Any) -> FeatureStore:
    """Open a feature store at a folder, in object storage or in a zarr memory store.

    Its metadata are checked.
    """
    objects = root if isinstance(root, RemoteObjects) else None
    where = objects.url if objects else str(root) if isinstance(root, Path) else "memory"
    try:
        opened = objects.zarr_store if objects else root
        group: Any = zarr.open_group(opened, mode="r", zarr_format=3)
        raw = dict(group.attrs).get("srs")
    except Exception as error:
        raise StoreError(f"{where} cannot be opened as zarr: {first_line(error)}") from None
    manifest = Manifest.from_json(raw, where)
    n_features = (manifest.n_features,)
    depth = layout.TILE * manifest.code_bits // 8
    codes = (layout.count_tiles(manifest.n_features), manifest.n_samples, depth)
    for name, expected in (("codes", codes), ("feature_id", n_features), ("kind", n_features)):
        try:
            found = group[name].shape
        except Exception:
            raise StoreError(f"{where}/{name} cannot be read: the store is damaged.") from None
        if found != expected:
            raise StoreError(f"{where}/{name} has shape {found} instead of {expected}.")
    return FeatureStore(group, root if isinstance(root, Path) else None, manifest, objects)
