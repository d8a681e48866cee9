"""Labels of MATLAB files: char matrices, and cells of texts or numbers, of v5 and of v7.3.

An empty text or cell is missing. In v7.3 files, which are HDF5, a cell is a reference to another
dataset of the same file, and a text is a column of character codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from srs.errors import SourceError


def read_labels(values: np.ndarray, where: str) -> np.ndarray:
    """A char matrix or cell array, as scipy gives it, as texts and numbers, None where missing."""
    if values.dtype.kind == "O":
        return _objects(read_cell(np.asarray(one), where) for one in values.reshape(-1))
    return _objects(_trim(str(text)) for text in values.reshape(-1))


def read_cell(value: np.ndarray, where: str) -> Any:
    """The one text or number of a cell."""
    if not value.size:
        return None
    if value.size > 1 or value.dtype.kind not in "biufU":
        raise SourceError(
            f"{where} has a cell of shape {value.shape} and dtype {value.dtype}: each must hold "
            f"one text or one number."
        )
    one = value.reshape(-1)[0]
    return _trim(str(one)) if value.dtype.kind == "U" else one.item()


def class_of(node: Any) -> str:
    """What MATLAB says a dataset of a v7.3 file is: "double", "char", "cell"; "" if nothing."""
    found = node.attrs.get("MATLAB_class", b"")
    return found.decode() if isinstance(found, bytes) else str(found)


def read_chars(dataset: Any) -> np.ndarray:
    """The texts of a char matrix of a v7.3 file, whose columns they are."""
    if "MATLAB_empty" in dataset.attrs:
        return np.empty(0, object)
    codes = np.ascontiguousarray(np.atleast_2d(dataset[()]).T.astype("<u2"))
    return _objects(_trim(line.tobytes().decode("utf-16-le", "replace")) for line in codes)


def read_cells(dataset: Any, where: str) -> np.ndarray:
    """What the references of a cell array of a v7.3 file lead to, inside of it."""
    file = dataset.file
    return _objects(_follow(file, one, where) for one in dataset[()].reshape(-1))


def _follow(file: Any, reference: Any, where: str) -> Any:
    try:
        found = file[reference] if reference else None
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{where} has a reference that leads nowhere: {error}.") from None
    if found is None or "MATLAB_empty" in found.attrs:
        return None
    # A dataset that has no name was not seen by the look at the links of the file.
    if not hasattr(found, "shape") or found.external or found.is_virtual:
        raise SourceError(f"{where} has a cell that is neither text nor a number in this file.")
    if class_of(found) == "char":
        return read_cell(read_chars(found).astype("U"), where)
    return read_cell(np.asarray(found[()]), where)


def _trim(text: str) -> str | None:
    """Without what pads it to the width of the others."""
    return text.rstrip(" \0") or None


def _objects(values: Iterable[Any]) -> np.ndarray:
    listed = list(values)
    out = np.empty(len(listed), object)
    out[:] = listed
    return out
