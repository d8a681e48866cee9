"""Which neurons are connected: averaged partial correlations of filtered signals (thesis 8.3).

Signals are calcium fluorescence, one column a neuron, one row a time. Filters, in this order:
`low_pass` smooths, `difference` keeps what rises, `threshold` keeps what rises enough, `weigh`
raises spikes at times when few others spike. The partial correlation of two neurons is what is left
between them given all others; it has no direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from srs.catalogue import Analysis, Section
from srs.errors import InputError
from srs.executors import LocalExecutor
from srs.explain.calcium import simulate_calcium  # noqa: F401 (for the example)
from srs.explain.forest import OnProgress
from srs.explain.matrix import Matrix, open_matrix
from srs.results.analysis import AnalysisResult, check_counts, make_table

# Weights of x[t - 3] .. x[t + 3]: equations 8.2, 8.3, 8.8 and 8.9.
LOW_PASS = {
    "f1": (0, 0, 1, 1, 1, 0, 0),
    "f2": (0.4, 0.8, 1, 1, 0, 0, 0),
    "f3": (0, 0, 1, 1, 1, 1, 0),
    "f4": (0, 0, 0, 1, 1, 1, 1),
}
# Weights of filters in the average (8.A.2), and its thresholds, in steps of one hundredth.
FILTER_WEIGHTS = {"f1": 0.383, "f2": 0.345, "f3": 0.004, "f4": 0.268}
THRESHOLDS = tuple(np.arange(0.10, 0.2101, 0.01).round(2).tolist())
KEPT_SHARE = 0.8  # of principal components that make the precision


def low_pass(signals: np.ndarray, name: str = "f1") -> np.ndarray:
    """Smooth each column with one of the four filters; what is before and after counts as 0.

    >>> low_pass(np.array([[0.0], [1.0], [0.0], [0.0]]), "f1").ravel().tolist()
    [1.0, 1.0, 1.0, 0.0]
    >>> low_pass(np.array([[1.0], [0.0], [0.0], [0.0]]), "f2").ravel().tolist()
    [1.0, 1.0, 0.8, 0.4]
    """
    padded = np.pad(signals, ((3, 3), (0, 0)))
    n = len(signals)
    weights = LOW_PASS[name]
    return np.asarray(sum(w * padded[i : i + n] for i, w in enumerate(weights) if w))


def difference(signals: np.ndarray) -> np.ndarray:
    """Rise since the time before (equation 8.4); 0 at the first.

    >>> difference(np.array([[1.0], [4.0], [2.0]])).ravel().tolist()
    [0.0, 3.0, -2.0]
    """
    return np.diff(signals, axis=0, prepend=signals[:1])


def threshold(signals: np.ndarray, least: float) -> np.ndarray:
    """What is at least `least`, else 0 (equation 8.5).

    >>> threshold(np.array([[0.1], [0.2], [-1.0]]), 0.2).ravel().tolist()
    [0.0, 0.2, 0.0]
    """
    return np.where(signals >= least, signals, 0.0)


def weigh(signals: np.ndarray) -> np.ndarray:
    """(x + 1) ** (1 + 1 / activity of all at the time), 1 where all are silent (equation 8.6).

    >>> weigh(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])).round(3).tolist()
    [[4.0, 1.0], [1.0, 1.0], [2.828, 2.828]]
    """
    activity = signals.sum(axis=1)
    weighed = np.ones_like(signals)
    time, neuron = np.nonzero(
        signals
    )  # elsewhere 1 to any power: most of them, and powers are slow
    weighed[time, neuron] = (signals[time, neuron] + 1.0) ** (1.0 + 1.0 / activity[time])
    return weighed


def partial_correlations(signals: np.ndarray, kept_share: float = 1.0) -> np.ndarray:
    """Partial correlation of each pair of columns (equation 8.7); 0 on the diagonal.

    kept_share  share of principal components that the covariance is made from; the others get one
                variance, their mean (probabilistic PCA), which inverting would else blow up

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=2000); b = a + rng.normal(size=2000); c = b + rng.normal(size=2000)
    >>> found = partial_correlations(np.column_stack([a, b, c]))
    >>> bool(found[0, 1] > 0.4), bool(abs(found[0, 2]) < 0.1)
    (True, True)
    """
    p = signals.shape[1]
    variances, axes = np.linalg.eigh(np.cov(signals, rowvar=False).reshape(p, p))
    variances = np.maximum(variances, max(variances[-1], 1.0) * 1e-12)
    n_left = p - max(1, int(np.ceil(kept_share * p)))
    if n_left:
        variances[:n_left] = variances[:n_left].mean()
    precision = (axes / variances) @ axes.T
    scale = np.sqrt(np.maximum(np.diag(precision), np.finfo(float).tiny))
    found = -precision / np.outer(scale, scale)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def connectome(
    data: Any,
    *,
    features: Any = None,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """Averaged partial correlation of each pair of neurons, the strongest first.

    Samples are times, in order; features are neurons. The average is over the four filters, with
    the weights of the thesis, and thresholds from 0.10 to 0.21 of the range of the signal (the
    challenge's signals had a range of about 1).

    feature, part  the two neurons; a pair is given once
    value          weighted mean of partial correlations
    error          spread of it over filters and thresholds

    >>> found = connectome(simulate_calcium(6, 3000, seed=1)[0])
    >>> found.table.num_rows
    15
    """
    check_counts(seed=seed, threads=threads)
    matrix = open_matrix(data, None, features, needs_target=False)
    signals, p = matrix.values, matrix.n_features
    _check_signals(matrix)
    span = float(np.median(np.quantile(signals, 0.999, axis=0) - np.median(signals, axis=0))) or 1.0
    specs = [(name, least) for name in FILTER_WEIGHTS for least in THRESHOLDS]

    rises = {name: difference(low_pass(signals / span, name)) for name in FILTER_WEIGHTS}

    def correlate(spec: tuple[str, float]) -> np.ndarray:
        name, least = spec
        return partial_correlations(weigh(threshold(rises[name], least)), KEPT_SHARE)

    total, squares, weight = np.zeros((p, p)), np.zeros((p, p)), 0.0
    with threadpool_limits(1):  # our threads are enough: with BLAS's it took four times longer
        for done, (spec, found) in enumerate(
            zip(specs, LocalExecutor(threads).map(correlate, specs), strict=True), 1
        ):
            share = FILTER_WEIGHTS[spec[0]]
            total += share * found
            squares += share * found**2
            weight += share
            if on_progress:
                on_progress(done / len(specs))
    mean = total / weight
    spread = np.sqrt(np.maximum(squares / weight - mean**2, 0.0))
    one, two = np.triu_indices(p, 1)
    order = np.argsort(-mean[one, two], kind="stable")
    one, two = one[order], two[order]
    table = make_table(
        [matrix.names[i] for i in one.tolist()],
        mean[one, two],
        part=[matrix.names[i] for i in two.tolist()],
        error=spread[one, two],
    )
    settings = {"filters": list(FILTER_WEIGHTS), "thresholds": list(THRESHOLDS), "seed": seed}
    return AnalysisResult("connectome", table, settings, NOTES)


def _check_signals(matrix: Matrix) -> None:
    """Refuse what has no partial correlations."""
    signals, p = matrix.values, matrix.n_features
    if p < 3:
        raise InputError(f"a connectome needs at least three neurons, and has {p}: name more.")
    if matrix.n_samples <= p:
        raise InputError(
            f"{matrix.n_samples} times are too few for {p} neurons: partial correlations need more "
            f"times than neurons."
        )
    if np.isnan(signals).any():
        name = matrix.names[int(np.isnan(signals).any(axis=0).argmax())]
        raise InputError(f"the signal {name!r} has missing values: fill them in, or leave it out.")


NOTES = ("Partial correlation has no direction: a pair may mean one direction or both.",)


CONNECTOME_ANALYSIS = Analysis(
    name="connectome",
    title="Connectome",
    question="Which neurons are connected, from calcium signals",
    run=connectome,
    target=False,
    section=Section(
        "Averaged partial correlation: the strongest of the positive pairs. Thicker is stronger.",
        chart="pairs",
        nothing="No pair has a positive partial correlation.",
    ),
)
