"""Before a store is written: may it be, and what of it is held in memory on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zarr

from srs.errors import StoreError
from srs.store import layout

SMALL_CHUNK = 4 << 20  # of these two are made and written at a time, of larger ones one


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
    """Chunks of bytes, or four packed ones, that are held while they are made and written."""
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
