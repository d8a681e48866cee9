"""Targets of a store as arrays: how they are written, added to a store, and removed from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import zarr

from srs.errors import InputError, StoreError
from srs.store import layout
from srs.store.reader import FeatureStore
from srs.store.zarr_arrays import Buffer, as_buffer, write_array
from srs.targets.registry import stored_kind
from srs.targets.target import Target


def write_target(group: zarr.Group, target: Target, added: str | None = None) -> list[Buffer]:
    """Write a target; what the digest takes of it."""
    array = write_array(group, f"targets/{target.name}", target.values)
    attributes: layout.TargetAttributes = {
        "task": stored_kind(target.kind),
        "labels": list(target.labels),
    }
    if added is not None:
        attributes["added"] = added
    array.attrs.update(**attributes)
    return digested(target)


def digested(target: Target) -> list[Buffer]:
    """What a digest takes of a target."""
    about = repr((target.name, stored_kind(target.kind), target.labels)).encode()
    return [about, as_buffer(target.values)]


def add_targets(store: FeatureStore, targets: Sequence[Target], overwrite: bool) -> None:
    """Write targets beside those of a store; its manifest comes last, so that an interruption
    leaves the store as it was."""
    known = [target.name for target in targets if target.name in store.target_names]
    if known and not overwrite:
        raise InputError(
            f"the store has a target {known[0]!r} already: name other columns, or replace it "
            "(--overwrite)."
        )
    group = _writable(store)
    names = dict.fromkeys([*store.target_names, *(target.name for target in targets)])
    try:
        for target in targets:
            if target.name in store.target_names or f"targets/{target.name}" in group:
                _drop(store, group, [target.name])
            digest = hashlib.blake2b(b"".join(map(bytes, digested(target))), digest_size=16)
            write_target(group, target, digest.hexdigest())
        _name_targets(store, group, names)
    except OSError as error:
        raise StoreError(f"{store!r} cannot be written: {error.strerror}.") from None


def remove_targets(store: FeatureStore, names: Sequence[str]) -> None:
    """Remove targets of a store."""
    for name in names:
        if name not in store.target_names:
            raise InputError(
                f"there is no target {name!r}; the store has {', '.join(store.target_names)}."
            )
    group = _writable(store)
    try:
        _drop(store, group, names)
    except OSError as error:
        raise StoreError(f"{store!r} cannot be written: {error.strerror}.") from None


def _drop(store: FeatureStore, group: zarr.Group, names: Sequence[str]) -> None:
    _name_targets(store, group, [name for name in store.target_names if name not in names])
    for name in names:
        if f"targets/{name}" in group:
            del group[f"targets/{name}"]


def _name_targets(store: FeatureStore, group: zarr.Group, names: Any) -> None:
    store.manifest = replace(store.manifest, targets=tuple(names))
    group.attrs["srs"] = store.manifest.to_json()


def _writable(store: FeatureStore) -> zarr.Group:
    """The group of a whole store that is a folder or in memory."""
    if store.selection is not None:
        raise InputError("targets are added to a whole store, not to a part of it.")
    if store.location is not None and store.path is None:
        raise InputError(f"{store!r} is in object storage: add targets to a local copy of it.")
    try:
        root = store.path or store._group.store.with_read_only(read_only=False)
        return zarr.open_group(root, mode="r+", zarr_format=3)
    except Exception as error:
        raise StoreError(f"{store!r} cannot be written: {error}") from None
