"""A result with features, pairs and effects, and its explanation."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

import srs

matplotlib.use("Agg")


@pytest.fixture(scope="package")
def store():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 80))
    crossed = 1.4 * np.sign(X[:, 30]) * np.sign(X[:, 31])
    y = np.where(X[:, 10] + crossed + rng.normal(size=400) > 0, "case", "control")
    frame = pd.DataFrame(
        X, columns=[f"gene {i} of a_name | that is rather long" for i in range(80)]
    )
    return srs.ingest(frame, target={"y": y, "site": np.arange(400) % 2})


@pytest.fixture(scope="package")
def result(store):
    return srs.select(store, seed=0, max_trees=200)


@pytest.fixture(scope="package")
def explanation(store, result):
    analyses = ["mda", "per-class", "context=site", "network"]
    return srs.explain(store, features=result, analyses=analyses, n_trees=50)


@pytest.fixture(autouse=True)
def closed():
    """Figures are closed after each test."""
    yield
    from matplotlib import pyplot

    pyplot.close("all")
