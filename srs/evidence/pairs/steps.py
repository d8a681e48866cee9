"""All pairs of features of a store in steps: a step is a pair of blocks of features.

The bits of a block are made from its codes, which takes a tenth of the time of a step; the first
blocks are kept, as many as the memory of the run allows. So are the best partners so far: a step
that starts from them computes fewer statistics, and finds the same in the end. Probes of the first
places are the null: places are random (`srs.store.layout`), so these are a random sample of the
features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc, gammaln, log_ndtr

from srs.evidence.kinds import Steps
from srs.evidence.pairs.best import Best, best_by_owner, best_partners, no_best
from srs.evidence.pairs.bits import BitRows, make_bits
from srs.evidence.pairs.cuts import MOST_CUTS, Cuts, choose_cuts
from srs.evidence.pairs.groups import PairGroups, make_groups
from srs.evidence.told import PARTNER

if TYPE_CHECKING:
    from srs.engine.context import RunContext
    from srs.engine.memory import RunShape

LEAST_BLOCK, MOST_BLOCK = 8_192, 16_384  # features of a block: smaller ones take a third longer
BLOCKS = 8  # of few features, so that all workers have something to do
PIECE = 1 << 17  # values that are looked at together: a tail of all takes memory
KEPT, BESTS, PAIRED = "bits", "best", "statistic"
LEAST_NULL, MOST_NULL = 8_192, 32_768  # probes that are the null
NULL_SHARE = 4  # one of so many features has one, between the two: half of the time of all pairs


@dataclass(frozen=True)
class PairSpec:
    """The best partners among two blocks of features, given by their first and last chunks.

    rows, columns  chunks from the first up to the second number
    role           of the rows: 0 are features, others are probes, which get partners only
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    role: int = 0

    def run(self, context: RunContext) -> tuple[PairSpec, Best, Best]:
        groups = group_samples(context)
        rows = _bits(context, groups, self.rows, self.role)
        is_square = self.role == 0 and self.rows == self.columns
        columns = rows if is_square else _bits(context, groups, self.columns)
        keys = (BESTS, self.rows, self.role), (BESTS, self.columns, 0)
        so_far = (
            context.kept.get(keys[0]) or no_best(len(rows)),
            no_best(0) if self.role else context.kept.get(keys[1]) or no_best(len(columns)),
        )
        found = best_partners(rows, columns, groups, rows_only=self.role > 0, so_far=so_far)
        best = _by_feature(context, found[0], rows, self.rows)
        context.kept[keys[0]] = found[0]  # another thread may have kept more: then that is lost
        if self.role or is_square:
            return self, best, best
        context.kept[keys[1]] = found[1]
        return self, best, _by_feature(context, found[1], columns, self.columns)


def make_steps(context: RunContext) -> Steps:
    """Steps for all pairs, and for the probes of the null."""
    shape, n_chunks = context.shape, context.store.n_chunks
    size = _block_chunks(context)
    blocks = [(first, min(first + size, n_chunks)) for first in range(0, n_chunks, size)]
    specs = [PairSpec(rows, columns) for at, rows in enumerate(blocks) for columns in blocks[at:]]
    n = shape.n_features
    n_null = _null_features(shape)
    last = -(-n_null // shape.chunk_features)
    specs += [
        PairSpec((first, min(end, last)), columns, role)
        for first, end in blocks
        if first < last
        for role in range(1, shape.n_roles)
        for columns in blocks
    ]
    found = {PAIRED: np.zeros(n, np.float32), PARTNER: np.full(n, -1, np.int32)}
    found["null"] = np.zeros((shape.n_roles - 1, n_null), np.float32)

    def merge(so_far: dict[str, np.ndarray], outcome: tuple[PairSpec, Best, Best]) -> None:
        spec, of_rows, of_columns = outcome
        first = spec.rows[0] * shape.chunk_features
        if spec.role:
            null = so_far["null"][spec.role - 1, first : first + len(of_rows)]
            np.maximum(null, of_rows.statistic[: len(null)], out=null)
            return
        _merge_best(so_far, of_rows, first)
        if spec.rows != spec.columns:
            _merge_best(so_far, of_columns, spec.columns[0] * shape.chunk_features)

    df = group_samples(context).n_arms - 1
    return Steps(specs, found, merge, lambda so_far: _finish(so_far, df))


def _null_features(shape: RunShape) -> int:
    """Features whose probes are the null.

    With 8,192 instead of 28,000 probes a p-value of 1e-5 becomes 1.2 times as large (genotypes,
    2,000 samples): the tail is taken to be heavier by its standard error.
    """
    n_probes = min(MOST_NULL, max(LEAST_NULL, shape.n_features // NULL_SHARE))
    return min(shape.n_features, -(-n_probes // (shape.n_roles - 1)))


def _merge_best(so_far: dict[str, np.ndarray], best: Best, first: int) -> None:
    """Take what is better; of equal ones the partner that stands first."""
    here = slice(first, first + len(best))
    statistic, partner = so_far[PAIRED][here], so_far[PARTNER][here]
    better = (best.statistic > statistic) | (
        (best.statistic == statistic) & (best.partner >= 0) & (best.partner < partner)
    )
    statistic[better], partner[better] = best.statistic[better], best.partner[better]


def _finish(found: dict[str, np.ndarray], df: int) -> dict[str, np.ndarray]:
    """On the scale of -log(p) of one pair, on which the tail of the largest of many is straight."""
    n_roles, n_places = found["null"].shape
    return {
        "statistic": _log_tail(found[PAIRED], df),
        "null": _log_tail(found["null"].ravel(), df),
        "null_places": np.tile(np.arange(n_places), n_roles),
        PARTNER: found[PARTNER],
    }


def _log_tail(values: np.ndarray, df: int) -> np.ndarray:
    """-log P(chi-squared of df degrees of freedom > value), float32, also where P is 0 in floats.

    >>> [round(float(one), 2) for one in _log_tail(np.array([3.84, 900.0]), 1)]
    [2.99, 453.63]
    """
    found = np.empty(len(values), np.float32)
    for start in range(0, len(values), PIECE):
        half = 0.5 * np.maximum(values[start : start + PIECE], 1e-12).astype(np.float64)
        if df == 1:
            tail = np.log(2.0) + log_ndtr(-np.sqrt(2.0 * half))
        else:
            far = -half + (0.5 * df - 1.0) * np.log(half) - gammaln(0.5 * df)
            near = gammaincc(0.5 * df, half)
            tail = np.where(near > 1e-290, np.log(np.maximum(near, 1e-300)), far)
        found[start : start + PIECE] = -tail
    found[values <= 0] = 0.0  # there is no statistic
    return found


def bits_mem(context: RunContext) -> int:
    """Bytes of the bits of all features and of the null, with what belongs to them.

    The cuts of a feature are at most as many as its levels allow.
    """
    store, by_subset, shape = context.store, context.splits_by_subset, context.shape
    n_levels = store.n_levels if by_subset is None else store.n_levels[store.feature_ids]
    n_cuts = np.where(n_levels == 3, np.uint8(2), np.uint8(1))
    if by_subset is not None:
        n_cuts = np.where(by_subset, np.minimum(n_levels, MOST_CUTS), n_cuts)
    groups = group_samples(context)
    a_row = 4 * groups.n_words + 4 * groups.n_groups + 20  # words, ones, owner, rule, best
    n_probes = _null_features(shape) * (shape.n_roles - 1)
    return int(n_cuts.sum(dtype=np.int64) * a_row * (1 + n_probes / shape.n_features))


def _block_chunks(context: RunContext) -> int:
    """Chunks of a block: codes and bits of two blocks must fit in the place of a batch.

    A run that is resumed with more memory, or elsewhere, must have the same steps.
    """
    shape = context.shape
    wanted = min(MOST_BLOCK, max(LEAST_BLOCK, shape.n_features // BLOCKS))
    fitting = context.slab_mem // (2 * shape.n_samples)
    return max(1, min(wanted, fitting) // shape.chunk_features)


def group_samples(context: RunContext) -> PairGroups:
    """The training samples of a run in groups; an InputError if there are no two to compare."""
    samples, target = context.samples, context.target
    values = target.values if len(target.values) else target.classes
    weights = target.weights.astype(np.float64) if len(target.weights) else None
    return make_groups(samples.train, values, strata=samples.strata, weights=weights)


def _bits(
    context: RunContext, groups: PairGroups, chunks: tuple[int, int], role: int = 0
) -> BitRows:
    """The bits of a block of features, or of their probes."""
    key = (KEPT, chunks, role)
    if key in context.kept:
        bits: BitRows = context.kept[key]
        return bits
    shape, by_subset = context.shape, context.splits_by_subset
    tiles = context.read_chunks(*chunks)
    first = chunks[0] * shape.chunk_features
    owners = np.arange(first, min(chunks[1] * shape.chunk_features, shape.n_features))
    cuts = _known_cuts(context, chunks, len(owners)) if role else None
    if cuts is None:
        categorical = None if by_subset is None else by_subset[owners]
        cuts = choose_cuts(tiles, context.train, owners.astype(np.int32), categorical=categorical)
    bits = make_bits(tiles, cuts, groups, context.permutations[role] if role else None)
    held = sum(one.nbytes for name, one in list(context.kept.items()) if name[0] == KEPT)
    if held + bits.nbytes <= max(context.kept_mem, context.batch_mem // 2):
        context.kept[key] = bits
    return bits


def _known_cuts(context: RunContext, chunks: tuple[int, int], n_features: int) -> Cuts | None:
    """The cuts of features whose bits are kept: probes have the same."""
    first = chunks[0] * context.shape.chunk_features
    for (_, (begin, end), *_), bits in list(context.kept.items()):
        if isinstance(bits, BitRows) and begin == chunks[0] and end >= chunks[1]:
            return bits.cuts(first, n_features)
    return None


def _by_feature(context: RunContext, best: Best, rows: BitRows, chunks: tuple[int, int]) -> Best:
    """The best of all cuts of each feature of a block."""
    first = chunks[0] * context.shape.chunk_features
    n = min(chunks[1] * context.shape.chunk_features, context.shape.n_features) - first
    return best_by_owner(best, rows.owner - first, n)
