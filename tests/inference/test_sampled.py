"""p-values against a sample of probes on an exponential scale, tested as statistics."""

import numpy as np
import pytest

from srs.inference.sampled import log_p_values


def log_p(statistic, null, classes=None):
    classes = np.zeros(len(statistic), np.uint8) if classes is None else classes
    return log_p_values(statistic, null, np.arange(len(null)) % len(statistic), classes)


def largest_of(rng, n_partners, n):
    """The largest of many exponential values, as the best partner of many has."""
    return -np.log(-np.log1p(-rng.random(n)) / n_partners).astype(np.float32)


@pytest.mark.parametrize("step", [0.0, 0.4])
def test_p_values_are_uniform_under_the_null(global_random_seed, step):
    """Guards the tail: also where the statistic moves in steps, as that of bits does."""
    rng = np.random.default_rng(global_random_seed)
    values = largest_of(rng, 20_000, 60_000)
    if step:
        values = np.ceil(values / step).astype(np.float32) * step
    p_value = np.exp(-log_p(values[:40_000], values[40_000:]))
    for level in (0.5, 0.1, 0.01, 0.001):
        error = 4 * np.sqrt(2 * level / 20_000)
        assert (p_value <= level).mean() <= level * 1.1 + error
    assert (p_value <= 0.5).mean() > 0.4


def test_what_is_far_beyond_the_sample_is_sure():
    """Guards pairs among many features: ranks among probes alone would never be enough."""
    rng = np.random.default_rng(0)
    values = largest_of(rng, 20_000, 30_000)
    values[7] = 150.0
    assert log_p(values, values[10_000:])[7] > 100


def test_a_heavier_tail_is_not_taken_for_an_exponential_one():
    rng = np.random.default_rng(0)
    values = largest_of(rng, 20_000, 30_000)
    null = values[10_000:].copy()
    null[:30] = 60.0
    values[7] = 59.0
    assert log_p(values, null)[7] < np.log(1_000)


def test_features_without_a_statistic_say_nothing():
    values = largest_of(np.random.default_rng(0), 100, 1_000)
    values[3] = 0
    assert log_p(values, values)[3] < 0
