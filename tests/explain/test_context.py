"""Context analysis: convergence to the exact values, the published table, the null, errors."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from benchmarks.explain.data import primary_tumor
from srs.errors import InputError
from srs.explain.analyses import context, open_matrix
from srs.explain.analyses.context import context_sums
from srs.results.analysis import rank_p_values
from srs.theory import asymptotic_context
from tests.explain.data import context_problem_1, context_problem_2, needs_data, tables


@pytest.mark.parametrize("problem", [context_problem_1, context_problem_2])
def test_forests_converge_to_the_exact_importances(problem, global_random_seed: int) -> None:
    X, y, c = problem()
    exact = asymptotic_context(X, y, c)
    found = context(X, y, context=c, n_trees=2500, n_permutations=1, seed=global_random_seed)
    frame = found.frame
    for k, part in enumerate("01"):
        rows = frame[frame["part"] == part]
        for name, values in (
            ("value", exact.absolute[k]),
            ("signed", exact.signed[k]),
            ("imp", exact.imp),
            ("given", exact.given[k]),
            ("overall", exact.overall),
        ):
            np.testing.assert_allclose(rows[name], values, atol=0.03, err_msg=name)
    for name, error, values in (
        ("value", "error", exact.absolute.ravel()),
        ("imp", "imp_error", np.tile(exact.imp, 2)),
    ):
        assert (np.abs(frame[name] - values) <= 4.5 * frame[error] + 1e-9).all(), name


def test_levels_are_branches_and_numbers_are_cut(global_random_seed: int) -> None:
    """Of three levels as categories the exact multiway values; as numbers, binary ones."""
    rng = np.random.default_rng(global_random_seed)
    levels, c = rng.integers(0, 3, (300, 2)), rng.integers(0, 2, 300)
    y = np.where(c == 0, levels[:, 0], levels[:, 1] == 1)
    exact = asymptotic_context(levels, y, c)
    frame = pd.DataFrame(np.array(["a", "b", "c"])[levels], columns=["u", "v"])
    multiway = context(frame, y, context=c, n_trees=3000, n_permutations=1).frame
    np.testing.assert_allclose(multiway["value"], exact.absolute.ravel(), atol=0.02)
    assert (np.abs(multiway["value"] - exact.absolute.ravel()) < 5 * multiway["error"]).all()
    binary = context(levels, y, context=c, n_trees=3000, n_permutations=1).frame
    assert (np.abs(binary["value"] - exact.absolute.ravel()) > 5 * binary["error"]).any()
    assert binary["imp"][:2].sum() == pytest.approx(exact.imp.sum(), abs=1e-9)


def test_numeric_target_converges(global_random_seed: int) -> None:
    X, y, c = context_problem_1()
    exact = asymptotic_context(X, y + 0.5 * X[:, 1], c, regression=True)
    found = context(
        X,
        y + 0.5 * X[:, 1] + 1e-9 * np.arange(16),
        context=c,
        n_trees=2500,
        n_permutations=1,
        seed=global_random_seed,
    ).frame
    np.testing.assert_allclose(found["value"], exact.absolute.ravel(), atol=0.02)
    np.testing.assert_allclose(found["signed"], exact.signed.ravel(), atol=0.02)


@needs_data
def test_primary_tumor() -> None:
    """Table 4: importances within 0.03, the same two features significant in each context."""
    printed = pd.DataFrame(
        tables()["context_problem_3"]["rows"], columns=tables()["context_problem_3"]["columns"]
    )
    found = context(primary_tumor(), "class", context="sex").frame
    assert len(found) == 32
    for k, part in enumerate(("female", "male")):
        rows = found[found["part"] == part]
        assert rows["feature"].tolist() == printed["feature"].tolist()
        for name, column in (
            ("imp", "Imp"),
            ("shared", f"Imp_given_{k}"),
            ("value", f"Imp_abs_{k}"),
            ("signed", f"Imp_s_{k}"),
        ):
            assert np.abs(rows[name].to_numpy() - printed[column].to_numpy()).max() < 0.03, name
        significant = set(rows[rows["p_value"] < 0.05]["feature"])
        assert significant == set(printed[printed[f"p_abs_{k}"] < 0.05]["feature"])
        assert np.abs(rows["p_value"].to_numpy() - printed[f"p_abs_{k}"]).max() < 0.1


def test_p_values_are_uniform_where_the_context_means_nothing() -> None:
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, c = rng.integers(0, 3, (60, 3)), rng.permutation(np.repeat([0, 1], 30))
        matrix = open_matrix(X, (X[:, 0] + rng.integers(0, 2, 60)) > 1)
        sums = context_sums(
            matrix, c, n_contexts=2, n_trees=20, n_permutations=99, seed=seed, threads=1
        ).absolute[0, seed % 3]
        p_values.append(float(rank_p_values(sums[:1], sums[1:, None])[0]))
    assert kstest(p_values, "uniform").pvalue > 0.005


def test_numeric_context_and_target(global_random_seed: int) -> None:
    """Ours: a numeric context in thirds. The first feature matters where the context is high."""
    rng = np.random.default_rng(global_random_seed)
    X, age = rng.normal(size=(600, 3)), rng.uniform(20, 80, 600)
    y = np.where(age > 60, 3 * X[:, 0], 0) + X[:, 1]
    found = context(X, y, context=age, n_trees=100, n_permutations=199).frame.set_index(
        ["part", "feature"]
    )
    assert set(found.index.get_level_values("part")) == {"low", "middle", "high"}
    assert found.loc[("high", "f0"), "label"] == "complementary"
    assert found.loc[("low", "f0"), "signed"] > 0 > found.loc[("high", "f0"), "signed"]
    assert found.loc[("low", "f0"), "p_signed"] < 0.1
    assert found.loc[("low", "f0"), "p_given"] > 0.05 > found.loc[("high", "f0"), "p_given"]
    assert found.loc[("high", "f0"), "p_value"] == 1 / 200


def test_contexts_are_named_by_their_values() -> None:
    """A feature of numbers as context: its values are the names, and it is not explained."""
    X, y, c = context_problem_1()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(dose=np.where(c, 2.5, 1.0), y=y)
    found = context(frame, "y", context="dose", n_trees=20, n_permutations=5).frame
    assert found["part"].unique().tolist() == ["1", "2.5"]
    assert found["feature"].unique().tolist() == ["a", "b", "c"]


def test_threads_and_seeds() -> None:
    X, y, c = context_problem_1()
    one, two = (context(X, y, context=c, n_trees=60, n_permutations=9, threads=t) for t in (1, 2))
    assert one.to_json() == two.to_json()
    other = context(X, y, context=c, n_trees=60, n_permutations=9, seed=1)
    assert one.to_json() != other.to_json()


def test_errors() -> None:
    X, y, _ = context_problem_1()
    for wrong, message in (
        (np.zeros(16), "only one value"),
        ([f"s{i}" for i in range(16)], "16 values for 16 samples"),
        (["a"] * 15 + ["b"], "'b' has only one sample"),
    ):
        with pytest.raises(InputError, match=message):
            context(X, y, context=wrong, n_trees=5, n_permutations=5)
    with pytest.raises(InputError, match="no feature named 'age'"):
        context(X, y, context="age")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    with pytest.raises(InputError, match="is the target and cannot be its context"):
        context(frame, "y", context="y")
