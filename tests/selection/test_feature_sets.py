"""Feature sets: members are drawn into one tree, tested together, and reported."""

import pickle

import numpy as np
import pytest
from scipy.stats import binom, kstest

import srs
from srs.engine.context import make_context
from srs.results.result import load_result
from srs.selection.feature_sets import find_sets, set_p_values
from srs.selection.set_trees import SET_ROLES, SetSpec
from srs.settings import Settings
from tests.planted import comparable

M = 10  # members of a set


def in_sets(seed, n_sets=60, n=300, effect=0.11):
    """Sets of correlated features; all members of the first four matter, each very little."""
    rng = np.random.default_rng((seed, 6))
    shared = np.repeat(rng.normal(size=(n, n_sets)), M, axis=1)
    X = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=(n, n_sets * M))
    y = effect * X[:, : 4 * M].sum(axis=1) + rng.logistic(size=n) > 0
    sets = {f"set {i}": [f"f{j}" for j in range(i * M, (i + 1) * M)] for i in range(n_sets)}
    return srs.ingest(X, target=y.astype(int)), sets


@pytest.mark.slow
def test_many_weak_members_make_a_relevant_set(global_random_seed):
    """Guards the test of sets: features alone miss most members of the sets that are found."""
    n_found, n_false, n_members = 0, 0, 0
    for seed in range(3 * global_random_seed, 3 * global_random_seed + 3):
        store, sets = in_sets(seed, effect=0.085)
        result = srs.select(store, seed=seed, max_trees=60, feature_sets=sets)
        relevant = np.flatnonzero(result.sets["verdict"] == "RELEVANT")
        n_found += (relevant < 4).sum()
        n_false += (relevant >= 4).sum()
        n_members += np.isin(result.relevant_ids // M, relevant[relevant < 4]).sum()
    assert n_found >= 3
    assert n_members < n_found * M / 2
    assert n_false <= 2


@pytest.mark.slow
def test_members_that_matter_only_together(global_random_seed):
    """Guards drawing together: a pure pair is in one set, and throttle meets otherwise."""
    n_found, n_by_features = 0, 0
    for seed in range(3 * global_random_seed, 3 * global_random_seed + 3):
        rng = np.random.default_rng((seed, 7))
        X = rng.normal(size=(500, 600))
        y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(500) < 0.05)
        sets = {f"set {i}": range(5 * i, 5 * i + 5) for i in range(120)}
        store = srs.ingest(X, target=y.astype(int))
        result = srs.select(store, seed=seed, max_trees=30, feature_sets=sets, pairs="off")
        n_found += result.sets["verdict"][0] == "RELEVANT"
        n_by_features += len(result.relevant_ids) > 0
    assert n_found >= 2
    assert n_by_features < n_found


@pytest.mark.slow
def test_sets_of_noise_are_rarely_relevant(global_random_seed):
    n_runs = 6
    hits = 0
    for seed in range(n_runs * global_random_seed, n_runs * (global_random_seed + 1)):
        store, sets = in_sets(seed, n_sets=30, n=150, effect=0.0)
        result = srs.select(store, seed=seed, max_trees=20, feature_sets=sets)
        hits += (result.sets["verdict"] == "RELEVANT").any()
    assert hits <= binom(n_runs, 0.1).ppf(0.99)


def test_p_values_of_sets_are_uniform_under_the_null(global_random_seed):
    """Guards sets of unlike sizes and correlations: p-values of each half are uniform."""
    rng = np.random.default_rng(global_random_seed)
    sizes = np.repeat([3, 40], 400)
    shared = np.repeat(rng.gamma(2.0, size=(SET_ROLES, 800)), sizes, axis=1)
    evidence = shared + rng.gamma(1.0, size=(SET_ROLES, sizes.sum()))
    p_value = set_p_values({"screened": evidence.astype(np.float32)}, sizes)
    for half in (p_value[:400], p_value[400:]):
        assert kstest(half, "uniform").pvalue > 1e-3
    evidence[0, :3] += 30.0
    assert set_p_values({"screened": evidence}, sizes)[0] < 1e-4


def test_the_answer_of_a_set_is_that_of_its_spec(tmp_path):
    """Guards workers: a spec travels, gives the same again, and threads change nothing."""
    store, sets = in_sets(0, n_sets=6, n=100)
    context = make_context(store, Settings(seed=3))
    spec = SetSpec(1, find_sets(sets, store).places, np.array([5, 59]))
    first, _ = spec.run(context)
    again, _ = pickle.loads(pickle.dumps(spec)).run(context)
    assert tuple(first.by_kind) == ("used", "screened", "peak")
    for name, values in first.by_kind.items():
        np.testing.assert_array_equal(values, again.by_kind[name])
        assert values.shape == (SET_ROLES, 6 * M)
    one, two = (
        srs.select(store, seed=1, max_trees=20, feature_sets=sets, threads=t) for t in (1, 2)
    )
    assert comparable(one) == comparable(two)
    one.save(tmp_path)
    assert load_result(tmp_path).sets.equals(one.sets)
    assert "Feature sets" in (tmp_path / "report.html").read_text()


def test_the_loop_does_not_know_of_sets():
    """Guards features: with or without sets their table is the same."""
    store, sets = in_sets(0, n_sets=6, n=100)
    plain = srs.select(store, max_trees=20)
    tested = srs.select(store, max_trees=20, feature_sets={**sets, "all": list(range(60))})
    assert plain.sets is None
    assert plain.table.equals(tested.table.drop_columns("sets"))
    assert tested.features["sets"][0] == "set 0; all"
    assert tested.sets["n_features"].tolist() == [10] * 6 + [60]


def test_files_of_sets(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 4))
    store = srs.ingest(X, target=np.arange(20) % 2, names=["A", "B", "C", "D"])
    table, gmt = tmp_path / "sets.csv", tmp_path / "sets.gmt"
    table.write_text("feature,set\nA,one\nB,one\nC,two\nZ,two\n")
    gmt.write_text("one\tabout\tA\tB\t\ntwo\tabout\tC\tZ\n")
    place_of = store.places_of(np.arange(4))
    for path in (table, gmt):
        sets = find_sets(path, store)
        assert sets.names == ("one", "two")
        assert sorted(sets.places[0]) == sorted(place_of[:2])
        assert sets.unknown == 1
    table.write_text("A,one,two\n")
    with pytest.raises(srs.SRSError, match="line 1 has 3"):
        find_sets(table, store)
    with pytest.raises(srs.SRSError, match="no member of the feature sets"):
        find_sets({"one": ["X"]}, store)
    with pytest.raises(srs.SRSError, match="cannot be read"):
        find_sets(tmp_path / "none.csv", store)
    with pytest.raises(srs.SRSError, match="paper mode does not test"):
        srs.select(store, mode="paper", feature_sets={"one": ["A"]})
    with pytest.raises(srs.SRSError, match="no member of the feature sets"):
        srs.check(store, feature_sets={"one": ["X"]})
