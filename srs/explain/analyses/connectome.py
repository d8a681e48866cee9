"""Which neurons are connected: averaged partial correlations of filtered signals (thesis 8.3).

Signals are calcium fluorescence, one column a neuron, one row a time. They are filtered to spikes
(`srs.explain.signals.filters`). The partial correlation of two neurons is what is left between them
given all others; it has no direction, which comes from what follows what (8.A.3). Work is done a
piece of time at a time, so that memory is that of the signal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from srs.catalogue import Analysis, Option, Section
from srs.errors import InputError, SettingsError
from srs.executors import LocalExecutor
from srs.explain.calcium import simulate_calcium  # noqa: F401 (for the example)
from srs.explain.forest import OnProgress
from srs.explain.matrix import Matrix, open_matrix
from srs.explain.signals.covariance import (
    ACTIVITIES,
    PLAIN,
    TUNED,
    Chain,
    correlation_of,
    covariance,
    partial_of,
)
from srs.explain.signals.direction import DIRECTIONS, MIXED, OFF, TransferEntropy, direct, leads
from srs.results.analysis import AnalysisResult, check_counts, make_table

# Weights of filters in the average (8.A.2), and its first and last threshold.
FILTER_WEIGHTS = {"f1": 0.383, "f2": 0.345, "f3": 0.004, "f4": 0.268}
FIRST, LAST, ONLY = 0.10, 0.21, 0.11
NEURONS_AT_ONCE = 16  # whose values are read at once


@dataclass(frozen=True)
class Recipe:
    """How links are weighed.

    method      "partial" correlation, "correlation", or "transfer" entropy
    filters     names of the smoothing filters
    thresholds  how many, from 0.10 to 0.21; 1: 0.11
    components  share of principal components that the covariance is made from
    exponent    power of spikes (equation 8.10)
    activity    weights of spikes by the activity of all
    direction   how links get a direction
    """

    method: str = "partial"
    filters: tuple[str, ...] = tuple(FILTER_WEIGHTS)
    thresholds: int = 12
    components: float = 0.8
    exponent: float = 1.0
    activity: str = PLAIN
    direction: str = OFF

    @property
    def described(self) -> dict[str, Any]:
        """What a reader should know, with the thresholds themselves."""
        names = ("components", "exponent", "activity", "direction")
        said = {name: getattr(self, name) for name in names}
        return {"filters": list(self.filters), "thresholds": self.leasts, **said}

    @property
    def leasts(self) -> list[float]:
        """The thresholds themselves."""
        if self.thresholds == 1:
            return [ONLY]
        return [float(x) for x in np.linspace(FIRST, LAST, self.thresholds).round(6)]


RECIPES = {
    "averaged": Recipe(),
    "simple": Recipe(filters=("f1",), thresholds=1),
    "full": Recipe(thresholds=111, exponent=0.9, activity=TUNED, direction=MIXED),
    "correlation": Recipe("correlation", filters=("f0",), thresholds=1),
    "gte": Recipe("transfer", filters=("f0",), thresholds=1),
}


def connectome(
    data: Any,
    *,
    features: Any = None,
    recipe: str = "averaged",
    filters: str | None = None,
    thresholds: int | None = None,
    components: float | None = None,
    exponent: float | None = None,
    activity: str | None = None,
    direction: str | None = None,
    scaled: bool = True,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """Averaged partial correlation of each pair of neurons, the strongest first.

    Samples are times, in order; features are neurons. The average is over the four filters, with
    the weights of the thesis, and thresholds from 0.10 to 0.21 of the range of the signal (the
    challenge's signals had a range of about 1).

    recipe      "averaged"; "simple": one filter and threshold; "full": as it won the challenge,
                with 111 thresholds, tuned weights and direction (8.A); "correlation" and "gte"
                (generalised transfer entropy): baselines
    filters     of f1, f2, f3, f4, with commas between; f0: none
    thresholds  how many, from 0.10 to 0.21
    components  share of principal components that the covariance is made from
    exponent    power of spikes (equation 8.10); 1: as they are
    activity    "plain" weights of spikes by the activity of all (8.6), "tuned" (8.11), or "off"
    direction   "off"; "mixed": a little of what follows what (8.14); "strict": only from the
                neuron that leads (8.13)
    scaled      whether thresholds are shares of the range of the signal; else they are its values

    feature, part  the two neurons; a pair is given once, or source and target if there is direction
    value          weighted mean of partial correlations, or what the recipe weighs links by
    error          spread of it over filters and thresholds

    >>> found = connectome(simulate_calcium(6, 3000, seed=1)[0])
    >>> found.table.num_rows
    15
    """
    check_counts(seed=seed, threads=threads, thresholds=thresholds)
    how = _recipe(
        recipe,
        filters=None if filters is None else _filters(filters),
        thresholds=thresholds,
        components=components,
        exponent=exponent,
        activity=activity,
        direction=direction,
    )
    matrix = open_matrix(data, None, features, needs_target=False)
    table, directed = _links(matrix, how, scaled, threads, on_progress)
    settings = {"recipe": recipe, **how.described, "scaled": scaled, "seed": seed}
    return AnalysisResult("connectome", table, settings, DIRECTED if directed else NOTES)


def _links(
    matrix: Matrix,
    how: Recipe,
    scaled: bool,
    threads: int | None,
    on_progress: OnProgress | None,
) -> tuple[Any, bool]:
    """The table of links, and whether they have a direction."""
    signals = _signals(matrix)
    unit = _range(signals) if scaled else 1.0
    with threadpool_limits(1):  # our threads are enough: with BLAS's it took four times longer
        if how.method == "transfer":
            found = _transfer(signals, unit, threads, on_progress)
            return _table(matrix, found, None, directed=True), True
        mean, spread = _average(signals, how, unit, threads, on_progress)
    if how.direction == OFF:
        return _table(matrix, mean, spread, directed=False), False
    mean = direct(mean, leads(signals, unit), how.direction)
    return _table(matrix, mean, spread, directed=True), True


def _recipe(name: str, **given: Any) -> Recipe:
    """A recipe with what was given, and is not None, instead of its own."""
    if name not in RECIPES:
        raise SettingsError(f"recipe must be one of {', '.join(RECIPES)}, not {name!r}.")
    how = replace(RECIPES[name], **{k: value for k, value in given.items() if value is not None})
    if how.activity not in ACTIVITIES or how.direction not in DIRECTIONS:
        raise SettingsError(
            f"activity must be one of {', '.join(ACTIVITIES)}, and direction one of "
            f"{', '.join(DIRECTIONS)}."
        )
    if not (0 < how.components <= 1 and 0 < how.exponent <= 4):
        raise SettingsError("components must be above 0 and up to 1, exponent above 0 and up to 4.")
    if how.activity == TUNED and "f0" in how.filters:
        raise SettingsError("tuned weights belong to the filters f1 to f4: leave f0 out.")
    return how


def _filters(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not names or not set(names) <= {"f0", *FILTER_WEIGHTS}:
        raise SettingsError(
            f"filters must be of f0, f1, f2, f3, f4, with commas between, not {text!r}."
        )
    return names


def _signals(matrix: Matrix) -> np.ndarray:
    """The values, read some neurons at a time; refuse what has no partial correlations."""
    n, p = matrix.n_samples, matrix.n_features
    if p < 3:
        raise InputError(f"a connectome needs at least three neurons, and has {p}: name more.")
    if n <= p:
        raise InputError(
            f"{n} times are too few for {p} neurons: partial correlations need more times than "
            f"neurons."
        )
    signals = np.empty((n, p))
    for start in range(0, p, NEURONS_AT_ONCE):
        columns = range(start, min(start + NEURONS_AT_ONCE, p))
        some = matrix.values_of(columns)
        missing = np.isnan(some).any(axis=0)
        if missing.any():
            name = matrix.names[columns[int(missing.argmax())]]
            raise InputError(
                f"the signal {name!r} has missing values: fill them in, or leave it out."
            )
        signals[:, columns.start : columns.stop] = some
    return signals


def _range(signals: np.ndarray) -> float:
    """From the median to nearly the top, the median over neurons."""
    spans = []
    for column in signals.T:
        middle, top = np.quantile(column, [0.5, 0.999])
        spans.append(top - middle)
    return float(np.median(spans)) or 1.0


def _average(
    signals: np.ndarray,
    how: Recipe,
    unit: float,
    threads: int | None,
    on_progress: OnProgress | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean of (partial) correlations over filters and thresholds, and their spread."""
    p = signals.shape[1]
    chains = [
        Chain(name, least, how.exponent, how.activity, unit=unit)
        for name in how.filters
        for least in how.leasts
    ]

    def correlate(chain: Chain) -> np.ndarray:
        found = covariance(signals, chain)
        if how.method == "correlation":
            return correlation_of(found)
        return partial_of(found, how.components)

    total, squares, weight = np.zeros((p, p)), np.zeros((p, p)), 0.0
    for done, (chain, found) in enumerate(
        zip(chains, LocalExecutor(threads).map(correlate, chains), strict=True), 1
    ):
        share = FILTER_WEIGHTS.get(chain.low_pass, 1.0)
        total += share * found
        squares += share * found**2
        weight += share
        if on_progress:
            on_progress(done / len(chains))
    mean = total / weight
    return mean, np.sqrt(np.maximum(squares / weight - mean**2, 0.0))


def _transfer(
    signals: np.ndarray, unit: float, threads: int | None, on_progress: OnProgress | None
) -> np.ndarray:
    """Generalised transfer entropies, source x target."""
    entropies = TransferEntropy(signals, unit)
    to: Callable[[int], np.ndarray] = entropies.to
    found = []
    for column in LocalExecutor(threads).map(to, range(signals.shape[1])):
        found.append(column)
        if on_progress:
            on_progress(len(found) / signals.shape[1])
    return np.column_stack(found)


def _table(matrix: Matrix, mean: np.ndarray, spread: np.ndarray | None, directed: bool) -> Any:
    """The links, the strongest first: pairs once, or both directions."""
    one, two = (
        np.nonzero(~np.eye(len(mean), dtype=bool)) if directed else np.triu_indices(len(mean), 1)
    )
    order = np.argsort(-mean[one, two], kind="stable")
    one, two = one[order], two[order]
    return make_table(
        [matrix.names[i] for i in one.tolist()],
        mean[one, two],
        part=[matrix.names[i] for i in two.tolist()],
        error=None if spread is None else spread[one, two],
    )


NOTES = ("Partial correlation has no direction: a pair may mean one direction or both.",)
DIRECTED = (
    "The first neuron of a link leads the second. The camera is slower than synapses, so "
    "directions are less sure than links.",
)


CONNECTOME_ANALYSIS = Analysis(
    name="connectome",
    title="Connectome",
    question="Which neurons are connected, from calcium signals",
    run=connectome,
    options=(
        Option(
            "recipe",
            "str",
            "averaged, simple, full (as it won the challenge), or a baseline",
            "averaged",
            choices=tuple(RECIPES),
        ),
        Option(
            "filters",
            "str",
            "smoothing filters whose results are averaged; f0: none",
            choices=("f0", *FILTER_WEIGHTS, "f1,f2", "f1,f2,f3,f4"),
            none="those of the recipe",
        ),
        Option(
            "thresholds",
            "int",
            "how many thresholds of spikes, from 0.10 to 0.21",
            low=1,
            high=1000,
            none="those of the recipe",
        ),
        Option(
            "components",
            "float",
            "share of principal components that are kept",
            low=0.01,
            high=1,
            none="that of the recipe",
        ),
        Option(
            "exponent",
            "float",
            "power of spikes; below 1 their heights differ less",
            low=0.1,
            high=4,
            none="that of the recipe",
        ),
        Option(
            "activity",
            "str",
            "how spikes are weighed by the activity of all",
            choices=ACTIVITIES,
            none="as in the recipe",
        ),
        Option(
            "direction",
            "str",
            "how links get a direction, by what follows what",
            choices=DIRECTIONS,
            none="as in the recipe",
        ),
        Option("scaled", "bool", "whether thresholds are shares of the signal's range", True),
    ),
    value="recipe",
    target=False,
    section=Section(
        "Averaged partial correlation: the strongest of the positive pairs. Thicker is stronger.",
        chart="pairs",
        nothing="No pair has a positive partial correlation.",
    ),
)
