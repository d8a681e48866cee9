"""Context analysis: convergence to the exact values, the published table, the null, errors."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from benchmarks.explain.data import primary_tumor
from srs.errors import InputError, SettingsError
from srs.explain.analyses import context, open_matrix
from srs.explain.context_forests import Within, context_sums
from srs.explain.context_words import equivalence, unit_of
from srs.explain.contexts import open_context
from srs.results.analysis import rank_p_values
from srs.theory import asymptotic_context, asymptotic_importances
from tests.explain.context_data import alike_in_both_sexes, reverses
from tests.explain.data import (
    context_example_1,
    context_problem_1,
    context_problem_2,
    needs_data,
    tables,
)


@pytest.mark.parametrize(
    ("problem", "empty"),
    [(context_problem_1, "skip"), (context_problem_2, "skip"), (context_problem_2, "zero")],
)
def test_forests_converge_to_the_exact_importances(
    problem, empty: str, global_random_seed: int
) -> None:
    X, y, c = problem()
    exact = asymptotic_context(X, y, c, empty=empty)
    found = context(
        X, y, context=c, n_trees=2500, n_permutations=1, seed=global_random_seed, empty=empty
    )
    frame = found.frame
    for k, part in enumerate("01"):
        rows = frame[frame["part"] == part]
        for name, values in (
            ("value", exact.absolute[k]),
            ("signed", exact.signed[k]),
            ("imp", exact.imp),
            ("given", exact.given[k]),
            ("overall", exact.overall),
            ("shared", exact.reached[k] - exact.signed[k]),
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
    found = context(primary_tumor(), "class", context="sex", empty="zero").frame
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
        assert np.abs(rows["p_signed"].to_numpy() - printed[f"p_s_{k}"]).max() < 0.2
        assert set(rows[rows["p_signed"] < 0.05]["feature"]) == significant
        # "importances ... both significantly decrease": none is shown to tell nothing there.
        assert set(rows[rows["label"] == "redundant"]["feature"]) == significant
        assert set(rows["label"]) == {"redundant", "independent"}


def test_p_values_are_uniform_where_the_context_means_nothing() -> None:
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, c = rng.integers(0, 3, (60, 3)), rng.permutation(np.repeat([0, 1], 30))
        matrix = open_matrix(X, (X[:, 0] + rng.integers(0, 2, 60)) > 1)
        weights = np.array([c == 0, c == 1]).astype(np.uint8)
        sums = context_sums(
            matrix, weights, n_trees=20, n_permutations=99, seed=seed, threads=1
        ).absolute[0, seed % 3]
        p_values.append(float(rank_p_values(sums[:1], sums[1:, None])[0]))
    assert kstest(p_values, "uniform").pvalue > 0.005


@pytest.mark.parametrize("seed", range(3))
def test_what_cannot_be_characterised_is_called_dependent(seed: int) -> None:
    """Examples 1 and 2: X1 tells more where X2 = Xc and less elsewhere; X2 is complementary."""
    X, y, c = (np.repeat(part, 25, axis=0) for part in context_example_1())
    found = context(X, y, context=c, n_trees=100, n_permutations=99, seed=seed).frame
    assert found["label"].tolist() == ["dependent", "complementary"] * 2
    assert found["signed"][0] == pytest.approx(0, abs=1e-12)
    assert found["ratio"].tolist() == pytest.approx([0, 1, 0, 1])
    assert (found["p_mixed"][::2] == 1 / 100).all()


def test_a_feature_that_acts_alike_in_both_sexes_is_independent() -> None:
    """Beside one that only men have: at most 5 % of tests, which zeros in nodes without women fail.

    With 24 tests at 5 %, more than 5 are below by chance with probability 0.0005.
    """
    below = {"skip": 0, "zero": 0}
    for seed in range(12):
        X, y, sex = alike_in_both_sexes(seed)
        matrix, contexts = open_context(X, y, None, sex)
        for empty in below:
            options = {"n_trees": 30, "n_permutations": 39, "seed": seed, "threads": 1}
            sums = context_sums(matrix, contexts.weights, skip=empty == "skip", **options)
            absolute = np.moveaxis(sums.absolute[:, 0], -1, 0)
            below[empty] += int((rank_p_values(absolute[0], absolute[1:]) < 0.05).sum())
    assert below["skip"] <= 5
    assert below["zero"] >= 12


def test_irrelevant_needs_an_equivalence_test(global_random_seed: int) -> None:
    """With few samples "tells nothing" cannot be shown, though no test says that it tells."""
    rng = np.random.default_rng(global_random_seed)
    words = {}
    for n in (40, 600):
        X, sex = rng.integers(0, 2, (n, 2)), np.arange(n) % 2
        y = np.where(sex == 0, X[:, 0], X[:, 1])
        found = context(X, y, context=sex, n_trees=100, n_permutations=99).frame
        row = found[(found["part"] == "0") & (found["feature"] == "f1")].iloc[0]
        assert row["p_given"] > 0.01
        words[n] = row["label"]
    assert words == {40: "redundant", 600: "irrelevant"}


def test_equivalence_keeps_its_level() -> None:
    """A feature that tells exactly `smallest` is called less than that in 5 % of samples at most.

    Of 60 at 5 %, more than 10 are with probability 0.0003. What tells nothing is seen as such.
    """
    share = 0.2
    truth = 1 + (0.5 + share) * np.log2(0.5 + share) + (0.5 - share) * np.log2(0.5 - share)
    rows, wrong, right = np.arange(200), 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (200, 3))
        y = rng.random(200) < 0.5 + share * (2 * X[:, 0] - 1)
        matrix = open_matrix(X, y)
        null = np.array([_told(X, rng.permutation(y)) for _ in range(25)])
        within = Within(given=_told(X, y), p_given=np.ones(3), null=null)
        p_values = equivalence(within, np.full(3, truth), unit_of(matrix, rows))
        wrong += int(p_values[0] < 0.05)
        right += int((p_values[1:] < 0.05).sum())
    assert wrong <= 10
    assert right >= 100


def _told(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return asymptotic_importances(X, y.astype(int))


def test_is_the_context_relevant(global_random_seed: int) -> None:
    """Theorem 1's question: a context that acts only together with a feature is seen as well."""
    rng = np.random.default_rng(global_random_seed)
    X, c = rng.integers(0, 2, (300, 2)), rng.integers(0, 2, 300)
    options = {"context": c, "n_trees": 50, "n_permutations": 99}
    together = context(X, X[:, 0] ^ c, **options)
    assert together.settings["context_p_value"] == 0.01
    assert "carries information about the target" in together.notes[0]
    numbers = context(X, (X[:, 0] ^ c) + 0.1 * rng.normal(size=300), **options)
    assert numbers.settings["context_p_value"] == 0.01
    alone = context(X[:, :1], X[:, 0] ^ c, **options)  # only in leaves
    assert alone.settings["context_p_value"] == 0.01


def test_p_values_of_the_context_are_uniform_where_it_means_nothing() -> None:
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, c = rng.integers(0, 3, (60, 2)), rng.permutation(np.repeat([0, 1], 30))
        matrix = open_matrix(X, (X[:, 0] + rng.integers(0, 2, 60)) > 1)
        told = context_sums(
            matrix,
            np.array([c == 0, c == 1]).astype(np.uint8),
            n_trees=10,
            n_permutations=99,
            seed=seed,
            threads=1,
        ).context
        p_values.append(float(rank_p_values(told[:1], told[1:, None])[0]))
    assert kstest(p_values, "uniform").pvalue > 0.005


def test_separate_forests(global_random_seed: int) -> None:
    """Equation 9 with p-values: it sees a feature of one context, and misses X1 of Example 1."""
    rng = np.random.default_rng(global_random_seed)
    X, c = rng.integers(0, 2, (300, 3)), np.arange(300) % 2
    y = np.where(c == 0, X[:, 0], X[:, 1])
    options = {"n_trees": 60, "n_permutations": 59, "separate": True}
    found = context(X, y, context=c, **options).frame
    assert (found["p_difference"][found["feature"].isin(["f0", "f1"])] == 1 / 60).all()
    assert (found["p_difference"][found["feature"] == "f2"] > 0.01).all()
    np.testing.assert_allclose(found["difference"], found["imp"] - found["given"], atol=0.05)
    X, y, c = (np.repeat(part, 25, axis=0) for part in context_example_1())
    found = context(X, y, context=c, **options).frame
    x1 = found[found["feature"] == "f0"]
    assert (x1["p_value"] == 1 / 60).all()
    assert (x1["p_difference"] > 0.05).all()
    without = context(X, y, context=c, n_trees=5, n_permutations=5).frame
    assert without["p_difference"].isna().all()


def test_points_of_a_numeric_context(global_random_seed: int) -> None:
    """Ours: an effect that is at both ends and not in the middle, by samples close to points."""
    X, y, age = reverses(global_random_seed)
    found = context(X, y, context=age, points=3, n_trees=100, n_permutations=99).frame
    points = found["part"].unique()
    assert np.abs(points.astype(float) - [30, 50, 70]).max() < 3
    rows = found[found["feature"] == "f0"].set_index("part")
    assert rows["label"].tolist()[1] in ("redundant", "irrelevant")
    assert rows["signed"].iloc[1] > 0
    assert (rows["signed"].iloc[[0, 2]] < 0).all()
    assert found["overall"].isna().all()
    assert (found[found["feature"] == "f2"]["p_value"] > 0.01).all()


def test_points_are_tested_by_permutation() -> None:
    p_values = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X, age = rng.normal(size=(90, 2)), rng.normal(size=90)
        matrix, found = open_context(X, X[:, 0] + rng.normal(size=90), None, age, points=3)
        sums = context_sums(
            matrix, found.weights, n_trees=10, n_permutations=99, seed=seed, threads=1
        ).absolute[seed % 3, seed % 2]
        p_values.append(float(rank_p_values(sums[:1], sums[1:, None])[0]))
    assert kstest(p_values, "uniform").pvalue > 0.005


def test_weights_of_points() -> None:
    """A triangle over ranks; between two points the weights of a sample add up to the full one."""
    rng = np.random.default_rng(0)
    _, found = open_context(
        rng.normal(size=(400, 2)), rng.normal(size=400), None, np.arange(400.0) ** 2, points=4
    )
    weights = found.weights.astype(int)
    assert weights.max(axis=1).tolist() == [16] * 4
    inside = slice(50, 350)
    assert np.abs(weights[:, inside].sum(axis=0) - 16).max() <= 1
    assert weights.argmax(axis=1).tolist() == pytest.approx([49.5, 149.5, 249.5, 349.5], abs=5)


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
    with pytest.raises(InputError, match="points are for a context of numbers"):
        context(X, y, context=np.arange(16) % 2, points=3)
    with pytest.raises(SettingsError, match="empty of the analysis context must be one of skip"):
        context(X, y, context=np.arange(16) % 2, empty="drop")
    aged = pd.DataFrame({"a": np.arange(40.0), "age": [np.nan, *np.arange(39.0)]})
    with pytest.raises(InputError, match="'age' has no value in 1 of 40 samples"):
        context(aged, np.arange(40) % 2, context="age")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    with pytest.raises(InputError, match="is the target and cannot be its context"):
        context(frame, "y", context="y")
