"""Oddities that are accepted are said once, with a number and the first name."""

import numpy as np
import pandas as pd
import pytest

from srs.errors import SourceError
from srs.ingest import ingest


def notices(source, **options):
    options.setdefault("target", np.arange(len(source)) % 2)
    return ingest(source, **options).manifest.notices


def test_plain_data_have_no_notices():
    assert notices(np.random.default_rng(0).normal(size=(8, 5))) == ()


def test_every_oddity_is_noticed():
    values = np.random.default_rng(0).normal(size=(8, 9))
    values[:, [2, 4, 5]] = 7.0
    values[0, 5] = np.nan  # so it is not constant: being missing may tell
    values[:, [1, 8]] = np.nan
    values[3, 6], values[4, 6], values[5, 7] = np.inf, -np.inf, np.inf
    names = ["a", "b", "b", "a", "c", "d", "e", "f", "g"]
    assert notices(values, names=names, sample_ids=list("xxyzuvwx")) == (
        "2 feature names occur more than once, the first is 'b'.",
        "1 sample ids occur more than once, the first is 'x'.",
        "2 features are constant, the first is 'b'.",
        "2 features are missing in all samples, the first is 'b'.",
        "2 features are infinite in some samples (3 values, kept as the most extreme), the first "
        "is 'e'.",
    )


def test_duplicate_names_are_kept():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 3)), columns=["u", "v", "u"])
    store = ingest(frame)
    assert store.feature_names == ["u", "v", "u"]
    assert store.find_ids(["u"]).tolist() == [0, 2]


def test_infinities_are_extreme_values():
    values = np.array([[0.0], [np.inf], [-np.inf], [np.nan]])
    assert ingest(values).read_codes([0])[:, 0].tolist() == [1, 2, 0, 255]


def test_no_target_is_noticed():
    assert notices(np.eye(3), target=None) == (
        "there is no target: give one to select features for it.",
    )


def test_one_constant_feature_is_singular():
    assert notices(np.array([[1.0, 2.0], [1.0, 3.0]])) == (
        "1 feature is constant, the first is 'f0'.",
    )


@pytest.mark.parametrize("kind", ["frame", "csv", "rows", "parquet"])
def test_numbers_with_a_few_texts_are_noticed(kind, tmp_path):
    frame = pd.DataFrame({name: [f"{i % 20 / 8}" for i in range(40)] for name in "abcd"})
    frame.loc[[5, 9], "b"], frame.loc[2, "c"] = "#DIV/0!", "<5"
    frame.loc[:5, "d"] = "low"  # too many to be slips
    frame = frame.rename(index="s{}".format)
    options = {}
    if kind == "csv":
        frame.to_csv(tmp_path / "t.csv")
    elif kind == "rows":
        frame.T.to_csv(tmp_path / "t.csv")
        options = {"orientation": "features"}
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
    if kind != "frame":
        frame = tmp_path / ("t.parquet" if kind == "parquet" else "t.csv")
    store = ingest(frame, target=np.arange(40) % 2, **options)
    text_numbers = kind in ("frame", "parquet")  # where numbers as text are the user's own choice
    assert store.kinds.tolist() == [2 if text_numbers else 0, 2, 2, 2]
    assert store.manifest.notices == (
        "2 features are read as categories although nearly all values are numbers, the first is "
        "'b', because of '#DIV/0!' in sample 's5': write NA for what is missing, or declare the "
        "feature categorical.",
    )
    declared = ingest(frame, target=np.arange(40) % 2, categorical=["b", "c"], **options)
    assert declared.manifest.notices == ()


def test_too_many_numbers_with_a_text(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,.\n" + "".join(f"1,{i}.5\n" for i in range(400)))
    frame = pd.read_csv(tmp_path / "t.csv", dtype=str)
    for source in (tmp_path / "t.csv", frame[["b"]]):
        with pytest.raises(SourceError, match=r"all its values but '\.' are numbers; correct it"):
            ingest(source)
