"""Write the same matrix as each kind of source."""

import shutil
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pandas as pd
import pyarrow as pa
import zarr

NAMED_KINDS = ("frame", "csv", "tsv", "csv.gz", "parquet", "parquets", "arrow", "feather")
PLAIN_KINDS = (
    "array",
    "fortran",
    "npy",
    "npy_fortran",
    "map",
    "zarr",
    "zarr_path",
    "dask",
    "frame_plain",
    "txt",
)
ORIENTATIONS = ("samples", "features")


def names_of(values: np.ndarray) -> list[str]:
    return [f"gene {i}" for i in range(values.shape[1])]


def ids_of(values: np.ndarray) -> list[str]:
    return [f"s{i}" for i in range(values.shape[0])]


def make_plain(kind: str, values: np.ndarray, orientation: str, folder: Path) -> Any:
    """A source without names, of values (n_samples, n_features)."""
    values = values if orientation == "samples" else np.ascontiguousarray(values.T)
    if kind == "array":
        return values
    if kind == "fortran":
        return np.asfortranarray(values)
    if kind in ("npy", "npy_fortran", "map"):
        np.save(folder / "x.npy", np.asfortranarray(values) if kind == "npy_fortran" else values)
        return np.load(folder / "x.npy", mmap_mode="r") if kind == "map" else folder / "x.npy"
    if kind in ("zarr", "zarr_path"):
        array = zarr.create_array(
            folder / "x.zarr", shape=values.shape, chunks=(7, 11), dtype=values.dtype
        )
        array[...] = values
        return array if kind == "zarr" else folder / "x.zarr"
    if kind == "dask":
        return dask.array.from_array(values, chunks=(9, 13))
    if kind == "frame_plain":
        return pd.DataFrame(values)
    np.savetxt(folder / "x.txt", values, fmt="%.17g", delimiter="\t")
    return folder / "x.txt"


def make_named(kind: str, values: np.ndarray, orientation: str, folder: Path) -> Any:
    """A source with names of features and ids of samples."""
    frame = pd.DataFrame(values, index=ids_of(values), columns=names_of(values))
    frame = frame if orientation == "samples" else frame.T
    if kind == "frame":
        return frame
    path = folder / f"x.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "parquets":
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        for i, first in enumerate(range(0, len(frame), 10)):
            frame.iloc[first : first + 10].to_parquet(path / f"part-{i:03}.parquet")
    elif kind in ("arrow", "feather"):
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_file(path, table.schema) as file:
            for batch in table.to_batches(max_chunksize=9):
                file.write_batch(batch)
    else:
        frame.to_csv(path, sep="\t" if kind == "tsv" else ",", na_rep="NA")
    return path
