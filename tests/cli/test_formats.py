"""Field formats through the program: a table joined, parts of a store, the options of formats."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
from bed_reader import to_bed

from tests.cli.conftest import invoke


def test_the_help_has_flags() -> None:
    """The descriptors name options as Python does."""
    told = " ".join(invoke("ingest", "--help").split())
    assert "--target phenotype or sex, or a column of --table" in told


def test_genotypes_with_a_table_and_a_part(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 260
    dosage = rng.integers(0, 3, size=(n, 90)).astype(float)
    ids, names = [f"i{i}" for i in range(n)], [f"rs{i}" for i in range(90)]
    to_bed(tmp_path / "g.bed", dosage, properties={"iid": ids, "sid": names})
    case = dosage[:, 5] + dosage[:, 60] > 2
    lines = [
        f"{one}\t{'yes' if y else 'no'}\t{40 + i % 9}"
        for i, (one, y) in enumerate(zip(ids, case, strict=True))
        if i >= 10
    ]
    (tmp_path / "p.tsv").write_text("IID\tcase\tage\n" + "\n".join(lines) + "\n")
    store = tmp_path / "s.zarr"
    said = invoke(
        *[
            "ingest",
            tmp_path / "g.bed",
            store,
            "--table",
            tmp_path / "p.tsv",
            "--target",
            "case",
            "--covariate",
            "age",
        ]
    )
    assert "91 features x 250 samples" in said
    assert "10 of 260 samples have no row in" in said
    (tmp_path / "samples.txt").write_text("\n".join(ids[10:240]) + "\n")
    (tmp_path / "features.txt").write_text("\n".join([*names[:70], "age"]) + "\n")
    part = ["--samples", tmp_path / "samples.txt", "--features", tmp_path / "features.txt"]
    done = json.loads(
        invoke(
            *[
                "select",
                store,
                *part,
                "--pinned",
                "age",
                "--max-trees",
                60,
                "--out",
                tmp_path / "run",
                "--json",
            ],
        )
    )
    assert done["n_features"] == 71
    assert {"rs5", "rs60"} <= set(done["relevant"])
    assert "among 71 are found" in invoke("plan", store, *part)
    invoke(*["export", tmp_path / "run", "--to", "bed", "--out", tmp_path / "hits.bed"])
    assert (tmp_path / "hits.bim").read_text().count("\n") == done["n_relevant"]


def test_the_column_of_ids_can_be_named(tmp_path: Path) -> None:
    rows = [f"k{i},{i / 7},{'uv'[i % 2]}" for i in range(20)]
    (tmp_path / "t.csv").write_text("code,a,y\n" + "\n".join(rows) + "\n")
    source = ("ingest", tmp_path / "t.csv", tmp_path / "s.zarr", "--target", "y", "--overwrite")
    assert "name it with --id-column if it is" in invoke(*source)
    assert "1 feature x 20 samples" in invoke(*source, "--id-column", "code")


def test_names_of_datasets_and_samples(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(12, 7))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["b"] = values, values * 2
    (tmp_path / "ids.txt").write_text("".join(f"s{i}\n" for i in range(12)))
    about = json.loads(
        invoke(
            *[
                "ingest",
                tmp_path / "x.h5",
                tmp_path / "s.zarr",
                "--dataset",
                "/b",
                "--sample-ids",
                tmp_path / "ids.txt",
                "--json",
            ]
        )
    )
    assert about["source"]["dataset"] == "/b"
    assert about["n_features"] == 7
