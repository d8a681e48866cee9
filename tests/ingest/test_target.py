"""Targets: the rule that chooses the kind, labels, and where targets come from."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from srs.ingest import ingest

X = np.random.default_rng(0).normal(size=(40, 3))


def target_of(target, **options):
    return ingest(X, target=target, **options).target()


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        (np.arange(40) % 2 == 0, "classes", ("False", "True")),
        (np.arange(40) % 3 * 5, "classes", ("0", "5", "10")),
        (np.arange(40) % 30 / 1.0, "classes", tuple(str(i) for i in range(30))),
        (np.arange(40) % 31, "numbers", ()),
        (np.arange(40) / 40, "numbers", ()),
        (["b", "a"] * 20, "classes", ("a", "b")),
        (pd.Categorical(["b", "a"] * 20), "classes", ("a", "b")),
        (pd.Series(pd.array([1, 2] * 20, dtype="Int64")), "classes", ("1", "2")),
    ],
)
def test_the_kind_follows_from_the_values(values, kind, labels):
    target = target_of(values)
    assert (target.kind, target.labels) == (kind, labels)
    assert target.values.dtype == (np.int32 if labels else np.float64)


def test_numbers_sort_as_numbers():
    target = target_of([10, 9, -1, 100] * 10)
    assert target.labels == ("-1", "9", "10", "100")
    assert target.values[:4].tolist() == [2, 1, 0, 3]


def test_the_task_can_be_given():
    assert target_of(np.arange(40) % 2, target_kind="numbers").kind == "numbers"
    assert target_of(np.arange(40) % 35, target_kind="classes").n_classes == 35
    store = ingest(
        X, target={"a": np.arange(40) % 2, "b": np.arange(40) % 3}, target_kind={"a": "numbers"}
    )
    assert [store.target(name).kind for name in "ab"] == ["numbers", "classes"]


@pytest.mark.parametrize("header", ["", "outcome\n"])
@pytest.mark.parametrize(
    ("texts", "labels"), [(["u", "v"] * 20, ("u", "v")), (["0", "1"] * 20, ("0", "1"))]
)
def test_target_in_a_text_file(texts, labels, header, tmp_path):
    (tmp_path / "y.csv").write_text(header + "\n".join(texts) + "\n")
    target = target_of(str(tmp_path / "y.csv"))
    assert (target.name, target.labels) == ("target", labels)
    assert target.values[:2].tolist() == [0, 1]


@pytest.mark.parametrize("header", ["", "outcome\n"])
def test_a_blank_line_inside_a_target_is_a_missing_value(header, tmp_path):
    texts = ["0", "1"] * 20
    texts[13] = ""
    (tmp_path / "y.csv").write_text(header + "\n".join(texts) + "\n\n\n")
    with pytest.raises(ValueError, match="missing in 1 samples, the first is row 13"):
        target_of(tmp_path / "y.csv")


def test_a_target_that_is_not_utf8(tmp_path):
    (tmp_path / "y.csv").write_text("u\nv\n" * 20, encoding="utf-16")
    with pytest.raises(ValueError, match=r"y\.csv is not text in UTF-8: save it as UTF-8"):
        target_of(tmp_path / "y.csv")


@pytest.mark.parametrize("kind", ["frame", "list", "parquet", "table"])
def test_decimal_numbers_are_numbers(kind, tmp_path):
    values = [Decimal(i) / 8 for i in range(40)]
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=values)
    frame.to_parquet(tmp_path / "t.parquet")
    if kind == "list":
        target = target_of(values)
    elif kind == "table":
        ids = [str(i) for i in range(40)]
        table = frame.assign(id=ids)[["id", "y"]]
        target = ingest(X, target="y", table=table, sample_ids=ids).target()
    else:
        target = ingest(frame if kind == "frame" else tmp_path / "t.parquet", target="y").target()
    assert target.kind == "numbers"
    assert target.values[3] == 0.375


def test_target_in_an_npy_file(tmp_path):
    np.save(tmp_path / "y.npy", np.arange(40) / 3)
    assert target_of(tmp_path / "y.npy").values[3] == 1.0
    np.save(tmp_path / "y.npy", np.arange(41) / 3)
    with pytest.raises(ValueError, match="has 41 values and the source has 40"):
        target_of(tmp_path / "y.npy")


def test_file_of_two_columns_is_refused(tmp_path):
    (tmp_path / "y.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="one column; line 1 has 2"):
        target_of(tmp_path / "y.csv")


def test_names_of_targets():
    frame = pd.DataFrame(X, columns=list("abc")).assign(outcome=np.arange(40) % 2)
    assert ingest(frame, target="outcome").target_names == ("outcome",)
    assert ingest(X, target=frame["outcome"]).target_names == ("outcome",)
    assert ingest(X, target=frame["outcome"].to_list()).target_names == ("target",)


def test_columns_beside_the_target_need_not_be_learnable():
    y = np.arange(40) % 2
    beside = {"w": np.ones(40), "half": np.full(40, 0.5), "who": [f"p{i}" for i in range(40)]}
    store = ingest(X, target={"y": y, **beside})
    assert [len(store.target(name).labels) for name in beside] == [1, 0, 40]
    for name, values in beside.items():
        with pytest.raises(ValueError, match=r"nothing to learn|looks like ids"):
            ingest(X, target={name: values, "y": y})
