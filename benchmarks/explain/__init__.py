"""Explaining selected features: speed against scikit-learn, and the seeds' printed results."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.explain import context, marginal, network, regulation, votes
from benchmarks.measure import Line, reference_folder


def run() -> Iterator[Line]:
    if reference_folder() is None:
        yield Line("explain", "skipped: no reference data (SRS_REFERENCE_DATA)")
        return
    for part in (context, votes, network, regulation, marginal):
        yield from part.run()
