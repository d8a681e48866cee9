"""Covariates: columns of a model, cells of alike samples, and runs that are adjusted for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import srs
from srs.engine.adjusting.cells import find_cells
from srs.engine.adjusting.covariates import read_covariates
from srs.engine.context import RunContext, make_context
from srs.errors import InputError, SettingsError
from srs.evidence.univariate.adjusted import AdjustedTest
from srs.evidence.univariate.steps import UnivariateSpec
from srs.settings import Settings
from srs.store import FeatureStore
from srs.store.layout import DOSAGE_STEPS, FRACTIONS
from srs.targets.target import Target

TRAIN = np.arange(60)


def _column(values: np.ndarray, labels: tuple[str, ...] = ()) -> Target:
    return Target("c", "classes" if labels else "numbers", values, labels)


def test_numbers_are_standardised_and_missing_ones_are_at_the_mean():
    values = np.linspace(10, 20, 60)
    values[[3, 7]] = np.nan
    found = read_covariates([_column(values)], TRAIN)
    assert found.columns.shape == (60, 2)
    assert found.columns[:, 1].mean() == pytest.approx(0, abs=1e-12)
    assert found.columns[:, 1].std() == pytest.approx(1)
    assert np.allclose(found.columns[[3, 7], 1], 0)
    assert "missing in 2 samples" in found.notices[0]


def test_categories_are_columns_and_missing_ones_the_most_frequent_level():
    codes = np.array([0, 1, 1, 2] * 15, np.int32)
    codes[0] = -1
    found = read_covariates([_column(codes, ("a", "b", "c"))], TRAIN)
    assert found.columns.shape == (60, 3)
    assert np.array_equal(found.columns[0], found.columns[1])
    assert "most frequent level" in found.notices[0]


def test_many_levels_that_are_numbers_are_a_scale():
    codes = np.repeat(np.arange(20), 3).astype(np.int32)
    labels = tuple(str(40 + at) for at in range(20))
    found = read_covariates([_column(codes, labels)], TRAIN)
    assert found.columns.shape == (60, 2)
    assert "taken as a number" in found.notices[0]


def test_columns_that_tell_nothing_more_are_left_out():
    one = np.linspace(0, 1, 60)
    twice = [Target("a", "numbers", one), Target("b", "numbers", 3 * one - 1)]
    found = read_covariates([*twice, Target("k", "numbers", np.ones(60))], TRAIN)
    assert found.columns.shape == (60, 2)
    assert [n.split("'")[1] for n in found.notices] == ["b", "k"]


def test_too_many_columns_are_refused():
    given = [Target(str(i), "numbers", np.random.default_rng(i).normal(size=60)) for i in range(20)]
    with pytest.raises(SettingsError, match="20 columns for 60 training samples"):
        read_covariates(given, TRAIN)


def _populations(
    seed: int, n: int = 600, p: int = 400, fst: float = 0.25, n_populations: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Genotypes of some populations, who is of which, and four principal components."""
    rng = np.random.default_rng(seed)
    population = rng.integers(0, n_populations, n)
    share = rng.uniform(0.1, 0.9, p)
    beta = (1 - fst) / fst
    of = rng.beta(share * beta, (1 - share) * beta, size=(n_populations, p)).clip(0.02, 0.98)
    X = rng.binomial(2, of[population]).astype(np.float64)
    X = X[:, X.std(axis=0) > 0]
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    components = np.linalg.eigh(standard @ standard.T)[1][:, ::-1][:, :4]
    return X, population, components * np.sqrt(n)


def _store(
    X: np.ndarray, y: np.ndarray, components: np.ndarray, kind: str | None = None
) -> FeatureStore:
    columns = {f"PC{i + 1}": one for i, one in enumerate(components.T)}
    kinds = None if kind is None else {"y": kind}
    return srs.ingest(X, target={"y": y, **columns}, target_kind=kinds)


COMPONENTS = ("PC1", "PC2", "PC3", "PC4")


def test_cells_hold_samples_of_one_population():
    X, population, components = _populations(1, n_populations=3)
    store = _store(X, np.arange(len(X)) + 0.5, components)
    columns = np.column_stack([np.ones(len(X)), components])
    cells = find_cells(store, columns, (np.arange(len(X)), np.arange(0)), None, None)
    assert cells is not None
    sizes = np.bincount(cells)
    assert sizes[sizes > 0].min() >= 8
    assert sizes.max() < 16
    pure = [np.bincount(population[cells == one]).max() for one in np.unique(cells)]
    assert sum(pure) > 0.97 * len(X)


def test_covariates_that_no_feature_follows_make_no_cells():
    rng = np.random.default_rng(3)
    store = srs.ingest(rng.normal(size=(200, 300)), target=np.arange(200) + 0.5)
    columns = np.column_stack([np.ones(200), rng.normal(size=(200, 3))])
    assert find_cells(store, columns, (np.arange(200), np.arange(0)), None, None) is None


def test_a_subject_is_in_one_cell():
    X, _, components = _populations(2)
    store = _store(X, np.arange(len(X)) + 0.5, components)
    subjects = np.arange(len(X)) // 3
    columns = np.column_stack([np.ones(len(X)), components])
    cells = find_cells(store, columns, (np.arange(len(X)), np.arange(0)), None, subjects)
    assert cells is not None
    assert (cells.reshape(-1, 3) == cells.reshape(-1, 3)[:, :1]).all()


def _p_values(context: RunContext) -> np.ndarray:
    """By feature id."""
    _, log_p, _ = UnivariateSpec(0, context.store.n_chunks).run(context)
    found = np.empty(len(log_p))
    found[context.store.feature_ids] = np.exp(-log_p.astype(np.float64))
    return found


def test_p_values_are_those_of_regression_on_covariates():
    X, _, components = _populations(4, n=500, p=60)
    rng = np.random.default_rng(0)
    y = 0.3 * X[:, 0] + components[:, 0] + rng.normal(size=len(X))
    context = make_context(
        _store(X, y, components), Settings(covariates=COMPONENTS, evidence=("univariate",))
    )
    found = _p_values(context)
    others = sm.add_constant(components)
    ranks = stats.rankdata(X, axis=0)
    wanted = [sm.OLS(y, np.column_stack([others, one])).fit().pvalues[-1] for one in ranks.T]
    assert stats.spearmanr(found, wanted)[0] > 0.98  # normal scores against the numbers themselves
    assert found[0] < 0.01


def test_score_test_of_two_classes_is_that_of_statsmodels():
    X, _, components = _populations(5, n=400, p=40)
    rng = np.random.default_rng(1)
    y = (components[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
    context = make_context(_store(X, y, components, "classes"), Settings(covariates=COMPONENTS))
    found = _p_values(context)
    glm = sm.GLM(y, sm.add_constant(components), family=sm.families.Binomial()).fit()
    shrink = (len(y) - 5) / len(y)
    ranks = stats.rankdata(X, axis=0)
    for j in range(X.shape[1]):
        z2 = glm.score_test(exog_extra=ranks[:, j : j + 1])[0].item() * shrink
        assert found[j] == pytest.approx(stats.chi2.sf(z2, 1), rel=0.15, abs=0.002)


@pytest.mark.parametrize("kind", ["numbers", "classes", "many", "ordinal", "count", "survival"])
def test_null_p_values_are_uniform_where_features_follow_the_covariates(kind: str):
    """Traits and allele frequencies differ between populations; no feature has an effect."""
    found = []
    for seed in range(3):
        X, population, components = _populations(10 + seed, n=400, p=600)
        rng = np.random.default_rng((seed, len(kind)))
        linear = 1.5 * population + 0.5 * rng.normal(size=len(X))
        y: np.ndarray
        chosen = kind
        if kind == "survival":
            time, end = rng.exponential(np.exp(-linear)), rng.exponential(1.0, len(X))
            y = np.array(
                list(zip(time <= end, np.minimum(time, end), strict=True)),
                dtype=[("event", bool), ("time", float)],
            )
        elif kind == "count":
            y = rng.poisson(np.exp(linear))
        elif kind == "numbers":
            y = linear + rng.standard_t(4, len(X))
        else:
            cuts = [1.0] if kind == "classes" else [0.0, 1.0, 2.0]
            y = np.digitize(linear + rng.logistic(size=len(X)), cuts)
            chosen = "classes" if kind == "many" else kind
        store = _store(X, y, components, chosen)
        found.append(_p_values(make_context(store, Settings(covariates=COMPONENTS))))
    p = np.concatenate(found)
    for level in (0.1, 0.01):
        low, high = stats.binom.ppf([1e-4, 1 - 1e-4], len(p), level) / len(p)
        assert low * 0.8 < (p < level).mean() < high * 1.1


def test_runs_do_not_list_what_tells_populations_apart():
    """Three strong effects whose frequencies differ by population: given one of them, every
    feature that tells populations apart tells of the residual. Without cells 248 to 297 of 1,000
    features were listed."""
    true = false = 0
    for seed in range(3):
        X, population, components = _populations(20 + seed, n=500, p=300)
        rng = np.random.default_rng(seed)
        y = X[:, :3] @ np.array([1.2, -1.2, 1.2]) + 2.0 * population + rng.normal(size=len(X))
        store = _store(X, y, components, "numbers")
        ids = srs.select(store, covariates=COMPONENTS, seed=seed, threads=1).relevant_ids
        true += int((ids < 3).sum())
        false += int((ids >= 3).sum())
    assert true == 9
    assert false <= 5  # at a rate of 0.1 one is expected; 5 or fewer in all but 1 of 1,700 cases


def test_two_classes_and_held_out_predictions():
    X, population, components = _populations(30, n=400, p=80)
    rng = np.random.default_rng(2)
    y = np.where(X[:, 0] + 1.5 * population + rng.logistic(size=len(X)) > 1.5, "case", "control")
    store = _store(X, y, components)
    result = srs.select(store, covariates=COMPONENTS, holdout=0.2, threads=1)
    assert 0 in result.relevant_ids
    rows = result.document["outcome"]["prediction"]
    assert all(row["share_case"] + row["share_control"] == pytest.approx(1) for row in rows)
    right = np.mean([row["truth"] == row["prediction"] for row in rows])
    assert right > 0.55
    assert result.document["outcome"]["measure"]["adjusted"] == list(COMPONENTS)
    assert result.document["settings"]["covariates"] == list(COMPONENTS)


def test_many_classes_are_weighted_and_leave_used_out():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 30))
    age = rng.normal(size=300)
    y = np.digitize(X[:, 0] + age + 0.5 * rng.normal(size=300), [-0.8, 0.8]).astype(str)
    store = srs.ingest(X, target={"y": y, "age": age})
    result = srs.select(store, covariates=["age"], threads=1)
    assert 0 in result.relevant_ids
    assert "used" not in result.document["settings"]["evidence"]


def test_bad_covariates_get_a_sentence():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 10))
    y = (X[:, 0] > 0).astype(int)
    store = srs.ingest(X, target={"y": y, "same": X[:, 0], "plate": np.arange(80) // 4})
    with pytest.raises(InputError, match="no sample column 'age'"):
        srs.select(store, covariates=["age"])
    with pytest.raises(SettingsError, match="is the target"):
        srs.select(store, target="y", covariates=["y"])
    with pytest.raises(SettingsError, match="give these confounders as covariates"):
        srs.select(store, covariates=["same"], confounders=["plate"])
    with pytest.raises(SettingsError, match="paper mode"):
        srs.select(store, covariates=["same"], mode="paper")
    with pytest.raises(SettingsError, match="adjusted for covariates"):
        srs.select(store, covariates=["plate"], criterion="gini")


def test_the_same_seed_gives_the_same_list_on_any_number_of_threads():
    X, population, components = _populations(6, n=200, p=60)
    y = X[:, 0] + population + np.random.default_rng(0).normal(size=200)
    store = _store(X, y, components, "numbers")
    one, two = (srs.select(store, covariates=COMPONENTS, threads=n) for n in (1, 2))
    assert one.document["outcome"] == two.document["outcome"]


def test_selector_takes_covariates_from_sample_columns():
    rng = np.random.default_rng(7)
    age = rng.normal(50, 10, 300)
    X = rng.normal(size=(300, 20))
    X[:, 5] += 0.1 * (age - 50)
    y = X[:, 0] + 0.2 * (age - 50) + rng.normal(size=300)
    frame = pd.DataFrame({"age": age})
    plain = srs.SRSSelector(random_state=0).fit(X, y)
    adjusted = srs.SRSSelector(random_state=0, covariates=["age"]).fit(X, y, sample_columns=frame)
    assert plain.get_support()[5]
    assert adjusted.get_support(indices=True).tolist() == [0]


def test_levels_without_order_are_tested_given_covariates():
    rng = np.random.default_rng(8)
    z = rng.normal(size=500)
    levels = rng.integers(0, 4, 500)
    y = z + (levels == 2) + 0.5 * rng.normal(size=500)
    frame = pd.DataFrame({"l": np.array(list("abcd"))[levels], "noise": rng.normal(size=500)})
    store = srs.ingest(frame, target={"y": y, "z": z}, id_column="")
    context = make_context(store, Settings(covariates=("z",)))
    assert context.samples.null is not None
    test = AdjustedTest.of_null(context.samples.null, context.train)
    codes = store.read_codes(np.array([0]))[:, 0][context.train]
    assert test._of_levels(codes) < 1e-10
    assert test._of_levels(rng.permutation(codes)) > 1e-4


def test_dosages_in_steps_are_tested_as_the_same_dosages_in_whole_calls():
    """Imputed genotypes have codes of another scale than whole calls (`FRACTIONS`)."""
    rng = np.random.default_rng(5)
    calls = rng.binomial(2, 0.3, size=(300, 64)).astype(np.uint8)
    age = rng.normal(size=300)
    y = 0.5 * calls[:, 7] + age + rng.normal(size=300)
    store = srs.ingest(calls, target={"y": y, "age": age})
    context = make_context(store, Settings(target="y", covariates=("age",)))
    test = AdjustedTest.of_null(context.samples.null, context.train)
    by_subset = np.zeros(64, bool)
    whole = test.run_tile(calls[None], by_subset, np.full(64, 0b111, np.uint8))
    steps = test.run_tile(calls[None] * DOSAGE_STEPS, by_subset, np.full(64, FRACTIONS, np.uint8))
    assert whole[0].argmin() == 7
    np.testing.assert_allclose(steps[0], whole[0], rtol=1e-9)
    np.testing.assert_allclose(steps[1], whole[1], rtol=1e-6)
