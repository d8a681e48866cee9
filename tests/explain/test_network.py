"""Networks: DREAM4, stores and executors, direct links, contexts of links, connectomes."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.explain.data import dream4
from srs import explain
from srs.errors import ClusterError, InputError
from srs.explain.analyses import connectome, context_network, link_matrix, network, simulate_calcium
from srs.explain.signals.covariance import partial_correlations
from srs.explain.signals.filters import LOW_PASS, difference, low_pass, threshold, weigh
from srs.ingest import ingest
from tests.executors.conftest import running_cluster
from tests.explain.data import needs_data, tables

PUBLISHED_AUPR = (0.154, 0.155, 0.231)  # of GENIE3 on networks 1 to 3


def names_of(p: int) -> list[str]:
    return [f"f{i}" for i in range(p)]


def areas(truth: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    off = ~np.eye(len(truth), dtype=bool)
    known, guessed = truth[off], weights[off]
    return roc_auc_score(known, guessed), average_precision_score(known, guessed)


@needs_data
@pytest.mark.parametrize("number", [1, 2, 3])
def test_dream4(number: int) -> None:
    """Above the absolute Pearson correlation on each network, by a fifth of the trees.

    So is the published AUPR of GENIE3; over three seeds areas differ by 0.004 at most.
    """
    X, truth = dream4(number)
    floor = tables()["dream4_multifactorial_abs_pearson_floor"]
    pearson = areas(truth, np.abs(np.corrcoef(X.T)))
    assert pearson[0] == pytest.approx(floor["AUROC"][number - 1], abs=1e-3)
    assert pearson[1] == pytest.approx(floor["AUPR"][number - 1], abs=3e-3)
    found = network(X, n_trees=200)
    auroc, aupr = areas(truth, link_matrix(found, names_of(100)))
    assert auroc > pearson[0]
    assert aupr > max(pearson[1], PUBLISHED_AUPR[number - 1])


@needs_data
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2, 3])
def test_dream4_at_1000_trees(number: int) -> None:
    """The level published for GENIE3: AUPR is reached, AUROC 0.745, 0.733, 0.775 but on network 2.

    Two seeds had 0.752 and 0.755, 0.722 and 0.723, 0.791 and 0.793.
    """
    X, truth = dream4(number)
    found = network(X, n_trees=1000)
    auroc, aupr = areas(truth, link_matrix(found, names_of(100)))
    pearson = areas(truth, np.abs(np.corrcoef(X.T)))
    assert auroc > pearson[0]
    assert aupr > pearson[1]
    assert auroc > (0.745, 0.733 - 0.015, 0.775)[number - 1]
    assert aupr > PUBLISHED_AUPR[number - 1]


def test_trying_all_features_favours_direct_links(global_random_seed: int) -> None:
    """A chain a -> b -> c: the indirect link gets a smaller share if all features are tried."""
    rng = np.random.default_rng(global_random_seed)
    a = rng.normal(size=300)
    b = a + 0.5 * rng.normal(size=300)
    c = b + 0.5 * rng.normal(size=300)
    X = np.column_stack([a, b, c])
    indirect = []
    for tried in (1, None):
        weights = link_matrix(network(X, n_trees=100, max_features=tried), names_of(3))
        indirect.append(weights[0, 2] / weights[:, 2].sum())
    assert indirect[1] < indirect[0]


def test_targets_of_any_scale_compare(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(100, 4))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    plain = link_matrix(network(X, n_trees=30), names_of(4))
    scaled = link_matrix(network(X * [1, 1e4, 1e-3, 7], n_trees=30), names_of(4))
    np.testing.assert_allclose(scaled, plain, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(plain.sum(axis=0), 1.0, atol=1e-9)


def test_a_store_on_dask_workers_gives_the_same(tmp_path) -> None:
    """Workers read the store themselves: a spec is where it is, ids, targets and a seed."""
    X = np.random.default_rng(0).normal(size=(60, 9))
    store = ingest(X, tmp_path / "s.zarr", target=np.arange(60) % 2)
    here = network(X, n_trees=1000)
    with running_cluster(1, processes=False) as client:
        there = network(store, n_trees=1000, executor=client)
        assert here.to_json()["rows"] == there.to_json()["rows"]
        ids = [7, 2, 5]
        some = explain(store, features=ids, analyses=["network"], executor=client)["network"]
        assert some.to_json() == network(X, features=ids).to_json()
        with pytest.raises(InputError, match="in memory cannot be read by workers"):
            network(X, n_trees=5, executor=client)
        ingest(X**2, tmp_path / "s.zarr", target=np.arange(60) % 2, overwrite=True)
        with pytest.raises(ClusterError, match="a worker finds another store"):
            network(store, targets=["f3"], features=[1, 3], executor=client)


def test_kinds_of_trees_are_averaged(global_random_seed: int) -> None:
    """The weights are the mean of those of both kinds, by their numbers of trees."""
    X = np.random.default_rng(global_random_seed).normal(size=(80, 5))
    X[:, 0] += X[:, 1]
    names = names_of(5)
    mixed, random, best = (
        link_matrix(network(X, n_trees=n, best_cuts=share), names)
        for n, share in ((128, 0.25), (96, 0.0), (32, 1.0))
    )
    np.testing.assert_allclose(mixed, 0.75 * random + 0.25 * best)
    assert np.abs(random - best).max() > 0.01
    with pytest.raises(InputError, match="from 0 to 1, not 2"):
        network(X, best_cuts=2)


def test_targets() -> None:
    X = np.random.default_rng(0).normal(size=(60, 9))
    some = network(X, n_trees=20, targets=["f3"])
    assert set(some.column("part")) == {"f3"}
    every = network(X, n_trees=20)
    assert (some.column("value") == every.column("value", "f3")).all()


@pytest.mark.slow
@pytest.mark.long
def test_thousands_of_targets_on_worker_processes(tmp_path) -> None:
    """Two processes started by `executor=2` learn 2,000 targets to the bytes of local threads."""
    X = np.random.default_rng(0).normal(size=(60, 2000))
    store = ingest(X, tmp_path / "s.zarr", target=np.arange(60) % 2)
    here = network(store, n_trees=10)
    there = network(store, n_trees=10, executor=2)
    assert here.table.equals(there.table)
    assert here.settings["n_targets"] == 2000
    assert here.table.num_rows == 100_000


def test_only_the_strongest_links_are_kept() -> None:
    X = np.random.default_rng(0).normal(size=(50, 12))
    every, few = network(X, n_trees=10), network(X, n_trees=10, max_links=5)
    assert every.table.num_rows == 132
    assert few.to_json()["rows"] == every.to_json()["rows"][:5]


def test_orientation_keeps_the_stronger_direction(global_random_seed: int) -> None:
    """Each pair once, as the plain network has it, and both of its weights."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(120, 6))
    X[:, 3] = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=120)
    weights = link_matrix(network(X, n_trees=40), names_of(6))
    found = network(X, n_trees=40, oriented=True)
    assert found.table.num_rows == 15
    for link in found.table.to_pylist():
        source, end = int(link["feature"][1:]), int(link["part"][1:])
        assert link["value"] == weights[source, end] >= weights[end, source] == link["reverse"]
    few = network(X, n_trees=40, oriented=True, max_links=3)
    assert few.table.num_rows <= 3


def test_links_that_change_with_the_condition(global_random_seed: int) -> None:
    """Two conditions, known links: 0 -> 4 in one, 1 -> 4 in the other, 2 -> 5 in both."""
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(300, 6))
    sick = np.arange(300) < 150
    X[:, 4] = 0.4 * X[:, 4] + np.where(sick, X[:, 0], X[:, 1])
    X[:, 5] = 0.4 * X[:, 5] + X[:, 2]
    found = context_network(
        X,
        context=np.where(sick, "sick", "well"),
        n_trees=100,
        n_permutations=199,
        seed=global_random_seed,
    ).frame.set_index(["feature", "target", "context"])
    assert found.loc[("f0", "f4", "sick"), "label"] == "stronger"
    assert found.loc[("f0", "f4", "well"), "label"] == "weaker"
    assert found.loc[("f1", "f4", "well"), "label"] == "stronger"
    assert found.loc[("f1", "f4", "sick"), "label"] == "weaker"
    changed = found[found["q_value"] < 0.05].reset_index()
    pairs = set(map(tuple, changed[["feature", "target"]].to_numpy()))
    assert {("f0", "f4"), ("f1", "f4")} <= pairs
    assert ("f2", "f5") not in pairs


def test_filters_step_by_step() -> None:
    spike = np.zeros((9, 1))
    spike[4] = 1.0
    for name, weights in LOW_PASS.items():
        smooth = low_pass(spike, name).ravel()
        np.testing.assert_allclose(smooth[1:8], weights[::-1])
    rise = difference(np.array([[0.0, 1.0], [0.5, 1.0], [0.2, 3.0]]))
    np.testing.assert_allclose(rise, [[0, 0], [0.5, 0], [-0.3, 2.0]])
    kept = threshold(rise, 0.5)
    np.testing.assert_allclose(kept, [[0, 0], [0.5, 0], [0, 2.0]])
    weighed = weigh(kept)
    np.testing.assert_allclose(weighed[0], 1.0)
    np.testing.assert_allclose(weighed[1], [1.5**3, 1.0])
    np.testing.assert_allclose(weighed[2], [1.0, 3**1.5])


def test_partial_correlations_by_definition(global_random_seed: int) -> None:
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    found = partial_correlations(X)
    rest = X[:, 2:] - X[:, 2:].mean(axis=0)
    left = [
        x - x.mean() - rest @ np.linalg.lstsq(rest, x - x.mean(), rcond=None)[0] for x in X.T[:2]
    ]
    assert found[0, 1] == pytest.approx(np.corrcoef(*left)[0, 1])
    precision = PCA(n_components=4).fit(X).get_precision()
    scale = np.sqrt(np.diag(precision))
    limited = -precision / np.outer(scale, scale)
    np.fill_diagonal(limited, 0.0)
    np.testing.assert_allclose(partial_correlations(X, 0.8), limited, atol=1e-9)


def test_connectome_beats_correlation(global_random_seed: int) -> None:
    signals, links = simulate_calcium(30, 4000, seed=global_random_seed)
    either = links | links.T
    weights = link_matrix(connectome(signals), names_of(30))
    ours = areas(either, weights + weights.T)
    plain = areas(either, np.corrcoef(signals.T))
    unfiltered = areas(either, partial_correlations(signals, 0.8))
    for at in range(2):
        assert ours[at] > unfiltered[at] > plain[at]


def test_errors() -> None:
    X = np.random.default_rng(0).normal(size=(20, 25))
    with pytest.raises(InputError, match="20 times are too few for 25 neurons"):
        connectome(X)
    with pytest.raises(InputError, match="at least two features"):
        network(X[:, :1])
    with pytest.raises(InputError, match="no feature 'g'"):
        network(X, targets=["g"], n_trees=2)
    with pytest.raises(InputError, match="only one value"):
        context_network(X, context=["a"] * 20)
