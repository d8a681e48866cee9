"""Targets and covariates from a table, joined by sample id, with an account of what is left out."""

import numpy as np
import pandas as pd
import pytest

import srs
from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values

N = 40
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 6))
IDS = [f"s{i}" for i in range(N)]


@pytest.fixture
def table():
    """Rows in another order, three samples without a row, two rows without a sample."""
    frame = pd.DataFrame(
        {"case": ["yes", "no"] * 20, "age": np.arange(N) + 30.5, "site": ["a", "b", "c", "a"] * 10},
        index=IDS,
    )
    frame.loc["s9", "case"] = None
    frame.loc["s8", "age"] = np.nan
    frame = frame.drop(index=["s1", "s2", "s3"])
    more = pd.DataFrame({"case": ["yes"] * 2, "age": 1.0, "site": "d"}, index=["z1", "z2"])
    return pd.concat([more, frame.sample(frac=1, random_state=0)])


@pytest.mark.parametrize("kind", ["frame", "csv", "tsv", "parquet"])
def test_samples_are_matched_by_id(kind, table, tmp_path):
    given = table
    if kind != "frame":
        given = tmp_path / f"t.{kind}"
        table.to_parquet(given) if kind == "parquet" else table.to_csv(
            given, sep="\t" if kind == "tsv" else ",", index_label="IID", na_rep="NA"
        )
    store = ingest(
        X,
        tmp_path / "s.zarr",
        sample_ids=IDS,
        table=given,
        target="case",
        covariates=["age", "site"],
    )
    kept = [i for i in range(N) if i not in (1, 2, 3, 9)]
    assert store.sample_ids == [f"s{i}" for i in kept]
    target = store.target()
    assert [target.labels[v] for v in target.values] == [("yes", "no")[i % 2] for i in kept]
    assert store.feature_names[5:] == ["f5", "age", "site"]
    assert store.labels(7) == ("a", "b", "c")  # d belongs to no sample
    ages = [i for i in kept if i != 8]
    assert store.read_codes([6])[:, 0].tolist() == [255 if i == 8 else ages.index(i) for i in kept]
    said = " ".join(store.manifest.notices)
    assert "3 of 40 samples have no row in" in said
    assert "the first is 's1'" in said
    assert "2 of 39 rows of" in said
    assert "the first is 'z1'" in said
    assert "'case' is missing in 1 sample, which was left out; the first is 's9'" in said


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_values_of_covariates_are_read_again(kind, table, tmp_path):
    path = tmp_path / f"t.{kind}"
    table.to_parquet(path) if kind == "parquet" else table.to_csv(path, index_label="IID")
    store = ingest(X, tmp_path / "s.zarr", sample_ids=IDS, table=path, covariates=["age"])
    expected = [np.nan if i == 8 else i + 30.5 for i in range(N) if i not in (1, 2, 3)]
    np.testing.assert_array_equal(read_values(store, [6])[:, 0], expected)


def test_a_table_with_decimal_commas(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index_label="id", na_rep="NA")
    store = ingest(X, sample_ids=IDS, table=tmp_path / "t.csv", target="age")
    kept = [i for i in range(N) if i not in (1, 2, 3, 8)]
    assert store.target().values.tolist() == [i + 30.5 for i in kept]


def test_covariates_can_be_pinned(table):
    store = ingest(X, sample_ids=IDS, table=table, target="case", covariates=["age"])
    result = srs.select(store, pinned=["age"], max_trees=20)
    assert [row["name"] for row in result.document["outcome"]["pinned"]] == ["age"]
    part = srs.select(store, pinned=["age"], features=["f1", "f2", "f3"], max_trees=20)
    assert [row["name"] for row in part.document["outcome"]["pinned"]] == ["age"]


def test_values_given_in_order_follow_the_samples(table):
    store = ingest(X, sample_ids=IDS, table=table, target={"t": np.arange(N) / 3, "c": "case"})
    assert store.target("t").values[1] == 4 / 3


def test_what_is_refused(table, tmp_path):
    text = tmp_path / "t.csv"
    text.write_text("id,y\nq1,1\nq2,0\n")
    twice = tmp_path / "twice.csv"
    twice.write_text("id,y\ns1,1\ns1,0\n")
    for options, message in (
        ({"table": table, "target": "case"}, "no sample ids to join"),
        ({"table": text, "target": "y", "sample_ids": IDS}, "first sample is 's0' and the first r"),
        ({"table": twice, "target": "y", "sample_ids": IDS}, "more than one row for .* 's1'"),
        ({"table": table, "target": "no", "sample_ids": IDS}, "no column 'no'; it has case, age"),
        ({"covariates": ["age"]}, "covariates are columns of a table"),
        ({"table": tmp_path / "none.csv"}, "does not exist"),
    ):
        with pytest.raises(SourceError, match=message):
            ingest(X, **options)
    with pytest.raises(
        SourceError, match=r"'case' is a column of .* and also a feature of the source"
    ):
        ingest(X, names=[*"abcde", "case"], sample_ids=IDS, table=table, target="case")
    with pytest.raises(SourceError, match="'age' has the same name as a feature"):
        ingest(X, names=[*"abcde", "age"], sample_ids=IDS, table=table, covariates=["age"])
