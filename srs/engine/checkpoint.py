"""Save and restore the state of a run, atomically.

A checkpoint is one .npz file: the arrays of the evidence, and a JSON header that names the run it
belongs to. It is written beside its place and renamed, so there is always a whole one, whatever is
killed. To survive the loss of the machine a checkpoint must be synced to the disk, which takes
longer than a short round: some are, and the last of them is kept beside the newest and serves
where that turns out to be damaged.
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
PREVIOUS_NAME = "checkpoint-previous.npz"
PARTIAL_NAME = "checkpoint.npz.partial"


def write_checkpoint(
    folder: Path,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    *,
    sync: bool = True,
    keep_newest: bool = True,
) -> None:
    """Write the checkpoint of `folder`.

    sync         whether it is on the disk when this returns, and not only with the system
    keep_newest  whether the newest so far becomes the previous one; else it is replaced, and the
                 previous one stays

    Where it cannot be written (a full disk) that is an OSError, and what was there stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / PARTIAL_NAME
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    try:
        with partial.open("wb") as file:
            np.savez(file, header=text, **arrays)  # type: ignore[arg-type]
            file.flush()
            if sync:
                os.fsync(file.fileno())
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    if keep_newest and (folder / FILE_NAME).exists():
        (folder / FILE_NAME).replace(folder / PREVIOUS_NAME)
    partial.replace(folder / FILE_NAME)
    if not sync:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is something to continue from."""
    return (folder / FILE_NAME).exists() or (folder / PREVIOUS_NAME).exists()


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray], str | None]:
    """Header and arrays of the newest whole checkpoint, and a sentence if it is not the last."""
    newest, previous = folder / FILE_NAME, folder / PREVIOUS_NAME
    if not has_checkpoint(folder):
        raise CheckpointError(f"{folder} has no checkpoint to resume from ({newest} is missing).")
    if (read := _read(newest)) is not None:
        return *read, None
    if (read := _read(previous)) is not None:
        what = "is damaged" if newest.exists() else "is missing"
        return *read, f"{newest} {what}: continuing from the checkpoint before it."
    raise CheckpointError(
        f"{newest} is damaged, and no earlier checkpoint can be used: start the run again "
        "without --resume (--overwrite)."
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return json.loads(arrays.pop("header").tobytes()), arrays
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def remove_checkpoint(folder: Path) -> None:
    """Remove the checkpoints of a run that has ended."""
    for name in (FILE_NAME, PREVIOUS_NAME, PARTIAL_NAME):
        (folder / name).unlink(missing_ok=True)
