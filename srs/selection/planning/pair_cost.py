"""What it would take to look at all pairs of features, from a step that is timed here."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from srs.engine.context import RunContext
from srs.evidence.pairs.kind import PAIRS

if TYPE_CHECKING:
    from srs.evidence.pairs.steps import PairSpec

BLOCK_FEATURES = 2_048  # of a small block: some milliseconds to some tenths of a second
MOST_SECONDS = 1.0  # that a whole step may take to be timed, as the small block predicts


@dataclass(frozen=True)
class PairCost:
    """Whether all pairs are looked at, and how long that takes, or would take.

    n_pairs  pairs of features
    reason   why they are not looked at, as a sentence; None: they are
    seconds  predicted wall time of all of them on all threads; None: they cannot be
    """

    n_pairs: int
    reason: str | None
    seconds: float | None


def cost_of_pairs(context: RunContext, threads: int) -> PairCost:
    """The cost for a run that could start from this context."""
    n = context.shape.n_features
    n_pairs = n * (n - 1) // 2
    if context.settings.mode == "paper":
        return PairCost(n_pairs, "paper mode has no evidence except that of its trees.", None)
    reason = None
    if PAIRS.name not in context.kinds:
        reason = context.left_out.get(PAIRS.name, "they are not among the kinds of evidence.")
        if PAIRS.unfit is not None and PAIRS.unfit(context) is not None:
            return PairCost(n_pairs, reason, None)
    return PairCost(n_pairs, reason, _seconds(context, threads))


def _seconds(context: RunContext, threads: int) -> float:
    """Of all steps, at the speed of one. Bits of features are made in it, too, and many steps find
    them made: this is rather too much than too little."""
    from srs.evidence.pairs.steps import PairSpec, make_steps  # with its kernels, which take time

    steps = make_steps(context).specs
    n_chunks = max(1, BLOCK_FEATURES // context.shape.chunk_features)
    end = min(n_chunks, context.store.n_chunks)
    block = PairSpec((0, end), (0, end))
    _time(block, context)  # loads the kernels
    rate = _time(block, context) / _compared(block, context)
    whole = max(steps, key=lambda step: _compared(step, context))
    if rate * _compared(whole, context) < MOST_SECONDS:
        rate = _time(whole, context) / _compared(whole, context)
    return rate * sum(_compared(step, context) for step in steps) / threads


def _time(step: PairSpec, context: RunContext) -> float:
    context.kept.clear()
    started = perf_counter()
    step.run(context)
    spent = perf_counter() - started
    context.kept.clear()
    return spent


def _compared(step: PairSpec, context: RunContext) -> float:
    """Pairs of features of a step."""
    chunk, n_features = context.shape.chunk_features, context.shape.n_features
    rows, columns = (
        min(last * chunk, n_features) - first * chunk for first, last in (step.rows, step.columns)
    )
    return rows * columns * (0.5 if step.role == 0 and step.rows == step.columns else 1.0)
