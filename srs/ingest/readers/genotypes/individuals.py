"""Tables of individuals beside genotypes: `.psam` of PLINK 2 and `.sample` of the Oxford formats.

Ids are those of the individuals, with the family before them where they are not unique alone.
Columns are targets by name. Values are read as PLINK reads them: 1 and 2 are controls and cases
where a column has no others, and -9 is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from srs.errors import SourceError, near
from srs.ingest.readers.fields import MISSING_TEXTS, is_number, parse_number

UNKNOWN = -9
SEXES = {"1": "male", "2": "female", "m": "male", "f": "female"}
OXFORD_KINDS = frozenset("0DCPB")  # second line of a .sample file: ids, discrete, numbers, binary


@dataclass(frozen=True)
class Individuals:
    """A table of the samples of a file.

    path     of the table
    ids      of the samples
    columns  texts of the columns that can be targets
    of_plink whether 1 and 2 are controls and cases
    """

    path: Path
    ids: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    of_plink: bool

    def column(self, name: str) -> pd.Series[Any]:
        """A target; SourceError if there is no such column."""
        found = next((one for one in self.columns if one == name), None)
        if found is None and name.lower() == "sex":
            found = next((one for one in self.columns if one.lower() == "sex"), None)
        if found is None:
            known = ", ".join(list(self.columns)[:12]) or "none"
            raise SourceError(
                f"the target {name!r}: {self.path} has only {known}; give others in a table "
                f"(--table){near(name, list(self.columns))}"
            )
        texts = [text.strip() for text in self.columns[found]]
        if found.lower() == "sex":
            return pd.Series([SEXES.get(text.lower()) for text in texts], name=name)
        if all(is_number(text) for text in texts):
            numbers = np.array([parse_number(text) for text in texts])
            return (
                name_phenotype(numbers, name, self.path) if self.of_plink else _known(numbers, name)
            )
        missing = (*MISSING_TEXTS, str(UNKNOWN))
        return pd.Series([None if text in missing else text for text in texts], name=name)


def _known(numbers: np.ndarray, name: str) -> pd.Series[Any]:
    numbers[numbers == UNKNOWN] = np.nan
    return pd.Series(numbers, name=name)


def name_phenotype(numbers: np.ndarray, name: str, path: Path) -> pd.Series[Any]:
    """A phenotype of PLINK: cases and controls, or numbers; unknown ones are missing."""
    numbers[numbers == UNKNOWN] = np.nan
    known = set(numbers[~np.isnan(numbers)].tolist())
    if known == {0, 1}:
        raise SourceError(
            f"the phenotypes of {path} are 0 and 1, where 1 means control, 2 case and 0 missing: "
            f"write 1 and 2, or give the phenotype in a table (--table)."
        )
    if known <= {0, 1, 2}:
        return pd.Series([{1: "control", 2: "case"}.get(n) for n in numbers.tolist()], name=name)
    return pd.Series(numbers, name=name)


def join_ids(families: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Individual ids, with the family before them where they are not unique alone.

    >>> join_ids(["a", "b"], ["1", "1"]), join_ids(["a", "b"], ["1", "2"])
    (['a_1', 'b_1'], ['1', '2'])
    """
    if len(set(ids)) == len(ids):
        return list(ids)
    return [f"{family}_{one}" for family, one in zip(families, ids, strict=True)]


def read_psam(path: Path) -> Individuals:
    """A `.psam` file; one without a header is a `.fam` file."""
    lines = _lines(path)
    while lines and lines[0][1].startswith("##"):
        del lines[0]
    if not lines:
        raise SourceError(f"{path} has no samples: it is empty.")
    names = lines[0][1].split()
    if names[0] in ("#FID", "#IID"):
        names[0] = names[0][1:]
        del lines[0]
    else:
        names = ["FID", "IID", "PAT", "MAT", "SEX", "PHENO1"][: len(names)]
    if "IID" not in names:
        raise SourceError(f"{path} has no column IID: it is not a .psam file.")
    columns = _split(path, lines, names)
    families = columns.get("FID", ["0"] * len(lines))
    others = {n: v for n, v in columns.items() if n not in ("FID", "IID", "SID", "PAT", "MAT")}
    return Individuals(path, join_ids(families, columns["IID"]), others, of_plink=True)


def read_sample(path: Path) -> Individuals:
    """A `.sample` file: names of columns, what they are, and a line for each sample."""
    lines = _lines(path)
    if len(lines) < 2 or not set(lines[1][1].split()) <= OXFORD_KINDS:
        raise SourceError(
            f"{path}, line 2 must say what the columns are (0, D, C, P or B): it is not a .sample "
            "file."
        )
    names = lines[0][1].split()
    columns = _split(path, lines[2:], names)
    firsts, *others = names
    second = others[0] if others and others[0].lower() in ("id_2", "id") else firsts
    ids = join_ids(columns[firsts], columns[second])
    skipped = (firsts, second, "missing")
    left = {name: texts for name, texts in columns.items() if name not in skipped}
    return Individuals(path, ids, left, of_plink=False)


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SourceError(f"{path} is not text in UTF-8: save it as UTF-8.") from None
    return [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]


def _split(path: Path, lines: list[tuple[int, str]], names: list[str]) -> dict[str, list[str]]:
    """Texts by column."""
    rows = []
    for number, line in lines:
        fields = line.split()
        if len(fields) != len(names):
            raise SourceError(
                f"{path}, line {number}: {len(fields)} fields instead of {len(names)}."
            )
        rows.append(fields)
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
