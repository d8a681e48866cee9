"""Formats are found by their descriptors, those of other distributions too; lists agree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import srs
from srs.errors import SourceError
from srs.ingest.formats.catalogue import FORMATS
from srs.ingest.formats.format import OBJECT, resolve
from srs.ingest.formats.registry import (
    INDEX,
    describe_sources,
    find_format,
    formats,
    index_text,
    read_index,
    stored_formats,
)
from srs.ingest.values import read_values
from tests.ingest.formats.toy import install_toy, write_bars

ROOT = Path(__file__).resolve().parents[3]
ROWS = [[1.0, 2.5, 3.0], [4.0, 5.0, 6.5], [0.5, 1.0, 9.0]]


# What a list of formats, and the question what a source is, must not import.
HEAVY = ("numpy", "numba", "pandas", "pyarrow", "scipy", "zarr", "anndata", "dask")
ASK = """
import sys
from pathlib import Path
from srs.ingest.formats.registry import find_format, formats

names = [getattr(find_format(source), "name", None) for source in SOURCES]
print(*names, *(name for name in HEAVY if name in sys.modules))
"""


def test_the_index_is_that_of_the_descriptors():
    assert INDEX.read_text() == index_text(FORMATS), "run `make generate`"
    assert [one.to_json() for one in read_index()] == [one.to_json() for one in FORMATS]
    for read, own in zip(read_index(), FORMATS, strict=True):
        for field in ("open", "fits", "check", "reread"):
            named, function = getattr(read, field), getattr(own, field)
            assert function is None or resolve(named) is function, (own.name, field)
        assert bool(own.types) == (OBJECT in own.kinds), own.name


def test_nothing_that_reads_data_is_imported_to_know_a_source(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.parquet").touch()
    sources = f"('x.npy', 'x.bed', Path({str(tmp_path)!r}), [[1.0]], {{}})"
    code = f"HEAVY = {HEAVY!r}\n{ASK.replace('SOURCES', sources)}"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.split() == ["npy", "plink", "parquet", "numpy", "None"]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    site = install_toy(tmp_path / "site")
    monkeypatch.syspath_prepend(site)
    formats.cache_clear()
    yield site
    formats.cache_clear()
    sys.modules.pop("toy_bars", None)


@pytest.mark.usefixtures("toy")
def test_a_format_of_another_distribution_is_read(tmp_path: Path):
    source = write_bars(tmp_path / "x.bars", ROWS)
    assert ".bars" in describe_sources()
    store = srs.ingest(source, tmp_path / "s.zarr", target=["a", "b", "b"])
    np.testing.assert_array_equal(read_values(store, [0, 1, 2]), ROWS)
    turned = srs.ingest(source, orientation="features")
    assert (turned.n_features, turned.n_samples) == (3, 3)
    with pytest.raises(SourceError, match="is not a file of several arrays"):
        srs.ingest(source, dataset="x")


def test_it_is_in_the_help(toy: Path):
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(toy), str(ROOT)))}
    shown = subprocess.run(
        [sys.executable, "-m", "srs.cli", "ingest", "--help"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search(r"\.bars +Bars: numbers with bars between them", shown)
    for one in stored_formats():
        assert one.describe_suffixes() in shown


def of_format(**fields: object) -> str:
    """A module with a format that says these."""
    given = {"name": "bars", "title": "Bars", "help": "bars", "open": "toy_bars:read"} | fields
    return f"from srs import Format\nFORMAT = Format(**{given!r})"


def test_a_suffix_that_another_format_has_is_ignored_and_named(
    toy: Path, caplog: pytest.LogCaptureFixture
):
    (toy / "toy_bars.py").write_text(of_format(suffixes=(".bars", ".csv")) + "\n")
    assert [one.suffixes for one in formats() if one.name == "bars"] == [(".bars",)]
    assert find_format("x.csv").name == "text"
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == (
        "toy_bars:FORMAT of the package toy-bars (srs.formats): .csv of the format 'bars' is read "
        "as 'text' already, and is ignored."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "FORMAT = 7",
            "toy_bars:FORMAT of the package toy-bars (srs.formats) is ignored: it is not of the "
            "type srs.Format.",
        ),
        ("raise RuntimeError('no licence')", "package toy-bars (srs.formats) is ignored: no lic"),
        (of_format(suffixes=(".csv",)), "ignored: .csv of the format 'bars' is read as 'text' al"),
        (of_format(suffixes=(".a",), companions=(".fam",)), ".fam of the format 'bars' is read as"),
        (of_format(suffixes=".bars"), "suffixes of the format 'bars' must be a tuple"),
        (of_format(suffixes=("bars",)), "the suffix 'bars' of the format 'bars' must start with a"),
        (of_format(suffixes=(".BARS",)), "and be in small letters"),
        (of_format(kinds=("files",)), "kinds of the format 'bars' cannot be 'files'; there are"),
        (of_format(options=("colour",)), "options of the format 'bars' cannot be 'colour'"),
        (
            "from srs.ingest.formats.tables.text import TEXT_FORMAT as FORMAT",
            "there is a 'text' already",
        ),
    ],
)
def test_entry_points_that_are_wrong_are_named(
    toy: Path, caplog: pytest.LogCaptureFixture, text: str, said: str
):
    (toy / "toy_bars.py").write_text(text + "\n")
    assert [one.name for one in formats()] == [one.name for one in FORMATS]
    assert said in caplog.text


def test_a_folder_is_described_in_one_descriptor(toy: Path, tmp_path: Path):
    """By what it holds, without a function."""
    module = of_format(kinds=("folder",)).replace("import Format", "import FolderSigns, Format")
    signs = "signs=FolderSigns(all_of=('index.txt', 'parts/'), one_of=('*.bar', '*.bars'))"
    (toy / "toy_bars.py").write_text(module.replace("Format(**", f"Format({signs}, **") + "\n")
    folder = tmp_path / "of bars"
    (folder / "parts" / "deep").mkdir(parents=True)
    (folder / "parts" / "deep" / "A.BAR").touch()
    assert find_format(folder) is None
    (folder / "index.txt").touch()
    assert find_format(folder).name == "bars"
    (folder / "zarr.json").touch()
    assert find_format(folder).name == "zarr"
    for wrong in ({}, {"one_of": "*.bar"}):
        with pytest.raises(ValueError, match="sign"):
            srs.FolderSigns(**wrong)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("x.NPY", "npy"),
        ("x.csv.gz", "text"),
        ("x.nii.gz", "nifti"),
        ("x.fam", "plink"),
        ("x.hdf", "hdf5"),
        ("a.b.parquet", "parquet"),
        ("x.gz", None),
        ("npy", None),
        ("", None),
    ],
)
def test_files_are_known_by_their_names(name, found):
    one = find_format(name) if name else find_format("nowhere/.")
    assert (None if one is None else one.name) == found


def test_folders_are_known_by_what_they_hold(tmp_path: Path):
    """A table beside images does not make a folder of them a table."""
    (tmp_path / "x.parquet").touch()
    assert find_format(tmp_path).name == "parquet"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.nii.gz").touch()
    assert find_format(tmp_path).name == "nifti"
    (tmp_path / "zarr.json").touch()
    assert find_format(tmp_path).name == "zarr"
    (tmp_path / "obs").mkdir()
    (tmp_path / "var").mkdir()
    assert find_format(tmp_path).name == "anndata"


def test_files_that_stand_for_companions():
    pgen = find_format("x.pgen")
    there = {Path(name) for name in ("a.b.pgen", "a.b.psam", "a.b.pvar.zst")}
    for name in sorted(there):
        found = pgen.files_of(name, there.__contains__)
        assert [str(file) for file in found] == ["a.b.pgen", "a.b.pvar.zst", "a.b.psam"]
        assert pgen.say_missing(name, there.__contains__) == ""
    assert "the file a.b.pvar is missing" in pgen.say_missing(
        Path("a.b.pgen"), {Path("a.b.pgen"), Path("a.b.psam")}.__contains__
    )
    bgen = find_format("x.sample")
    assert bgen.name == "bgen"
    assert bgen.files_of(Path("x.bgen"), set().__contains__) == (Path("x.bgen"),)
    both = {Path("x.bgen"), Path("x.sample")}
    assert bgen.files_of(Path("x.sample"), both.__contains__)[1:] == (Path("x.sample"),)
    assert bgen.main_file(Path("X.SAMPLE")) == Path("X.bgen")


def test_names_of_arrays_stay_in_their_folder(tmp_path: Path):
    import zarr

    zarr.save_array(str(tmp_path / "other.zarr"), np.eye(4))
    zarr.create_group(tmp_path / "mine.zarr")["x"] = np.eye(4)
    assert srs.ingest(tmp_path / "mine.zarr", dataset="x").n_features == 4
    for name in ("../other.zarr", f"{tmp_path}/other.zarr", "x/../../other.zarr"):
        with pytest.raises(SourceError):
            srs.ingest(tmp_path / "mine.zarr", dataset=name)


def test_the_table_of_the_readme_is_that_of_the_descriptors():
    text = (ROOT / "README.md").read_text()
    table = text.partition("## Your data")[2].partition("\n\n|")[2].partition("\n\n")[0]
    marks = dict(
        re.findall(
            r"`(\.[a-z0-9.]+)`(\*?)",
            "".join(line.split("|")[0] for line in table.replace("\n|", "\n").splitlines()),
        )
    )
    for one in stored_formats():
        for suffix in one.all_suffixes:
            assert suffix in marks, f"{suffix} of {one.name} is not in the README"
            marked = one.extra is not None and suffix in one.suffixes
            assert bool(marks[suffix]) == marked, f"the mark of {suffix}"
