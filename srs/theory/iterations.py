"""How many iterations RS and SRS need until all relevant features are found.

Covers three scenarios (thesis 7.3.2) with r relevant features among p, q of which fit in memory:

    chain     feature i informs only together with features 1..i-1
    clique    each relevant feature informs only together with all the others
    marginal  each relevant feature informs by itself, and none masks another

An iteration grows one tree on q features. RS draws all of them; SRS (carry fraction 1) carries
what it has found and draws the rest. A tree finds every feature that informs together with
features of its own draw; in a clique it finds one feature at random (thesis 7.B.1).

Closed forms: equations 7.2, 7.4, 7.7 and 7.8. Markov chains on the number of features found: 7.11
to 7.14; those of the chain (7.9, 7.10) leave out draws that skip a feature, such as {1, 3}, and
are corrected here so that they agree with 7.2 and 7.4. Finite samples and real trees are not
covered.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from srs.errors import SettingsError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

SCENARIOS = ("chain", "clique", "marginal")
MAX_STATES = 2000  # relevant features of `expected_found`: a matrix of 32 MB


@dataclass(frozen=True)
class _Case:
    """One checked question.

    n_features     p of the thesis
    subspace_size  q
    n_relevant     r
    sequential     SRS with carry fraction 1; otherwise RS
    """

    scenario: str
    n_features: int
    subspace_size: int
    n_relevant: int
    sequential: bool

    def n_carried(self, n_found: int) -> int:
        """Features that are in the draw for certain once `n_found` are known."""
        return n_found if self.sequential else 0


def expected_iterations(
    scenario: str, n_features: int, subspace_size: int, n_relevant: int, sequential: bool
) -> float:
    """Mean number of iterations until all relevant features are found; inf beyond 1.8e308.

    >>> expected_iterations("chain", 10_000, 100, 2, sequential=False)
    10100.0
    >>> expected_iterations("chain", 10_000, 100, 2, sequential=True)
    200.0
    >>> round(expected_iterations("marginal", 10_000, 100, 50, sequential=True), 2)
    757.03
    """
    case = _checked(scenario, n_features, subspace_size, n_relevant, sequential)
    if case.scenario == "chain":
        return _chain_iterations(case)
    if case.scenario == "clique":
        return _clique_iterations(case)
    return _marginal_iterations(case)


def expected_found(
    scenario: str,
    n_features: int,
    subspace_size: int,
    n_relevant: int,
    sequential: bool,
    iterations: int,
) -> FloatArray:
    """Mean number of relevant features found after 0, 1, ..., `iterations` iterations.

    >>> expected_found("marginal", 10, 5, 2, sequential=False, iterations=3).tolist()
    [0.0, 1.0, 1.5, 1.75]
    """
    case = _checked(scenario, n_features, subspace_size, n_relevant, sequential)
    n_iterations = _whole("iterations", iterations, least=0)
    if case.n_relevant > MAX_STATES:
        raise SettingsError(
            f"expected_found follows at most {MAX_STATES} relevant features, not {case.n_relevant}."
        )
    matrix = _transition_matrix(case)
    states = np.arange(case.n_relevant + 1.0)
    chances = (states == 0).astype(np.float64)
    found = np.zeros(n_iterations + 1)
    for t in range(1, n_iterations + 1):
        chances = chances @ matrix
        found[t] = chances @ states
    return found


def simulate_iterations(
    scenario: str,
    n_features: int,
    subspace_size: int,
    n_relevant: int,
    sequential: bool,
    n_runs: int,
    rng: np.random.Generator,
) -> IntArray:
    """Iterations that `n_runs` simulated runs took: the slow twin of `expected_iterations`.

    It draws the features of every iteration and uses none of the formulas; for small cases only.

    >>> runs = simulate_iterations("chain", 6, 6, 3, True, n_runs=4, rng=np.random.default_rng(0))
    >>> runs.tolist()  # all features fit in memory, so the first tree finds them all
    [1, 1, 1, 1]
    """
    case = _checked(scenario, n_features, subspace_size, n_relevant, sequential)
    n_runs = _whole("n_runs", n_runs)
    return np.array([_simulate_run(case, rng) for _ in range(n_runs)], np.int64)


def _whole(name: str, value: int, least: int = 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise SettingsError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return number


def _checked(
    scenario: str, n_features: int, subspace_size: int, n_relevant: int, sequential: bool
) -> _Case:
    if scenario not in SCENARIOS:
        raise SettingsError(f"scenario must be one of {', '.join(SCENARIOS)}, not {scenario!r}.")
    p = _whole("n_features", n_features)
    q = _whole("subspace_size", subspace_size)
    r = _whole("n_relevant", n_relevant)
    if q > p:
        raise SettingsError(f"subspace_size ({q}) must not exceed n_features ({p}).")
    if r > p:
        raise SettingsError(f"n_relevant ({r}) must not exceed n_features ({p}).")
    if r > q and (sequential or scenario != "marginal"):
        raise SettingsError(
            f"n_relevant ({r}) must not exceed subspace_size ({q}): "
            "some features could never be found."
        )
    return _Case(scenario, p, q, r, bool(sequential))


def _odds(case: _Case, first: int = 0) -> FloatArray:
    """(p - l) / (q - l) for l = first..r-1: draws until feature l is in, given those before it."""
    drawn = np.arange(first, case.n_relevant, dtype=np.float64)
    return (case.n_features - drawn) / (case.subspace_size - drawn)


def _chain_iterations(case: _Case) -> float:
    """Equations 7.2 and 7.4; the latter as 1 + sum of (odds - 1), in which nothing cancels."""
    if not case.sequential:
        with np.errstate(over="ignore"):
            return float(np.prod(_odds(case)))
    free = case.subspace_size - np.arange(case.n_relevant, dtype=np.float64)
    return 1.0 + float(np.sum((case.n_features - case.subspace_size) / free))


def _clique_iterations(case: _Case) -> float:
    """Equations 7.7 and 7.8: sum over l found of r / (r - l) over the chance to draw the clique."""
    r = case.n_relevant
    tries = r / np.arange(r, 0, -1.0)
    with np.errstate(over="ignore"):
        draws = np.cumprod(_odds(case)[::-1])[::-1]  # at l: product over m = l..r-1
        return float(np.sum(tries * (draws if case.sequential else draws[0])))


def _marginal_iterations(case: _Case) -> float:
    """Mean absorption time of the chains 7.13 and 7.14, from the last state backwards."""
    left = np.zeros(case.n_relevant + 1)  # iterations that are left once so many are found
    for n_found in reversed(range(case.n_relevant)):
        fewest, chances = _newly_drawn(case, n_found)
        if fewest == 0:
            moves, fewest = chances[1:], 1
        else:
            moves = chances
        reached = left[n_found + fewest : n_found + fewest + len(moves)]
        left[n_found] = (1.0 + moves @ reached) / moves.sum()
    return float(left[0])


def _newly_drawn(case: _Case, n_found: int) -> tuple[int, FloatArray]:
    """How many features not yet found the next draw holds: (fewest, chances of fewest, +1, ...).

    Hypergeometric. Made from ratios of neighbouring chances, so that no large factorials cancel;
    counts further than nine deviations and 30 from the mean (chance below 1e-17) are left out.
    """
    carried = case.n_carried(n_found)
    population, n_drawn = case.n_features - carried, case.subspace_size - carried
    wanted = case.n_relevant - n_found
    mean = wanted * n_drawn / population
    spread = mean * (1 - wanted / population) * (population - n_drawn) / max(population - 1, 1)
    reach = 9 * math.sqrt(spread) + 30
    fewest = max(0, wanted + n_drawn - population, math.ceil(mean - reach))
    most = min(wanted, n_drawn, math.floor(mean + reach))
    i = np.arange(fewest, most, dtype=np.float64)
    ratios = (wanted - i) * (n_drawn - i) / ((i + 1) * (population - wanted - n_drawn + i + 1))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    return fewest, chances / chances.sum()


def _transition_matrix(case: _Case) -> FloatArray:
    """Chances to go from l features found (row) to l' (column) in one iteration."""
    r = case.n_relevant
    matrix = np.zeros((r + 1, r + 1))
    for n_found in range(r):
        fewest, moves = _moves(case, n_found)
        matrix[n_found, n_found + fewest : n_found + fewest + len(moves)] = moves
        if fewest > 0:
            matrix[n_found, n_found] = max(0.0, 1.0 - moves.sum())
    matrix[r, r] = 1.0
    return matrix


def _moves(case: _Case, n_found: int) -> tuple[int, FloatArray]:
    """Chances to find `fewest`, `fewest` + 1, ... new features; what is left is to find none."""
    if case.scenario == "marginal":
        return _newly_drawn(case, n_found)
    if case.scenario == "clique":
        chance = np.prod(1 / _odds(case, case.n_carried(n_found)))
        return 1, np.array([chance * (case.n_relevant - n_found) / case.n_relevant])
    return 1, _chain_moves(case, n_found)


def _chain_moves(case: _Case, n_found: int) -> FloatArray:
    """The chain finds up to feature l when 1..l are in the draw and l + 1 is not."""
    carried = case.n_carried(n_found)
    drawn: FloatArray = np.cumprod(1 / _odds(case, carried), dtype=np.float64)  # 1..l at least
    last = np.arange(carried + 1, case.n_relevant, dtype=np.float64)
    drawn[:-1] *= (case.n_features - case.subspace_size) / (case.n_features - last)
    return drawn[n_found - carried :]


def _simulate_run(case: _Case, rng: np.random.Generator) -> int:
    found = np.zeros(case.n_features, np.bool_)  # the relevant features are the first
    n_iterations = 0
    while not found[: case.n_relevant].all():
        drawn = found.copy() if case.sequential else np.zeros_like(found)
        rest = np.flatnonzero(~drawn)
        n_explored = case.subspace_size - (case.n_features - len(rest))
        drawn[rng.choice(rest, n_explored, replace=False)] = True
        found[: case.n_relevant] |= _found_in(case, drawn[: case.n_relevant], rng)
        n_iterations += 1
    return n_iterations


def _found_in(
    case: _Case, drawn: npt.NDArray[np.bool_], rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Which relevant features a tree finds, given which of them were drawn."""
    if case.scenario == "chain":
        return np.cumprod(drawn).astype(np.bool_)
    if case.scenario == "clique":
        found = np.zeros_like(drawn)
        found[rng.integers(case.n_relevant)] = drawn.all()  # the one that is tested last
        return found
    return drawn
