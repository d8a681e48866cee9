"""Columns of ids: found by name in every kind of table, never features, and always told."""

import numpy as np
import pandas as pd
import pyarrow.feather
import pytest

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.values import read_values

N = 24
KINDS = ["csv", "tsv", "parquet", "feather", "frame"]


def numbers():
    values = np.random.default_rng(1).normal(size=(N, 3)).round(3)
    return pd.DataFrame(values, columns=["a", "b", "c"]).assign(y=["u", "v"] * (N // 2))


def make(kind, frame, folder):
    path = folder / f"t.{kind}"
    if kind == "parquet":
        frame.to_parquet(path, index=False)
    elif kind == "feather":
        pyarrow.feather.write_feather(frame, path)
    elif kind != "frame":
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return frame if kind == "frame" else path


@pytest.mark.parametrize("values", ["text", "numbers"])
@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_found_in_any_column_and_no_feature(kind, values, tmp_path):
    frame = numbers()
    ids = [f"s{i}" for i in range(N)] if values == "text" else list(range(N))
    frame.insert(2, "Sample ID", ids)
    store = ingest(make(kind, frame, tmp_path), tmp_path / "s.zarr", target="y")
    assert store.feature_names == ["a", "b", "c"]
    assert store.sample_ids == [str(i) for i in ids]
    assert store.manifest.notices == ("the column 'Sample ID' is used as sample ids.",)
    np.testing.assert_array_equal(read_values(store, [2, 0]), frame[["c", "a"]])


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "ID",
        "sample_id",
        "SampleID",
        "patient_id",
        "subject-id",
        "barcode",
        "IID",
        "#IID",
        "cell.id",
        "eid",
        "participant_id",
    ],
)
def test_names_of_ids(name, tmp_path):
    frame = numbers()
    frame.insert(1, name, [f"s{i}" for i in range(N)])
    for kind in ("csv", "frame"):
        store = ingest(make(kind, frame, tmp_path), target="y")
        assert store.sample_ids[:2] == ["s0", "s1"]


@pytest.mark.parametrize("kind", KINDS)
def test_samples_go_before_subjects_and_both_before_counted_rows(kind, tmp_path):
    frame = numbers()
    frame.insert(0, "patient", [f"p{i // 2}" for i in range(N)])
    frame.insert(1, "sample", [f"s{i}" for i in range(N)])
    frame.insert(0, "Unnamed: 0", range(N))
    store = ingest(make(kind, frame, tmp_path), tmp_path / "s.zarr", target="y")
    assert store.sample_ids[:2] == ["s0", "s1"]
    assert store.feature_names == ["patient", "a", "b", "c"]
    taken, subjects = store.manifest.notices
    assert "'sample' is used as sample ids" in taken
    assert "'patient' is a feature, although it looks like ids of subjects" in subjects
    assert "--sample-column patient and select with --subjects patient" in subjects
    np.testing.assert_array_equal(read_values(store, [3]), frame[["c"]])


@pytest.mark.parametrize("kind", KINDS)
def test_ids_that_repeat_are_a_feature_and_told(kind, tmp_path):
    frame = numbers()
    frame.insert(0, "subject_id", [f"p{i // 2}" for i in range(N)])
    source = make(kind, frame, tmp_path)
    store = ingest(source, tmp_path / "s.zarr", target="y")
    assert store.feature_names == ["subject_id", "a", "b", "c"]
    assert store.sample_ids == [str(i) for i in range(N)]
    (notice,) = store.manifest.notices
    assert "'subject_id' is a feature, although it looks like ids of subjects" in notice
    np.testing.assert_array_equal(read_values(store, [3]), frame[["c"]])
    beside = ingest(source, target={"y": "y", "subject_id": "subject_id"})
    assert beside.manifest.notices == ()
    named = ingest(source, target="y", id_column="subject_id")
    assert named.sample_ids[:3] == ["p0", "p0", "p1"]
    assert named.feature_names == ["a", "b", "c"]


def test_many_subjects_as_categories_say_what_to_do(tmp_path):
    frame = pd.DataFrame({"subject_id": [f"p{i // 2}" for i in range(600)], "a": 1.0})
    for kind in ("csv", "frame"):
        with pytest.raises(SourceError, match="give it as --sample-column subject_id if it holds"):
            ingest(make(kind, frame, tmp_path))


def test_measured_values_are_no_ids():
    frame = numbers().rename(columns={"b": "index"})
    store = ingest(frame, target="y")
    assert store.feature_names == ["a", "index", "c"]
    assert store.manifest.notices == ()


@pytest.mark.parametrize("kind", KINDS)
def test_the_column_can_be_named(kind, tmp_path):
    frame = numbers().assign(code=[f"k{i}" for i in range(N)], id=range(N))
    source = make(kind, frame, tmp_path)
    store = ingest(source, tmp_path / "s.zarr", target="y", id_column="code")
    assert store.sample_ids[:2] == ["k0", "k1"]
    assert store.feature_names == ["a", "b", "c", "id"]
    np.testing.assert_array_equal(read_values(store, [2]), frame[["c"]])
    none = ingest(source, target="y", id_column="")
    assert none.feature_names == ["a", "b", "c", "code", "id"]
    assert none.manifest.notices == (
        "2 features are like ids: a different text, or the next number, in every sample, the "
        "first is 'code': name it with --id-column if it is, or leave it out.",
    )
    with pytest.raises(SourceError, match=r"'codes': neither the source nor a table .* has a col"):
        ingest(source, target="y", id_column="codes")


def test_named_rows_of_pandas_go_first(tmp_path):
    frame = numbers().assign(id=range(N)).rename(index="r{}".format)
    frame.to_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        store = ingest(source, target="y")
        assert store.sample_ids[:2] == ["r0", "r1"]
        assert store.feature_names == ["a", "b", "c", "id"]


def test_counted_rows_are_ids_where_nothing_else_is(tmp_path):
    frame = numbers().iloc[[i for i in range(N) if i % 3]]
    frame.to_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        store = ingest(source, target=[0, 1] * (N // 3))
        assert store.sample_ids[:3] == ["1", "2", "4"]
        assert store.feature_names == ["a", "b", "c", "y"]


# -- tables beside the source -----------------------------------------------------------------


@pytest.fixture
def pheno():
    """Rows in another order than the samples, whose ids are numbers."""
    order = np.random.default_rng(4).permutation(N)
    return pd.DataFrame({"sample_id": order, "height": order / 2})


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_a_table_is_joined_by_its_ids_and_not_by_its_row_numbers(kind, pheno, tmp_path):
    given = tmp_path / f"p.{kind}"
    if kind == "frame":
        given = pheno
    elif kind == "csv":
        pheno.to_csv(given)
    else:
        pheno.to_parquet(given)
    frame = numbers().drop(columns="y").assign(id=range(N))
    store = ingest(frame, target="height", table=given)
    assert store.target().values.tolist() == [i / 2 for i in range(N)]
    assert any(
        notice.endswith("was joined by its column 'sample_id'.")
        for notice in store.manifest.notices
    )


def test_the_column_that_has_most_samples_is_joined_by(pheno):
    frame = numbers().drop(columns="y").set_index(pd.Index([f"c{i}" for i in range(N)]))
    table = pheno.assign(barcode=[f"c{i}" for i in pheno["sample_id"]])
    store = ingest(frame, target="height", table=table)
    assert store.target().values.tolist() == [i / 2 for i in range(N)]
    assert store.manifest.notices == ("the table was joined by its column 'barcode'.",)


def test_the_id_column_of_a_table_can_be_named(pheno, tmp_path):
    frame = numbers().drop(columns="y").set_index(pd.Index([f"c{i}" for i in range(N)]))
    table = pheno.assign(code=[f"c{i}" for i in pheno["sample_id"]])
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(
        SourceError, match="by its column 'sample_id'; if another column has the ids"
    ):
        ingest(frame, target="height", table=tmp_path / "t.csv")
    store = ingest(
        frame,
        tmp_path / "s.zarr",
        table=tmp_path / "t.csv",
        id_column="code",
        target="height",
        covariates=["sample_id"],
    )
    assert store.target().values.tolist() == [i / 2 for i in range(N)]
    assert read_values(store, [3])[:, 0].tolist() == list(range(N))


@pytest.mark.parametrize("id_column", [None, "", "id"])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", "t.arff"])
def test_values_are_read_again_with_the_same_ids(name, id_column, tmp_path):
    """Guards the record of a store: which columns were features must not be found anew."""
    frame = pd.DataFrame({"id": np.arange(30) * 7, "a": np.arange(30) % 4, "b": np.arange(30) / 8})
    head = "@relation r\n" + "".join(f"@attribute {c} numeric\n" for c in frame) + "@data\n"
    {
        "t.csv": lambda path: frame.to_csv(path, index=False),
        "t.parquet": lambda path: frame.to_parquet(path, index=False),
        "t.feather": frame.to_feather,
        "t.arff": lambda path: path.write_text(head + frame.to_csv(index=False, header=False)),
    }[name](tmp_path / name)
    store = ingest(tmp_path / name, tmp_path / "s.zarr", id_column=id_column)
    assert ("id" in store.feature_names) == (id_column == "")
    at = store.feature_names.index("b")
    np.testing.assert_array_equal(read_values(store, [at])[:, 0], frame["b"])
