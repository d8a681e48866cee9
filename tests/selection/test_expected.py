"""The time that a result takes is part of the remaining time of a run."""

import numpy as np
import pytest

import srs
from srs.engine.context import make_context
from srs.selection.expected import result_seconds, seconds_after
from srs.settings import Settings
from tests.planted import make_store

SIZE = (1_000, 20_000)


def told_of(X, y):
    context = make_context(make_store(X, y), Settings())
    return seconds_after(context, 1)


def test_more_relevant_features_take_longer():
    seconds = [result_seconds(n, SIZE, 2) for n in (0, 5, 30, 100, 1_000)]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0  # all features get a verdict, and an effect


def test_effects_of_all_features_are_for_two_classes_and_numbers():
    numbers, two, three = (result_seconds(0, SIZE, n) for n in (1, 2, 3))
    assert numbers == two > 2 * three
    assert result_seconds(0, SIZE, 2, n_parallel=2) < two


def test_trees_of_a_rare_class_or_of_few_levels_are_shallow():
    rng = np.random.default_rng(0)
    X, bits = rng.normal(size=(400, 50)), rng.integers(0, 2, (400, 50))
    halves, rare = np.arange(400) % 2, (np.arange(400) < 20).astype(int)
    usual = told_of(X, halves)
    assert told_of(X, rare)(10) < usual(10)
    assert told_of(bits, halves)(10) < usual(10)
    assert told_of(X, rng.normal(size=400))(10) > usual(10)
    assert told_of(X, rare)(0) == usual(0)


def test_a_run_tells_it(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 50))
    store, told = make_store(X, (X[:, 3] > 0).astype(int)), {}
    for seconds in (0.0, 1e4):
        monkeypatch.setattr("srs.selection.expected.A_RESULT", seconds)
        seen = told.setdefault(seconds, [])
        srs.select(store, on_progress=lambda now, seen=seen: seen.append(now.remaining_seconds))
    assert max(told[0.0]) < 1e4 <= min(told[1e4])
    assert np.diff([len(seen) for seen in told.values()]) == pytest.approx(0)
