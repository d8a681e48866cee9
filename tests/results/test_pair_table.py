"""Pairs of features on disk: with a run, and exported."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import srs
from srs.cli.app import app
from srs.errors import InputError
from srs.results.documents.pairs import PairRow
from srs.results.pair_table import SCHEMA, pair_table


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one pair; one of its names looks like a formula."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = ((X[:, 3] > 0) ^ (X[:, 8] > 0)).astype(int)
    names = [f"f{i}" for i in range(60)]
    names[8] = "=1+1"
    store = srs.ingest(X, target=y, names=names)
    folder: Path = srs.select(store, seed=0, max_trees=40).save(tmp_path_factory.mktemp("run"))
    return folder


def test_the_table_has_the_keys_of_the_document() -> None:
    assert SCHEMA.names == list(get_type_hints(PairRow))


def test_a_saved_run_has_its_pairs(run: Path) -> None:
    result = srs.load_result(run)
    rows = result.document["outcome"]["pairs"]
    assert pq.read_table(run / "pairs.parquet").equals(pair_table(rows))
    row = result.document["outcome"]["pairs"][0]
    assert (row["name"], row["partner"]) == ("f3", "=1+1")
    assert row["mean_high_low"] - row["mean_low_low"] == pytest.approx(row["low"])
    assert row["mean_high_high"] - row["mean_low_high"] == pytest.approx(row["high"])


def test_a_run_without_a_look_at_pairs_leaves_no_table(run: Path, tmp_path: Path) -> None:
    """Guards a folder that is used again: a table of the run before must not stay."""
    result = srs.load_result(run)
    result.save(tmp_path)
    assert (tmp_path / "pairs.parquet").exists()
    outcome = {k: v for k, v in result.document["outcome"].items() if k != "pairs"}
    unseen = srs.Result({**result.document, "outcome": outcome}, result.all_features)
    unseen.save(tmp_path)
    assert not (tmp_path / "pairs.parquet").exists()
    assert unseen.pairs is None
    with pytest.raises(InputError, match="did not look at pairs"):
        srs.export(unseen, "csv", tmp_path / "pairs.csv", table="pairs")


def test_pairs_are_exported(run: Path, tmp_path: Path) -> None:
    """No store is needed: that of this run was in memory."""
    done = CliRunner().invoke(app, ["results", str(run), "--to", "csv", "--table", "pairs"])
    assert done.exit_code == 0, done.output
    with (run / "pairs.csv").open() as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    assert [(row["name"], row["partner"]) for row in rows] == [("f3", "'=1+1")]
    written = srs.export(run, "parquet", tmp_path / "p.parquet", table="pairs")
    listed = srs.load_result(run).document["outcome"]["pairs"]
    assert pq.read_table(written).equals(pair_table(listed))
    with pytest.raises(InputError, match="not written as 'h5ad'"):
        srs.export(run, "h5ad", table="pairs")
    with pytest.raises(InputError, match="exists already"):
        srs.export(run, "csv", table="pairs")
