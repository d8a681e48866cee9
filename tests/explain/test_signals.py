"""Connectomes as they won: filters, pieces of time, direction, transfer entropy, recipes."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from srs.errors import SettingsError
from srs.explain.analyses import connectome, link_matrix, open_matrix, simulate_calcium
from srs.explain.analyses.connectome import FILTER_WEIGHTS, RECIPES
from srs.explain.signals import covariance as in_pieces
from srs.explain.signals.covariance import Chain, correlation_of, covariance, partial_of
from srs.explain.signals.direction import TransferEntropy, direct, leads
from srs.explain.signals.filters import (
    TUNED,
    difference,
    low_pass,
    rises,
    root,
    threshold,
    weigh,
    weigh_tuned,
)


def filtered(signals: np.ndarray, chain: Chain) -> np.ndarray:
    """All times at once, step by step."""
    found = difference(low_pass(signals / chain.unit, chain.low_pass))
    if chain.least is not None:
        found = threshold(found, chain.least)
    found = found**chain.exponent if chain.exponent != 1 else found
    if chain.activity == "plain":
        return weigh(found)
    if chain.activity == "off":
        return found
    activity = found.sum(axis=1)
    lingering = activity + 0.5 * np.concatenate([[0], activity[:-1]])
    weighed = np.ones_like(found)
    for t, s in enumerate(lingering):
        share = s / lingering.max()
        k = [factor for start, factor in TUNED[chain.low_pass] if share >= start][-1]
        if s > 0:
            weighed[t] = ((found[t] + 1) ** (1 + 1 / s)) ** k
    return weighed


@pytest.mark.parametrize("activity", ["plain", "tuned", "off"])
@pytest.mark.parametrize("name", list(FILTER_WEIGHTS))
def test_pieces_give_the_covariance(name: str, activity: str, monkeypatch) -> None:
    """Pieces of 16 times, by spikes alone or not, against all times at once."""
    signals, _ = simulate_calcium(7, 301, seed=2)
    chain = Chain(name, 0.12, 0.9, activity, unit=0.7)
    monkeypatch.setattr(in_pieces, "PIECE_BYTES", 1)
    whole = np.cov(filtered(signals, chain), rowvar=False)
    for share in (0.0, 1.0):
        monkeypatch.setattr(in_pieces, "SPARSE", share)
        np.testing.assert_allclose(covariance(signals, chain), whole, atol=1e-10)


@pytest.mark.parametrize("name", ["f0", *FILTER_WEIGHTS])
def test_pieces_of_rises(name: str, global_random_seed: int) -> None:
    x = np.random.default_rng(global_random_seed).normal(size=(40, 3))
    whole = difference(low_pass(x, name))
    for start, stop in ((0, 1), (0, 40), (1, 2), (3, 17), (37, 40)):
        np.testing.assert_array_equal(rises(x, name, start, stop), whole[start:stop])


def test_tuned_weights() -> None:
    """Equation 8.11 has 8.6 for k = 1; roots are equation 8.10."""
    spikes = np.array([[0.4, 0.0], [0.0, 0.0], [0.2, 0.3]])
    activity, silent = spikes.sum(axis=1), np.zeros(3)
    found = weigh_tuned(spikes, "f1", activity, silent, largest=10.0)
    assert found[0, 0] == pytest.approx(1.4 ** (1.6 * (1 + 1 / 0.4)))  # share 0.04: k = 1.6
    assert found[2, 1] == pytest.approx(1.3 ** (1.9 * (1 + 1 / 0.5)))  # share 0.05: k = 1.9
    assert (found[1] == 1).all()
    np.testing.assert_allclose(root(spikes, 0.9), spikes**0.9)


def test_leads_by_definition(monkeypatch) -> None:
    """Equation 8.12, pair by pair and time by time, also across pieces."""
    signals, _ = simulate_calcium(6, 200, seed=4)
    monkeypatch.setattr(in_pieces, "PIECE_BYTES", 1)
    x = threshold(difference(low_pass(signals, "f2")), 0.12) ** 0.9
    counts = np.zeros((6, 6), int)
    for i in range(6):
        for j in range(6):
            if i != j:
                apart = x[1:, j] - x[:-1, i]
                counts[i, j] = ((apart >= 0.2) & (apart <= 0.5)).sum()
    np.testing.assert_array_equal(leads(signals), counts - counts.T)


def test_direction() -> None:
    partial = np.array([[0.0, 0.4, 0.1], [0.4, 0.0, 0.2], [0.1, 0.2, 0.0]])
    lead = np.array([[0, 5, -1], [-5, 0, 0], [1, 0, 0]])
    strict = direct(partial, lead, "strict")
    assert strict.tolist() == [[0, 0.4, 0], [0, 0, 0], [0.1, 0, 0]]
    mixed = direct(partial, lead, "mixed")
    assert mixed[0, 1] == pytest.approx(0.997 * 1.0 + 0.003 * 1.0)
    assert mixed[1, 0] == pytest.approx(0.997 * 1.0)
    assert mixed[2, 0] == pytest.approx(0.003 * 0.6)


def test_direction_is_better_than_a_coin() -> None:
    """Of links in one direction, more are oriented rightly than a coin would (one-sided 1e-3)."""
    right = total = 0
    for seed in range(4):
        signals, links = simulate_calcium(30, 3000, seed=seed)
        weights = link_matrix(
            connectome(signals, recipe="simple", direction="mixed"), [f"f{i}" for i in range(30)]
        )
        source, end = np.nonzero(links & ~links.T)
        right += int((weights[source, end] > weights[end, source]).sum())
        total += len(source)
    assert right > total / 2 + 3.1 * np.sqrt(total) / 2


def test_transfer_entropy_by_definition(global_random_seed: int) -> None:
    """Sums over states of the two neurons, in plain Python."""
    signals, _ = simulate_calcium(5, 400, seed=global_random_seed)
    spikes = difference(signals) >= 0.12
    mean = signals.mean(axis=1)
    times = [t for t in range(2, 400) if mean[t] - np.median(mean) < 0.25]
    found = TransferEntropy(signals)
    assert found.n_times == len(times)
    for target, source in ((0, 1), (3, 2), (4, 0)):
        joint: dict[tuple, int] = {}
        for t in times:
            past = (spikes[t - 1, target], spikes[t - 2, target])
            key = (spikes[t, target], past, (spikes[t, source], spikes[t - 1, source]))
            joint[key] = joint.get(key, 0) + 1
        told = 0.0
        for (now, past, other), n in joint.items():
            given_both = sum(v for (_, p, o), v in joint.items() if p == past and o == other)
            own = sum(v for (a, p, _), v in joint.items() if p == past and a == now)
            given_past = sum(v for (_, p, _), v in joint.items() if p == past)
            told += n / len(times) * np.log2((n / given_both) / (own / given_past))
        assert found.to(target)[source] == pytest.approx(told, abs=1e-12)
        assert found.to(target)[target] == 0.0


def test_recipes() -> None:
    """The thesis' settings; better filters rank better, as in Table 8.3.1."""
    assert RECIPES["full"].leasts[:2] == [0.1, 0.101]
    assert len(RECIPES["full"].leasts) == 111
    assert RECIPES["averaged"].leasts == pytest.approx(np.arange(10, 22) / 100)
    names = [f"f{i}" for i in range(30)]
    apart = ~np.eye(30, dtype=bool)
    scores: dict[str, list[float]] = {"full": [], "simple": [], "correlation": [], "gte": []}
    for seed in range(2):
        signals, links = simulate_calcium(30, 4000, seed=seed)
        for recipe, found in scores.items():
            options = {"thresholds": 12} if recipe == "full" else {}
            weights = link_matrix(connectome(signals, recipe=recipe, **options), names)
            if recipe in ("simple", "correlation"):
                weights = weights + weights.T
            found.append(average_precision_score(links[apart], weights[apart]))
            assert roc_auc_score(links[apart], weights[apart]) > 0.55
    mean = {recipe: np.mean(found) for recipe, found in scores.items()}
    assert mean["full"] > mean["simple"] > mean["correlation"] > mean["gte"]


def test_options_replace_those_of_the_recipe() -> None:
    signals, _ = simulate_calcium(6, 400, seed=0)
    found = connectome(signals, filters="f2, f1", thresholds=1, components=1.0, scaled=False)
    assert found.settings["filters"] == ["f2", "f1"]
    total = sum(
        FILTER_WEIGHTS[name] * partial_of(covariance(signals, Chain(name, 0.11)), 1.0)
        for name in ("f2", "f1")
    )
    expected = total / (FILTER_WEIGHTS["f2"] + FILTER_WEIGHTS["f1"])
    weights = link_matrix(found, [f"f{i}" for i in range(6)])
    np.testing.assert_allclose(weights + weights.T, expected, atol=1e-12)
    plain = connectome(signals, recipe="correlation", scaled=False)
    correlations = correlation_of(covariance(signals, Chain("f0", 0.11)))
    assert plain.column("value").max() == pytest.approx(correlations[np.triu_indices(6, 1)].max())
    for options, said in (
        ({"filters": "f9"}, "filters must be of f0"),
        ({"recipe": "best"}, "recipe must be one of averaged"),
        ({"activity": "loud"}, "activity must be one of plain"),
        ({"filters": "f0", "activity": "tuned"}, "tuned weights belong to the filters"),
        ({"components": 0.0}, "components must be above 0"),
    ):
        with pytest.raises(SettingsError, match=said):
            connectome(signals, **options)


def test_memory_is_that_of_the_signal() -> None:
    """Beyond the signal itself less than another one, whatever the number of filters."""
    signals = np.tile(simulate_calcium(40, 2000, seed=0)[0], (50, 1))
    matrix = open_matrix(signals, None, None, needs_target=False)
    connectome(matrix, thresholds=1, threads=1)
    tracemalloc.start()
    connectome(matrix, thresholds=2, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.2 * signals.nbytes + 10 * in_pieces.PIECE_BYTES
