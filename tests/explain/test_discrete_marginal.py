"""UMFI where features have few values: genotypes, categories, ties, missing and mixed ones."""

import numpy as np
import pandas as pd
import pytest

from srs.explain.analyses import umfi
from srs.explain.independence import chain, is_discrete, make_independent, transport

NAMES = np.array(["AA", "AB", "BB"])


def genotypes(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Four variants: the second is the first but for some errors, the third is alone; all act."""
    rng = np.random.default_rng(seed)
    G = rng.binomial(2, 0.4, (n, 4))
    G[:, 1] = np.where(rng.random(n) < 0.1, G[:, 1], G[:, 0])
    return G, G[:, 0] + G[:, 2] + rng.normal(0, 0.7, n)


@pytest.mark.parametrize("method", ["transport", "linear"])
def test_numbers_and_names_of_genotypes_give_the_same(method: str, global_random_seed: int) -> None:
    """A copy takes nothing away, whether genotypes are numbers or names; noise is at 0."""
    G, y = genotypes(global_random_seed)
    options = {"method": method, "n_repeats": 4}
    numbers = umfi(G.astype(float), y, **options).frame
    names = umfi(pd.DataFrame(NAMES[G], columns=["f0", "f1", "f2", "f3"]), y, **options).frame
    spread = np.hypot(numbers["error"], names["error"])
    assert (np.abs(numbers["raw"] - names["raw"]) < 4 * spread + 0.03).all()
    for found in (numbers, names):
        assert (found["value"][:3] > 0.1).all()
        assert found["value"][3] < 0.05
        assert (found["remaining"] < 0.1).all()


def test_regression_does_not_hide_the_only_causal_variant(global_random_seed: int) -> None:
    """What regression leaves of a genotype tells the other exactly: it is transported instead."""
    rng = np.random.default_rng(global_random_seed)
    G = rng.binomial(2, 0.5, (400, 3)).astype(float)
    G[:, 1] = np.where(rng.random(400) < 0.2, G[:, 1], G[:, 0])
    found = umfi(G, G[:, 0] + 0.3 * rng.normal(size=400), method="linear")
    assert found.column("value")[0] > 0.5
    assert "3 of 3, the first is 'f0', were transported instead" in found.notes[1]


def test_ties_do_not_follow_the_order_of_samples(global_random_seed: int) -> None:
    """Samples sorted by class, features of ties that do not depend on it: they stay so.

    A correlation of 600 independent pairs is above 0.17 with probability 3e-5.
    """
    rng = np.random.default_rng(global_random_seed)
    y = np.repeat([0.0, 1.0], 300)
    X = rng.poisson(0.7, (600, 8)).astype(float)
    for protected in (rng.poisson(0.7, 600), rng.integers(0, 30, 600), rng.normal(size=600)):
        for remove in (transport, chain):
            moved = remove(X, protected.astype(float), False, np.random.default_rng(1))
            linked = [abs(np.corrcoef(column, y)[0, 1]) for column in moved.T]
            assert max(linked) < 0.17


def test_few_values_stay_what_they_are_and_tell_nothing(global_random_seed: int) -> None:
    """The discrete algorithm: values of the column, in its proportions, in every part."""
    rng = np.random.default_rng(global_random_seed)
    z = rng.integers(0, 3, 1500).astype(float)
    X = np.column_stack([z, np.minimum(z, 1), rng.integers(0, 4, 1500)])
    moved = transport(X, z, True, np.random.default_rng(0))
    for j in range(3):
        levels, counts = np.unique(X[:, j], return_counts=True)
        assert set(moved[:, j]) <= set(levels)
        for level in range(3):
            inside = moved[z == level, j]
            shares = np.array([(inside == value).mean() for value in levels])
            error = np.sqrt(counts / 1500 * (1 - counts / 1500) / len(inside))
            assert (np.abs(shares - counts / 1500) < 4.5 * error).all()
    kept = (moved[:, 2] == X[:, 2]).mean()
    assert kept > 0.9  # what was independent is hardly moved


def test_missing_values_tell_nothing_either(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    z = rng.normal(size=800)
    x = rng.normal(size=800)
    x[(z > 0) & (rng.random(800) < 0.5)] = np.nan
    for column in (x, np.round(x)):
        moved = transport(column[:, None], z, False, np.random.default_rng(0))[:, 0]
        gone = np.isnan(moved)
        assert gone.mean() == pytest.approx(np.isnan(x).mean(), abs=0.05)
        assert abs(gone[z > 0].mean() - gone[z <= 0].mean()) < 0.15
        assert np.nanmax(moved) <= np.nanmax(column)


def test_what_is_continuous() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=90), rng.integers(0, 9, 90), rng.normal(size=90)])
    X[:60, 2] = 0.0
    assert is_discrete(X).tolist() == [False, True, True]


def test_mixed_types(global_random_seed: int) -> None:
    """Numbers, a genotype, names with missing ones, and a count, one of each acts."""
    rng = np.random.default_rng(global_random_seed)
    n = 500
    x, g, c = rng.normal(size=n), rng.binomial(2, 0.4, n), rng.poisson(2, n)
    name = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    y = x + g + (name == "blue") * 1.5 + 0.3 * rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "g": g, "name": name, "count": c, "copy": x + g})
    frame.loc[::25, "name"] = None
    for method in ("transport", "chain"):
        found = umfi(frame, y, method=method, n_repeats=2).frame.set_index("feature")["value"]
        assert found["count"] < 0.05
        assert found.drop("count").min() > 0.1


def test_a_chain_removes_what_pairs_leave(global_random_seed: int) -> None:
    """Where a feature changes how others go together, and many of them."""
    rng = np.random.default_rng(global_random_seed)
    z, a = rng.normal(size=(2, 600))
    X = np.column_stack(
        [
            z,
            a,
            *(np.sign(z) * a + 0.4 * rng.normal(size=600) for _ in range(2)),
            *rng.normal(size=(2, 600)),
        ]
    )
    y = z + rng.normal(0, 0.5, 600)
    told = {
        method: umfi(X, y, method=method, n_repeats=1).frame["remaining"][0]
        for method in ("transport", "chain")
    }
    assert told["transport"] > 0.3
    assert told["chain"] < 0.15
    note = umfi(X, y, n_repeats=1, n_trees=50).notes[1]
    assert "features after they were made independent" in note
    assert "The method chain may remove more" in note


def test_the_same_seed_gives_the_same(global_random_seed: int) -> None:
    G, y = genotypes(global_random_seed, 120)
    one, two = (umfi(G, y, n_trees=20, threads=threads).to_json() for threads in (1, 2))
    assert one == two
    rng = [np.random.default_rng(seed) for seed in (1, 1, 2)]
    moved = [make_independent(G[:, 1:].astype(float), G[:, 0], False, "transport", r) for r in rng]
    np.testing.assert_array_equal(moved[0], moved[1])
    assert (moved[0] != moved[2]).any()
