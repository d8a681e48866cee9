"""Options of how samples were taken, and feature sets, through the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet as pq

from srs.ingest.tables.names import read_names
from tests.cli.conftest import invoke, run_srs


def test_columns_of_samples_and_sets(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 40))
    site, who = np.repeat(np.arange(120) % 2, 2), np.repeat(np.arange(120), 2)
    X[:, 20:] += 2.0 * site[:, None]
    y = X[:, 3] + 1.5 * (site - 0.5) > 0
    table, store, sets = tmp_path / "t.csv", tmp_path / "t.zarr", tmp_path / "sets.tsv"
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*(f"g{i}" for i in range(40)), "case", "site", "who"])
        rows.writerows(
            [*x, int(c), f"s{s}", f"p{w}"] for x, c, s, w in zip(X, y, site, who, strict=True)
        )
    np.save(tmp_path / "quality.npy", rng.uniform(0.5, 1.0, 240))
    sets.write_text("feature\tset\n" + "".join(f"g{i}\tset {i // 4}\n" for i in range(40)))
    columns = ("--sample-column", "site", "--sample-column", "who")
    quality = ("--sample-column", tmp_path / "quality.npy")
    written = json.loads(
        invoke("ingest", table, store, *columns, *quality, *("--target", "case"), "--json")
    )
    assert [t["name"] for t in written["targets"]] == ["case", "site", "who", "quality"]
    alike = ("--confounder", "site", "--subjects", "who", "--sample-weight", "quality")
    shown = invoke(
        *("select", store, "--out", tmp_path / "run", "--sets", sets, "--max-trees", 60),
        *(*alike, "--class-weight", "balanced"),
    )
    assert "1 of 10 feature sets is relevant: set 0" in shown
    document = json.loads((tmp_path / "run" / "result.json").read_text())
    assert [row["name"] for row in document["outcome"]["relevant"]] == ["g3"]
    assert document["settings"]["confounders"] == ["site"]
    columns = pq.read_table(tmp_path / "run" / "features.parquet")
    assert columns["sets"][5].as_py() == "set 1"
    what = ("--features", "g3,g4", "--subjects", "who", "--trees", 20, "--analysis", "mdi")
    why = json.loads(invoke("explain", store, *what, "--out", tmp_path / "why", "--json"))
    assert why["settings"]["subjects"] == "who"


def test_lists_may_end_in_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\nb\n\n \n")
    assert read_names(tmp_path / "names.txt") == ["a", "b"]


def test_a_target_is_named_alike_alone_and_with_columns_beside_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with h5py.File(tmp_path / "c.h5ad", "w") as file:
        file["X"] = rng.normal(size=(20, 3))
        for group, columns in (("obs", ("dx", "site")), ("var", ())):
            frame = file.create_group(group)
            frame.attrs.update({"_index": "_index", "column-order": list(columns)})
            frame["_index"] = [f"{group}{i}" for i in range(20 if group == "obs" else 3)]
            for name in columns:
                frame[name] = rng.integers(0, 2, 20)
    source = (
        "ingest",
        tmp_path / "c.h5ad",
        tmp_path / "s.zarr",
        "--target",
        "obs:dx",
        "--json",
        "--overwrite",
    )
    for more, names in (((), ["dx"]), (("--sample-column", "obs:site"), ["dx", "site"])):
        written = json.loads(invoke(*source, *more))
        assert [t["name"] for t in written["targets"]] == names


def test_a_list_that_cannot_be_read_leaves_no_folder(store: Path, tmp_path: Path) -> None:
    lists = ("--samples", tmp_path / "no.txt")
    done = run_srs("select", store, "--out", tmp_path / "run", *lists, code=2)
    assert "no.txt cannot be read" in done.stderr
    assert not (tmp_path / "run").exists()
