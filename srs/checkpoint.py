"""Save and restore the state of a run, atomically.

A checkpoint is one .npz file: the arrays of the evidence, and a JSON header that names the run it
belongs to. It is written beside its place, synced, and renamed, so there is always a whole one.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import CheckpointError

FILE_NAME = "checkpoint.npz"


def write_checkpoint(
    folder: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write the checkpoint of `folder`, replacing the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / (FILE_NAME + ".partial")
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with partial.open("wb") as file:
        np.savez(file, header=text, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / FILE_NAME)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the checkpoint of `folder`."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise CheckpointError(f"{folder} has no checkpoint to resume from ({path} is missing).")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise CheckpointError(
            f"{path} is damaged: remove it and start the run again without --resume."
        ) from None
    return header, arrays


def remove_checkpoint(folder: Path) -> None:
    """Remove the checkpoint of a run that has ended."""
    (folder / FILE_NAME).unlink(missing_ok=True)
