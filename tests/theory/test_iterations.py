"""Expected iterations: published values, exact twins, simulation, large numbers, errors."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srs.errors import SettingsError
from srs.theory import expected_found, expected_iterations, simulate_iterations
from tests.theory.published import ITERATIONS, read_tables
from tests.theory.twins import enumerated_found, enumerated_iterations, rational_marginal

SCENARIOS = ("chain", "clique", "marginal")
every_scenario = pytest.mark.parametrize("scenario", SCENARIOS)
both_methods = pytest.mark.parametrize("sequential", [False, True], ids=["RS", "SRS"])


@every_scenario
def test_published_table(scenario: str) -> None:
    for p, q, r, rs, srs in ITERATIONS[scenario]:
        assert expected_iterations(scenario, p, q, r, False) == pytest.approx(rs, rel=2e-5)
        assert expected_iterations(scenario, p, q, r, True) == pytest.approx(srs, rel=2e-5)


@every_scenario
def test_reference_table(scenario: str) -> None:
    tables = read_tables()
    if tables is None:
        pytest.skip("no reference tables (set SRS_REFERENCE_DATA)")
    for p, q, r, rs, srs in tables["srs_expected_iterations"][scenario]:
        assert expected_iterations(scenario, p, q, r, False) == pytest.approx(rs, rel=2e-5)
        assert expected_iterations(scenario, p, q, r, True) == pytest.approx(srs, rel=2e-5)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[str, int, int, int, bool]:
    scenario, sequential = draw(st.sampled_from(SCENARIOS)), draw(st.booleans())
    p = draw(st.integers(1, 7))
    q = draw(st.integers(1, p))
    free = scenario == "marginal" and not sequential
    return scenario, p, q, draw(st.integers(1, min(4, p if free else q))), sequential


@given(small_cases())
def test_iterations_by_enumeration(case: tuple[str, int, int, int, bool]) -> None:
    """Guards every formula exactly: all draws of all iterations are enumerated."""
    assert expected_iterations(*case) == pytest.approx(float(enumerated_iterations(*case)))


@given(small_cases())
def test_found_by_enumeration(case: tuple[str, int, int, int, bool]) -> None:
    """Guards the Markov chains, those of the chain scenario above all: their print has errors."""
    exact = [float(mean) for mean in enumerated_found(*case, iterations=4)]
    np.testing.assert_allclose(expected_found(*case, iterations=4), exact, atol=1e-12)


@every_scenario
@both_methods
@pytest.mark.parametrize("pqr", [(12, 6, 3), (9, 5, 2), (15, 6, 1)], ids=str)
def test_simulation(
    scenario: str, sequential: bool, pqr: tuple[int, int, int], global_random_seed: int
) -> None:
    rng = np.random.default_rng([global_random_seed, SCENARIOS.index(scenario), sequential, *pqr])
    runs = simulate_iterations(scenario, *pqr, sequential, n_runs=1500, rng=rng)
    error = runs.std(ddof=1) / math.sqrt(len(runs))
    assert abs(runs.mean() - expected_iterations(scenario, *pqr, sequential)) < 4 * error


@both_methods
@pytest.mark.parametrize("p", [200, 10_000, 10**7])
@pytest.mark.parametrize("r", [1, 7, 40])
def test_marginal_in_fractions(p: int, r: int, sequential: bool) -> None:
    """Guards the sums of tiny chances: no digits are lost, up to ten million features."""
    exact = float(rational_marginal(p, 50, r, sequential))
    assert expected_iterations("marginal", p, 50, r, sequential) == pytest.approx(exact, rel=1e-12)


@given(st.integers(1, 10**7), st.integers(1, 300), st.integers(1, 40))
def test_closed_forms_in_fractions(p: int, q: int, r: int) -> None:
    q = min(p, q)
    r = min(q, r)
    odds = [Fraction(p - i, q - i) for i in range(r)]
    tails = [math.prod(odds[i:], start=Fraction(1)) for i in range(r)]
    exact = {
        ("chain", False): tails[0],
        ("chain", True): sum(odds) - (r - 1),
        ("clique", False): tails[0] * sum(Fraction(r, r - i) for i in range(r)),
        ("clique", True): sum(Fraction(r, r - i) * tails[i] for i in range(r)),
    }
    for (scenario, sequential), value in exact.items():
        found = expected_iterations(scenario, p, q, r, sequential)
        assert found == pytest.approx(float(value), rel=1e-12)


@every_scenario
@both_methods
def test_large_numbers(scenario: str, sequential: bool) -> None:
    """Guards against overflow: finite where a float can hold it, inf beyond, never an error."""
    assert expected_iterations(scenario, 10**7, 10**4, 90, sequential) < 1e280
    beyond = expected_iterations(scenario, 10**7, 1000, 300, sequential)
    is_huge = scenario == "clique" or (scenario == "chain" and not sequential)
    assert beyond == math.inf if is_huge else beyond < 1e8
    assert expected_iterations(scenario, 10**7, 10**7, 1, sequential) == 1.0


@every_scenario
@both_methods
def test_found_goes_up_to_all(scenario: str, sequential: bool) -> None:
    found = expected_found(scenario, 30, 20, 4, sequential, iterations=400)
    assert found[0] == 0
    assert (np.diff(found) > -1e-12).all()
    assert found[-1] == pytest.approx(4, abs=1e-3)


def test_curves_of_the_figure() -> None:
    """Guards what Figure 7.3.1 shows: SRS gains much in chains, some in cliques, loses alone."""
    runs = {
        s: [
            expected_found(s, 1000, subspace_size=100, n_relevant=3, sequential=m, iterations=300)[
                300
            ]
            for m in (False, True)
        ]
        for s in SCENARIOS
    }
    assert runs["chain"][1] > 2.99 > 2.3 > runs["chain"][0]
    assert runs["clique"][1] > 1.2 * runs["clique"][0]
    assert runs["marginal"][1] <= runs["marginal"][0] <= 3
    rs = expected_found(
        "marginal", 1000, subspace_size=100, n_relevant=50, sequential=False, iterations=20
    )
    np.testing.assert_allclose(rs, 50 * (1 - 0.9 ** np.arange(21)))


def test_more_relevant_features_than_fit() -> None:
    """RS finds marginally relevant features even when they do not fit together."""
    few, many = (expected_iterations("marginal", 100, 10, r, False) for r in (10, 80))
    assert few < many < 100
    assert many == pytest.approx(float(rational_marginal(100, 10, 80, False)))


WRONG = {
    "scenario": (("ring", 10, 5, 2, True), "chain, clique, marginal, not 'ring'"),
    "no features": (("chain", 0, 5, 2, True), "n_features must be .* at least 1, not 0"),
    "half a feature": (("chain", 10, 2.5, 2, True), "subspace_size must be .* not 2.5"),
    "nothing relevant": (("chain", 10, 5, 0, True), "n_relevant must be .* not 0"),
    "subspace": (("chain", 10, 11, 2, True), r"\(11\) must not exceed n_features \(10\)"),
    "relevant": (("marginal", 10, 5, 11, False), r"\(11\) must not exceed n_features \(10\)"),
    "chain": (("chain", 10, 5, 6, False), r"n_relevant \(6\) must not exceed subspace_size \(5\)"),
    "clique": (("clique", 10, 5, 6, True), r"n_relevant \(6\) must not exceed subspace_size"),
    "marginal": (("marginal", 10, 5, 6, True), r"n_relevant \(6\) must not exceed subspace_size"),
}


@pytest.mark.parametrize(("case", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_settings(case: tuple[str, int, int, int, bool], message: str) -> None:
    rng = np.random.default_rng(0)
    for call in (
        lambda: expected_iterations(*case),
        lambda: expected_found(*case, iterations=3),
        lambda: simulate_iterations(*case, n_runs=1, rng=rng),
    ):
        with pytest.raises(SettingsError, match=message):
            call()


def test_wrong_lengths() -> None:
    with pytest.raises(SettingsError, match="iterations must be a whole number of at least 0"):
        expected_found("chain", 10, 5, 2, True, iterations=-1)
    with pytest.raises(SettingsError, match="at most 2000 relevant features, not 2001"):
        expected_found("chain", 9000, 3000, 2001, True, iterations=1)
    with pytest.raises(SettingsError, match="n_runs must be"):
        simulate_iterations("chain", 10, 5, 2, True, n_runs=0, rng=np.random.default_rng(0))
