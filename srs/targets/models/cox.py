"""Times to event: Cox's proportional hazards, ties by Efron.

The score residual is the martingale residual: whether the event was seen, less the cumulative
hazard up to the time of the sample. Given the covariates, its variance is the expectation of that
hazard, the chance that the event is seen: a logistic model has it. (The hazard of the sample
itself is small where the event came early: scores of rare features would look too large.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from srs.targets.models.logistic import fit_logistic
from srs.targets.models.newton import Fit, newton
from srs.targets.models.null import NullDesign, NullModel, dispersed, single_index

MOST_LINEAR = 50.0


@dataclass(frozen=True)
class _Ties:
    """Events of the fitted samples in the order of time.

    order   samples by time, the latest first
    starts  where the risk set of each event time ends in `order`
    events  samples with an event, by event time
    group   event time of each of these
    share   how much of its tied events counts as gone already (Efron)
    times   event times, the latest first
    """

    order: np.ndarray
    starts: np.ndarray
    events: np.ndarray
    group: np.ndarray
    share: np.ndarray
    times: np.ndarray


def _ties(time: np.ndarray, event: np.ndarray) -> _Ties:
    order = np.argsort(-time, kind="stable")
    times = np.unique(time[event])[::-1]
    starts = np.searchsorted(-time[order], -times, side="right")
    events = np.flatnonzero(event)
    events = events[np.argsort(-time[events], kind="stable")]
    group = np.searchsorted(-times, -time[events])
    first = np.searchsorted(group, group)
    counts = np.bincount(group, minlength=len(times))
    share = (np.arange(len(events)) - first) / np.maximum(counts[group], 1)
    return _Ties(order, starts, events, group=group, share=share, times=times)


def _sums(values: np.ndarray, ties: _Ties) -> np.ndarray:
    """Sums over the risk set of each event, less what counts as gone of its ties."""
    padded = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values[ties.order], axis=0)])
    at_risk = padded[ties.starts][ties.group]
    tied = np.zeros((len(ties.times), *values.shape[1:]))
    np.add.at(tied, ties.group, values[ties.events])
    share = ties.share.reshape(-1, *[1] * (values.ndim - 1))
    found: np.ndarray = at_risk - share * tied[ties.group]
    return found


def fit_columns(columns: np.ndarray, time: np.ndarray, event: np.ndarray, mass: np.ndarray) -> Fit:
    """Coefficients of the log hazard; columns: without one of ones. Weighted events count by the
    mean weight of those that are tied."""
    ties = _ties(time, event)
    k = columns.shape[1]
    weight = mass[ties.events]
    tied = np.bincount(ties.group, weight) / np.maximum(np.bincount(ties.group), 1)
    mean_weight = tied[ties.group]
    upper = np.triu_indices(k)

    def derivatives(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        linear = columns @ beta
        if len(linear) and np.abs(linear).max() > MOST_LINEAR:
            return -np.inf, np.zeros(k), np.eye(k)
        risk = mass * np.exp(linear)
        s0 = np.maximum(_sums(risk, ties), 1e-300)
        s1 = _sums(risk[:, None] * columns, ties) / s0[:, None]
        products = columns[:, upper[0]] * columns[:, upper[1]]
        s2 = _sums(risk[:, None] * products, ties) / s0[:, None]
        value = float(weight @ linear[ties.events] - mean_weight @ np.log(s0))
        gradient = weight @ columns[ties.events] - mean_weight @ s1
        information = np.empty((k, k))
        information[upper] = mean_weight @ s2
        information[upper[1], upper[0]] = information[upper]
        information -= s1.T @ (mean_weight[:, None] * s1)
        return value, gradient, information

    start = np.zeros(k)
    if not k:
        return Fit(start, np.zeros((0, 0)), True)
    found = newton(start, derivatives)
    if found.converged:
        return found

    def penalised(beta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, information = derivatives(beta)
        return (
            value - 0.5 * float(beta @ beta),
            gradient - beta,
            information + np.eye(k),
        )

    kept = newton(start, penalised)
    return Fit(kept.beta, kept.information, False)


@dataclass(frozen=True)
class Hazard:
    """The cumulative hazard of a sample whose linear predictor is 0.

    times  event times, ascending
    steps  what it rises by at each
    """

    times: np.ndarray
    steps: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """The cumulative hazard up to some times."""
        total = np.concatenate([[0.0], np.cumsum(self.steps)])
        found: np.ndarray = total[np.searchsorted(self.times, times, side="right")]
        return found


def hazard_of(linear: np.ndarray, time: np.ndarray, event: np.ndarray, mass: np.ndarray) -> Hazard:
    """Breslow's estimate, with Efron's correction for ties."""
    ties = _ties(time, event)
    steps = mass[ties.events] / np.maximum(_sums(mass * np.exp(linear), ties), 1e-300)
    by_time = np.bincount(ties.group, steps, len(ties.times))
    return Hazard(ties.times[::-1], by_time[::-1])


def _own_hazard(
    time: np.ndarray, event: np.ndarray, linear: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """The cumulative hazard of fitted samples: what is tied with others counts as partly gone."""
    ties = _ties(time, event)
    steps = mass[ties.events] / np.maximum(_sums(mass * np.exp(linear), ties), 1e-300)
    base = Hazard(ties.times[::-1], np.bincount(ties.group, steps, len(ties.times))[::-1])
    found = base.at(time)
    found[ties.events] -= np.bincount(ties.group, ties.share * steps, len(ties.times))[ties.group]
    own: np.ndarray = found * np.exp(linear)
    return own


def fit_cox(values: np.ndarray, design: NullDesign) -> NullModel:
    """The null model of times to event. values: (n_samples, 2), time and event; expected is the
    cumulative hazard up to the sample's time."""
    time, event = values[:, 0], values[:, 1] > 0
    columns = design.columns[:, 1:]
    inside, mass = design.train, design.counted
    found = fit_columns(columns[inside], time[inside], event[inside], mass)
    linear = np.clip(columns @ found.beta, -MOST_LINEAR, MOST_LINEAR)
    base = hazard_of(linear[inside], time[inside], event[inside], mass)
    expected = base.at(time) * np.exp(linear)
    expected[inside] = _own_hazard(time[inside], event[inside], linear[inside], mass)
    residuals = event - expected
    seen = fit_logistic(event.astype(np.int64), design).expected[:, 1]
    null = single_index(
        design,
        residuals,
        seen,
        _cumulants(residuals[inside], mass, seen),
        expected,
        converged=found.converged,
    )
    return dispersed(null, design)


def _cumulants(
    residuals: np.ndarray, mass: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Third and fourth cumulants: those of all residuals, by the variance of each."""
    share = mass / mass.sum()
    centred = residuals - share @ residuals
    square = max(float(share @ centred**2), 1e-300)
    third = float(share @ centred**3) / square
    fourth = (float(share @ centred**4) - 3.0 * square**2) / square
    return third * variance, fourth * variance


def score_residuals(
    columns: np.ndarray, beta: np.ndarray, time: np.ndarray, event: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """What each sample adds to the gradient, with its weight, (n, k); ties as Breslow has them."""
    ties = replace(_ties(time, event), share=np.zeros(int(event.sum())))
    risk = np.exp(columns @ beta)
    s0 = np.maximum(_sums(mass * risk, ties), 1e-300)
    means = _sums((mass * risk)[:, None] * columns, ties) / s0[:, None]
    steps = mass[ties.events] / s0
    base = Hazard(ties.times[::-1], np.bincount(ties.group, steps, len(ties.times))[::-1])
    drift = np.zeros((len(ties.times), columns.shape[1]))
    np.add.at(drift, ties.group, steps[:, None] * means)
    total = np.concatenate([np.zeros((1, columns.shape[1])), np.cumsum(drift[::-1], axis=0)])
    at = np.searchsorted(base.times, time, side="right")
    found = risk[:, None] * (total[at] - columns * base.at(time)[:, None])
    found[ties.events] += columns[ties.events] - means
    weighted: np.ndarray = mass[:, None] * found
    return weighted
