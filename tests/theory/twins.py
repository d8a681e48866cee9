"""Slow twins of `srs.theory`: they enumerate draws and trees, and use none of the formulas."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from math import comb, log2

import numpy as np

Found = frozenset[int]


def next_states(
    scenario: str, p: int, q: int, r: int, sequential: bool, found: Found
) -> dict[Found, Fraction]:
    """What may be found after one more iteration, by enumerating every draw."""
    carried = found if sequential else frozenset()
    rest = [i for i in range(p) if i not in carried]
    draws = [set(draw) | carried for draw in combinations(rest, q - len(carried))]
    states: dict[Found, Fraction] = defaultdict(Fraction)
    for draw in draws:
        if scenario == "marginal":
            outcomes = [{i for i in draw if i < r}]
        elif scenario == "chain":
            outcomes = [{i for i in range(r) if draw.issuperset(range(i + 1))}]
        elif draw.issuperset(range(r)):
            outcomes = [{i} for i in range(r)]
        else:
            outcomes = [set()]
        for outcome in outcomes:
            states[found | outcome] += Fraction(1, len(draws) * len(outcomes))
    return dict(states)


def enumerated_iterations(scenario: str, p: int, q: int, r: int, sequential: bool) -> Fraction:
    """Mean number of iterations until all are found."""
    known: dict[Found, Fraction] = {frozenset(range(r)): Fraction(0)}

    def left(found: Found) -> Fraction:
        if found not in known:
            states = next_states(scenario, p, q=q, r=r, sequential=sequential, found=found)
            stay = states.pop(found, Fraction(0))
            ahead = sum((chance * left(state) for state, chance in states.items()), Fraction(0))
            known[found] = (1 + ahead) / (1 - stay)
        return known[found]

    return left(frozenset())


def enumerated_found(
    scenario: str, p: int, q: int, r: int, sequential: bool, iterations: int
) -> list[Fraction]:
    """Mean number of features found after 0..iterations."""
    chances: dict[Found, Fraction] = {frozenset(): Fraction(1)}
    means = [Fraction(0)]
    for _ in range(iterations):
        after: dict[Found, Fraction] = defaultdict(Fraction)
        for found, chance in chances.items():
            for state, move in next_states(
                scenario, p, q=q, r=r, sequential=sequential, found=found
            ).items():
                after[state] += chance * move
        chances = after
        means.append(sum((len(state) * c for state, c in chances.items()), Fraction(0)))
    return means


def rational_marginal(p: int, q: int, r: int, sequential: bool) -> Fraction:
    """Mean absorption time of the chains 7.13 and 7.14, in fractions."""
    left = [Fraction(0)] * (r + 1)
    for found in reversed(range(r)):
        carried = found if sequential else 0
        total = comb(p - carried, q - carried)
        others = p - carried - (r - found)
        moves = [
            Fraction(comb(r - found, new) * comb(others, q - carried - new), total)
            if new <= q - carried
            else Fraction(0)
            for new in range(r - found + 1)
        ]
        ahead = sum((m * left[found + new] for new, m in enumerate(moves) if new), Fraction(0))
        left[found] = (1 + ahead) / (1 - moves[0])
    return left[0]


def impurity(y: np.ndarray, w: np.ndarray) -> float:
    """Weight times entropy in bits."""
    sums = [float(w[y == c].sum()) for c in np.unique(y)]
    return -sum(s * log2(s / sum(sums)) for s in sums if s > 0)


def grown_multiway(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Mean importances over all multiway trees, by growing them: features in every order."""

    def below(rows: np.ndarray, unused: frozenset[int]) -> np.ndarray:
        mean = np.zeros(X.shape[1])
        for m in unused:
            parts = [rows[X[rows, m] == level] for level in np.unique(X[rows, m])]
            mean[m] += impurity(y[rows], w[rows]) - sum(impurity(y[s], w[s]) for s in parts)
            for part in parts:
                mean += below(part, unused - {m})
        return mean / max(len(unused), 1)

    return below(np.arange(len(y)), frozenset(range(X.shape[1]))) / w.sum()


def grown_binary(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Mean importances over all binary trees on codes 0, 1, ..., by growing every one of them."""

    def below(rows: np.ndarray) -> np.ndarray:
        mean = np.zeros(X.shape[1])
        usable = [m for m in range(X.shape[1]) if len(np.unique(X[rows, m])) > 1]
        for m in usable:
            cuts = range(X[rows, m].min(), X[rows, m].max())
            for cut in cuts:
                parts = rows[X[rows, m] <= cut], rows[X[rows, m] > cut]
                split = sum(below(part) for part in parts)
                split[m] += impurity(y[rows], w[rows]) - sum(impurity(y[s], w[s]) for s in parts)
                mean += split / (len(usable) * len(cuts))
        return mean

    return below(np.arange(len(y))) / w.sum()
