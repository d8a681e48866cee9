"""About how long it takes to make a result when the last tree has grown.

Small runs spend most of their time there, so the remaining time of a run contains it. Seconds of
one core, fitted on the eleven kinds of data of `benchmarks.remaining`, each part within a factor of
about 1.5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from srs.engine.context import RunContext
from srs.selection.cautions.find import MAX_CELLS, MAX_SAMPLED, MIN_LISTED
from srs.selection.cautions.find import MAX_SAMPLES as MAX_SAMPLES_OF_CAUTIONS
from srs.selection.effects.found import MOST_FEATURES
from srs.selection.groups import signal_seconds

A_RESULT = 0.02
A_FEATURE = 2.5e-6  # final decision
A_CODE = 8e-9  # pass over the store for effects, which has no more than two classes
AN_EFFECT = 5e-4  # of a relevant feature, and of each of its samples and classes
A_SAMPLE_OF_AN_EFFECT = 6e-7
A_CELL = 6e-8  # of what components are made of
LEVELS_DEPTH = {2: 0.25, 3: 0.7}  # by levels of features; trees of more are as deep as any
CLASSES_DEPTH, NUMBERS_DEPTH, MANY_CLASSES = 0.8, 1.2, 5
MANY = 10_000  # features whose levels are looked at


def seconds_after(context: RunContext, n_parallel: int) -> Callable[[int], float]:
    """A function that tells the seconds for so many relevant features."""
    target, n_samples = context.target, len(context.train)
    has_classes = not len(target.values)
    return partial(
        result_seconds,
        size=(n_samples, context.shape.n_features),
        n_outcomes=target.n_classes if has_classes else 1,
        depth=_depth(context, target.classes[context.train] if has_classes else None),
        n_parallel=n_parallel,
    )


def result_seconds(
    n_relevant: int,
    size: tuple[int, int],
    n_outcomes: int,
    depth: float = 1.0,
    n_parallel: int = 1,
) -> float:
    """See `seconds_after`.

    size        samples, features
    n_outcomes  classes; 1: the target is a number
    depth       how deep trees are, over those of two equal classes and features of many levels

    >>> round(result_seconds(0, (1_000, 10_000), 2), 2), round(result_seconds(100, (600, 4_000), 2))
    (0.12, 1)
    """
    n_samples, n_features = size
    seconds = A_RESULT + A_FEATURE * n_features
    if n_outcomes <= 2:
        seconds += A_CODE * n_samples * n_features / n_parallel
    an_effect = AN_EFFECT + A_SAMPLE_OF_AN_EFFECT * n_samples * max(2, n_outcomes)
    seconds += min(n_relevant, MOST_FEATURES) * an_effect
    if n_relevant >= MIN_LISTED:
        n_seen = min(n_samples, MAX_SAMPLES_OF_CAUTIONS)
        seconds += A_CELL * min(MAX_CELLS, n_seen * min(n_features, MAX_SAMPLED))
    return seconds + depth * signal_seconds(n_relevant, n_samples)


def _depth(context: RunContext, classes: np.ndarray | None) -> float:
    """Trees are shallow where one class is rare, and where features have two or three levels."""
    n_levels = int(np.quantile(context.store.n_levels[:MANY], 0.9))
    by_levels = LEVELS_DEPTH.get(n_levels, 1.0)
    if classes is None:
        return NUMBERS_DEPTH * by_levels
    shares = np.bincount(classes) / max(1, len(classes))
    n_classes = int(np.count_nonzero(shares))
    if n_classes < 2:
        return 0.0
    impurity = (1.0 - shares @ shares) / (1.0 - 1.0 / n_classes)  # of equal classes: 1
    by_classes = CLASSES_DEPTH if n_classes < MANY_CLASSES else NUMBERS_DEPTH
    return float(impurity**0.5 * by_classes * by_levels)
