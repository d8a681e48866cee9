"""Read files of feature sets: what `srs.select` takes here, and what a client sends to a service.

It imports nothing that computes: srs-select-client has this module, and no other of the package.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

from srs.errors import InputError


def read_sets(given: str | os.PathLike[str]) -> dict[str, list[str]]:
    """The sets of a file, see `srs.selection.feature_sets`, as a mapping from names to features."""
    path = Path(given)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            tabs = path.suffix.lower() in (".tsv", ".txt", ".gmt")
            lines = [row for row in csv.reader(file, delimiter="\t" if tabs else ",") if row]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path} is not a text table of features and their sets.") from None
    members: dict[str, list[str]] = {}
    if path.suffix.lower() == ".gmt":
        for row in lines:
            members.setdefault(row[0], []).extend(f for f in row[2:] if f)
        return members
    for number, row in enumerate(lines, 1):
        if len(row) != 2:
            raise InputError(
                f"{path} must have two columns, feature and set; line {number} has {len(row)}."
            )
        if number == 1 and row[0].strip().lower() in ("feature", "name", "gene", "snp", "variant"):
            continue
        members.setdefault(row[1].strip(), []).append(row[0].strip())
    return members
