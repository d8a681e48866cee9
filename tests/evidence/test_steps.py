"""Kinds of evidence that are made in steps: the same bytes however they are run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import srs
from srs.engine.context import load_codes, make_context
from srs.engine.kernels import ensure_compiled
from srs.engine.loop import Run
from srs.engine.state import ENDED
from srs.errors import RunInterrupted
from srs.evidence.pairs import steps as pair_steps
from srs.evidence.registry import evidence_kind
from srs.executors import LocalExecutor
from srs.settings import Settings


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> srs.FeatureStore:
    """Numbers, genotypes with missing values, categories."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(130, 900))
    X[:, 300:600] = rng.binomial(2, 0.3, (130, 300))
    X[rng.random(X.shape) < 0.03] = np.nan
    X[:, 880:] = rng.integers(0, 6, (130, 20))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    path = tmp_path_factory.mktemp("steps") / "s.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("srs.store.layout.CHUNK_BYTES", 1 << 14)
        return srs.ingest(X, path, target=y.astype(int), categorical=list(range(880, 900)))


def values_of(kind: str, context) -> dict[str, np.ndarray]:
    steps = evidence_kind(kind).steps(context)
    for spec in steps.specs:
        steps.merge(steps.found, spec.run(context))
    return {name: array.copy() for name, array in steps.finish(steps.found).items()}


@pytest.mark.parametrize("kind", ["univariate", "pairs"])
def test_codes_in_memory_give_the_same(store, kind):
    ensure_compiled()
    context = make_context(store, Settings())
    apart, resident = values_of(kind, context), values_of(kind, load_codes(context))
    assert apart.keys() == resident.keys()
    for name, array in apart.items():
        np.testing.assert_array_equal(array, resident[name], err_msg=name)


def test_blocks_of_other_sizes_give_the_same(store, monkeypatch):
    context = make_context(store, Settings())
    small_chunks = replace(context, kept={})
    whole = values_of("pairs", context)
    monkeypatch.setattr(pair_steps, "_block_chunks", lambda _: 1)
    n_blocks = store.n_chunks
    assert n_blocks > 5
    n_specs = len(evidence_kind("pairs").steps(small_chunks).specs)
    assert n_specs == n_blocks * (n_blocks + 1) // 2 + (context.shape.n_roles - 1) * n_blocks**2
    parts = values_of("pairs", small_chunks)
    for name, array in whole.items():
        np.testing.assert_array_equal(array, parts[name], err_msg=name)


class Stopped(LocalExecutor):
    """Ends the run in the middle of its steps, as Ctrl-C would."""

    def map(self, function, specs):
        for at, result in enumerate(super().map(function, specs)):
            if at == 2:
                raise KeyboardInterrupt
            yield result


def test_a_run_that_ended_within_its_steps_goes_on_to_the_same_bytes(
    store, tmp_path: Path, monkeypatch
):
    """Guards checkpoints of long steps: all pairs of many features take minutes."""
    monkeypatch.setattr(pair_steps, "_block_chunks", lambda _: 1)
    settings = Settings(max_trees=16)
    whole = Run(make_context(store, settings), LocalExecutor(1))
    whole.run()
    broken = Run(make_context(store, settings), Stopped(1), tmp_path)
    with pytest.raises(RunInterrupted, match="resume"):
        broken.run()
    assert broken.state.n_steps == {"univariate": ENDED, "pairs": 2}
    resumed = Run(make_context(store, settings), LocalExecutor(2), tmp_path)
    resumed.restore()
    assert resumed.state.n_steps == {"univariate": ENDED, "pairs": 2}
    resumed.run()
    assert resumed.state.n_steps == {"univariate": ENDED, "pairs": ENDED}
    for name, array in whole.state.evidence.arrays().items():
        np.testing.assert_array_equal(array, resumed.state.evidence.arrays()[name], err_msg=name)
