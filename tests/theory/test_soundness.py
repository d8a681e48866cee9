"""Chapter 7 of the thesis: what Algorithm 7.1 finds with infinitely many samples and trees."""

import itertools
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srs.theory import asymptotic_importances
from tests.theory.subspaces import Problem, ends

ROWS = np.array(list(itertools.product((0, 1), repeat=4)))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A function of some of four features, or outcomes with weights, some of them impossible."""
    if draw(st.booleans()):
        uses = np.array(draw(st.tuples(*[st.booleans()] * 4)))
        levels = draw(st.lists(st.integers(0, 2), min_size=16, max_size=16))
        y = np.array([levels[int((row * uses) @ [8, 4, 2, 1])] for row in ROWS])
        return Problem(ROWS, y, np.ones(16))
    rows = st.tuples(*[st.integers(0, 1)] * 5)
    table = np.array(draw(st.lists(rows, min_size=3, max_size=10)))
    n = len(table)
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), float)
    return Problem(table[:, :4], table[:, 4], weights)


how = {"q": st.integers(1, 4), "alpha": st.sampled_from([0.0, 0.5, 1.0])}


@given(problem=problems(), **how)
@settings(max_examples=25)
def test_proposition_7_1(problem: Problem, q: int, alpha: float) -> None:
    """Totally randomised trees find all relevant features if these fit into memory."""
    relevant = set(problem.degrees)
    if len(relevant) <= q:
        assert all(found == relevant for found in ends(problem, q, alpha, K=1))


@given(problem=problems(), **how, K=st.integers(1, 4))
@settings(max_examples=25)
def test_theorem_7_2(problem: Problem, q: int, alpha: float, K: int) -> None:
    """Strongly relevant features are found whatever K is, if all relevant ones fit."""
    if len(problem.degrees) <= q:
        assert all(problem.strong <= found for found in ends(problem, q, alpha, K))


@given(problem=problems(), **how, K=st.integers(1, 4))
@settings(max_examples=25)
def test_propositions_7_3_and_7_4(problem: Problem, q: int, alpha: float, K: int) -> None:
    """Features of a degree below (1 - alpha) q are found: all with K = 1, else strong ones."""
    low = {m for m, degree in problem.degrees.items() if degree < (1 - alpha) * q}
    wanted = low if K == 1 else low & problem.strong
    assert all(wanted <= found for found in ends(problem, q, alpha, K))


def test_weak_features_can_be_masked() -> None:
    """Why Theorem 7.2 says strongly: of two copies, K = 2 of which one is noisy, one may lose."""
    x, noise = ROWS[:, 0], ROWS[:, 1] & ROWS[:, 2] & ROWS[:, 3]
    X = np.column_stack([x, x ^ noise])
    problem = Problem(X, x, np.ones(16))
    assert set(problem.degrees) == {0, 1}
    assert problem.strong == {0}
    assert ends(problem, 2, 0.0, K=1) == [{0, 1}]
    assert {0} in ends(problem, 2, 0.0, K=2)


def test_too_many_relevant_features_are_not_all_found() -> None:
    """Why r <= q is asked for: of a parity of three, two at a time tell nothing."""
    y = ROWS[:, 0] ^ ROWS[:, 1] ^ ROWS[:, 2]
    problem = Problem(ROWS, y, np.ones(16))
    assert problem.degrees == {0: 2, 1: 2, 2: 2}
    assert ends(problem, 2, 0.0, K=1)[0] == set()
    assert ends(problem, 3, 0.5, K=1) == [{0, 1, 2}]


def minimal(informs, m: int, others: list[int]) -> list[tuple[int, ...]]:
    """Subsets that make Y depend on Xm, none of whose own subsets do."""
    found: list[tuple[int, ...]] = []
    for size in range(len(others) + 1):
        for B in itertools.combinations(others, size):
            if informs(m, B) and not any(set(b) < set(B) for b in found):
                found.append(B)
    return found


class Normal:
    """Jointly normal features and target: a PC distribution. The target is the last variable."""

    def __init__(self, rng: np.random.Generator, p: int) -> None:
        """A random sparse graph, in which each variable depends on some before it."""
        n = p + 1
        order = rng.permutation(n)
        weights = np.zeros((n, n))
        for place, child in enumerate(order):
            for parent in order[:place]:
                if rng.random() < 0.4:
                    weights[child, parent] = rng.uniform(0.5, 1.5) * rng.choice([-1, 1])
        spread = np.linalg.inv(np.eye(n) - weights)
        self.covariance = spread @ spread.T

    def informs(self, m: int, given: tuple[int, ...]) -> bool:
        at = [m, len(self.covariance) - 1, *given]
        precision = np.linalg.inv(self.covariance[np.ix_(at, at)])
        return abs(precision[0, 1]) / np.sqrt(precision[0, 0] * precision[1, 1]) > 1e-9


def test_proposition_7_5_and_theorem_7_6() -> None:
    """Where features make others relevant, they are of a lower degree, in a chain."""
    n_chains = 0
    for seed in range(600):
        p, world = 5, Normal(np.random.default_rng(seed), 5)
        by_feature = {
            m: minimal(world.informs, m, [j for j in range(p) if j != m]) for m in range(p)
        }
        degrees = {m: min(map(len, Bs)) for m, Bs in by_feature.items() if Bs}
        for Bs in by_feature.values():
            for B in Bs:
                assert all(degrees[other] < len(B) for other in B)
                chain = sorted(degrees[other] for other in B)
                assert all(degree < place for place, degree in enumerate(chain, 1))
                n_chains += len(B) > 1
    assert n_chains > 10


def test_proposition_7_5_needs_composition() -> None:
    """A parity is no PC distribution: both features have the degree of their conditioning."""
    problem = Problem(ROWS, ROWS[:, 0] ^ ROWS[:, 1], np.ones(16))
    assert problem.degrees == {0: 1, 1: 1}
    assert minimal(problem.informs, 0, [1, 2, 3]) == [(1,)]


def test_example_7_1() -> None:
    """Of 10,000 features 10 are relevant: 95 % of subspaces of 50 have none of them."""
    assert comb(9_990, 50) / comb(10_000, 50) == pytest.approx(0.951, abs=5e-4)


@given(problems(), st.integers(1, 4))
@settings(max_examples=30)
def test_equation_7_1(problem: Problem, q: int) -> None:
    """Random subspaces of q features give the first q degrees. The equation as printed lacks the
    factor 1 / (p - k): a feature of degree k counts p - k times."""
    X, y, w = problem.X, problem.y, problem.w
    subspaces = list(itertools.combinations(range(4), q))
    mean = np.zeros(4)
    for Q in subspaces:
        mean[list(Q)] += asymptotic_importances(X[:, Q], y, w) / len(subspaces)
    by_degree = asymptotic_importances(X, y, w, by_degree=True)
    np.testing.assert_allclose(mean, by_degree[:, :q].sum(axis=1), atol=1e-9)


def test_equation_7_1_as_printed_is_too_large() -> None:
    """A feature that is the target tells one bit in all, a quarter by degree; as printed 2.5."""
    by_degree = asymptotic_importances(ROWS, ROWS[:, 0], by_degree=True)
    printed = sum((4 - k) * by_degree[0, k] for k in range(4))
    assert by_degree[0].sum() == pytest.approx(1.0)
    assert printed == pytest.approx(2.5)
