"""Oddities that are accepted are said once, with a number and the first name."""

import numpy as np
import pandas as pd

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
