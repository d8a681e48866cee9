"""Context analysis: the primary tumor data, and 500 features x 2,000 samples; 1,000 trees and
permutations each."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from benchmarks.explain.data import primary_tumor
from benchmarks.measure import Line
from srs.explain.analyses import context


def run() -> Iterator[Line]:
    yield from _large()
    frame = primary_tumor()
    context(frame, "class", context="sex", n_trees=25, n_permutations=5)  # compiles
    start = perf_counter()
    found = context(frame, "class", context="sex").frame
    seconds = perf_counter() - start
    significant = found[found["p_value"] < 0.05]
    names = ", ".join(significant["feature"])
    yield Line(
        "context: primary tumor, 1,000 trees x 1,000 permutations",
        f"{seconds:.1f} s",
        "under 60 s",
        seconds < 60,
    )
    expected = ["histologic-type", "neck", "peritoneum", "abdominal"]
    yield Line(
        "context: features that depend on sex (Table 4)",
        names,
        ", ".join(expected),
        significant["feature"].tolist() == expected,
    )


def _large() -> Iterator[Line]:
    """Numbers, and genotypes, whose trees grow until nodes are pure."""
    rng = np.random.default_rng(0)
    sex = rng.permutation(np.repeat(["f", "m"], 1000))
    for kind, X in (
        ("numbers", rng.normal(size=(2000, 500))),
        ("genotypes", rng.binomial(2, 0.4, (2000, 500)).astype(float)),
    ):
        told = np.where(sex == "f", X[:, 0], X[:, 1]) + X[:, 2] + 0.5 * rng.normal(size=2000)
        y = told > np.median(told)
        context(X[:200], y[:200], context=sex[:200], n_trees=25, n_permutations=5)  # compiles
        start = perf_counter()
        found = context(X, y, context=sex).frame
        seconds = perf_counter() - start
        words = found[found["feature"].isin(["f0", "f1"])]["label"].tolist()
        yield Line(
            f"context: 500 {kind} x 2,000 samples x 1,000 permutations",
            f"{seconds:.1f} s; {', '.join(words)}",
            "under 60 s on two cores",
            seconds < 60,
        )
