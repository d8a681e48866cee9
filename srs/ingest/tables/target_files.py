"""Targets in files of their own: a `.npy` vector, or a text file of one column."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from srs.errors import SourceError
from srs.ingest.readers.fields import parse_texts

FILE_SUFFIXES = (".npy", ".csv", ".tsv", ".txt")


def is_target_file(target: str) -> bool:
    """Whether a text names a file that a target can be read from."""
    return Path(target).suffix.lower() in FILE_SUFFIXES and Path(target).is_file()


def read_target_file(path: Path, n_samples: int) -> np.ndarray:
    """A `.npy` vector, or a text file of one column with or without a header."""
    if path.suffix.lower() == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except (ValueError, OSError) as error:
            raise SourceError(f"the target {path} cannot be read: {error}") from None
    delimiter = "\t" if path.suffix == ".tsv" else ","
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file, delimiter=delimiter))
    except UnicodeDecodeError:
        raise SourceError(f"the target {path} is not text in UTF-8: save it as UTF-8.") from None
    while rows and not "".join(rows[-1]).strip():
        rows.pop()
    for number, row in enumerate(rows, 1):
        if len(row) > 1:
            raise SourceError(
                f"the target {path} must have one column; line {number} has {len(row)}."
            )
    texts = [row[0] if row else "" for row in rows]
    return parse_texts(texts[1:] if len(texts) == n_samples + 1 else texts, delimiter)
