"""Context analysis of the primary tumor data: 1,000 trees, 1,000 permutations."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from benchmarks.explain.data import primary_tumor
from benchmarks.measure import Line
from srs.explain.analyses import context


def run() -> Iterator[Line]:
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
