"""What one worker does: read a slab, fill blocks, add probes, grow trees, return evidence.

A batch is a pure function of its context (store, target, settings) and its spec (ids and seeds):
the same on any thread, any worker and any retry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numba import njit

from srs import seeds
from srs.engine import subspace
from srs.engine.context import RunContext
from srs.engine.samples import Samples
from srs.engine.state import Clock
from srs.engine.subspace import Pool
from srs.evidence.arrays import BatchEvidence
from srs.evidence.gathering import BatchOutcome, paper_evidence
from srs.store.layout import TILE
from srs.trees import Importances, Tree, grow, predict_tree

WANDER_SIZE = 40  # samples of a node whose halves still show what a split has brought to light


@dataclass(frozen=True)
class BatchSpec:
    """One slab to explore.

    pass_index, batch_index  which batch it is; with the seed they give its random state
    chunk_ids                chunks of the slab
    pool                     what its trees may carry
    """

    pass_index: int
    batch_index: int
    chunk_ids: np.ndarray
    pool: Pool

    def run(self, context: RunContext) -> tuple[BatchEvidence, list[Tree]]:
        return run_batch(context, self)


@dataclass(frozen=True)
class PaperSpec:
    """One tree of Algorithm 7.1: its number, and the places of R and C."""

    iteration: int
    carried: np.ndarray
    explored: np.ndarray

    def run(self, context: RunContext) -> tuple[BatchEvidence, list[Tree]]:
        return run_paper_tree(context, self)


class Spec(Protocol):
    """What a worker can do: a pure function of a context."""

    def run(self, context: RunContext) -> tuple[BatchEvidence, list[Tree]]:
        """Grow what the spec asks for."""
        ...


_ONE_TO_SEVEN = tuple(np.uint64(k) for k in range(1, 8))


@njit(nogil=True, cache=True)
def _fill_roles(slab, starts, n_words, coins, permutations, n_columns, block):  # type: ignore[no-untyped-def]
    """Write all roles of some strips into a block; both seen as flat arrays of 8-byte words.

    starts: first word of each strip within the slab. A strip has n_words words a sample, and the
    next sample is 8 words on (a tile). Segment s of the block holds role s XOR coin of each strip:
    the place of a column does not tell a feature from its probes.

    Words and unsigned indices, because numba's slices and signed indices cost ten times more; a
    whole cache line is read before it is written, which the compiler makes two wide stores of.
    """
    n_roles, n_samples = permutations.shape
    width = starts.shape[0] * n_words
    one, two, three, four, five, six, seven = _ONE_TO_SEVEN
    for r in range(starts.shape[0]):
        for s in range(n_roles):
            role = s ^ coins[r]
            to = s * width + r * n_words
            for i in range(n_samples):
                a = np.uint64(starts[r] + permutations[role, i] * 8)
                b = np.uint64(i * n_columns + to)
                if n_words == 8:
                    w0, w1, w2, w3 = slab[a], slab[a + one], slab[a + two], slab[a + three]
                    w4, w5, w6 = slab[a + four], slab[a + five], slab[a + six]
                    w7 = slab[a + seven]
                    block[b], block[b + one], block[b + two], block[b + three] = w0, w1, w2, w3
                    block[b + four], block[b + five], block[b + six] = w4, w5, w6
                    block[b + seven] = w7
                else:
                    for k in range(np.uint64(n_words)):
                        block[b + k] = slab[a + k]


def draw_coins(rng: np.random.Generator, n_strips: int, n_roles: int) -> np.ndarray:
    """For each strip, which role comes first in the block."""
    return rng.integers(0, n_roles, n_strips, dtype=np.uint8)


def run_spec(context: RunContext, spec: Spec) -> tuple[BatchEvidence, list[Tree]]:
    """Grow what a spec asks for."""
    return spec.run(context)


def run_batch(context: RunContext, spec: BatchSpec) -> tuple[BatchEvidence, list[Tree]]:
    """Explore every feature of one slab once."""
    clock = Clock()
    shape = context.shape
    scratch = context.borrow_scratch()
    slab, pool_codes = _read_slab(context, scratch, spec), _read_pool(context, spec.pool)
    clock.lap("read")
    rng = seeds.make_rng(context.settings.seed, seeds.BATCH, spec.pass_index, spec.batch_index)
    length = subspace.strip_length(shape.n_features)
    strips = subspace.slab_strips(spec.chunk_ids, shape.n_features, shape.chunk_features)
    n_subspaces = subspace.count_subspaces(
        len(spec.chunk_ids), shape.chunk_features, shape.subspace_size, shape.n_features
    )
    subspaces = subspace.cut_subspaces(strips, n_subspaces, rng)
    outcome = BatchOutcome.empty(context, len(strips) * length, len(spec.pool.places))
    for strips_of_tree in subspaces:
        places = subspace.strip_places(strips_of_tree, shape.n_features)
        carried, root = _draw_carried(context, spec.pool, strips_of_tree, rng)
        coins = draw_coins(rng, len(strips_of_tree), shape.n_roles)
        starts = _strip_starts(context, spec.chunk_ids, strips_of_tree)
        block = _fill_block(
            context, scratch, slab=slab, starts=starts, coins=coins, carried=pool_codes[:, carried]
        )
        tree_key = seeds.draw_tree_key(rng)
        columns = np.concatenate([np.tile(places, shape.n_roles), spec.pool.places[carried]])
        clock.lap("fill")
        root_column = -1 if root < 0 else shape.n_roles * len(places) + root
        wanders = shape.sees_all and bool(rng.random() < subspace.WANDERING_SHARE)
        tree, importances = grow_block(
            context, block, tree_key, columns, root_column, wanders=wanders
        )
        clock.lap("grow")
        outcome.add(context, places, carried, np.repeat(coins, length), importances)
        if len(context.held_out):
            outcome.votes += predict_tree(tree, block, context.held_out)
        if context.settings.keep_trees:
            is_real = np.arange(shape.n_roles)[:, None] == np.repeat(coins, length)[None]
            is_real = np.append(is_real, spec.pool.roles[carried] == 0)
            outcome.trees.append(_with_places(tree, columns, is_real))
        clock.lap("fill")
    context.scratch.append(scratch)
    return outcome.evidence(shape.n_features, len(subspaces), clock.seconds), outcome.trees


def run_paper_tree(context: RunContext, spec: PaperSpec) -> tuple[BatchEvidence, list[Tree]]:
    """One iteration of Algorithm 7.1: a tree on R and C, and a random probe if that decides."""
    clock = Clock()
    has_probe = context.settings.paper_rule == "probe"
    places = np.concatenate([spec.carried, spec.explored])
    block = np.empty((context.shape.n_samples, len(places) + has_probe), np.uint8)
    block[:, : len(places)] = context.read_places(places)
    rng = seeds.make_rng(context.settings.seed, seeds.ITERATION, spec.iteration, 1)
    columns = places
    if has_probe:
        # The probe is a fresh one each time: some feature of the subspace, its samples shuffled.
        model = int(rng.integers(len(places)))
        block[context.train, -1] = block[rng.permutation(context.train), model]
        block[context.held_out, -1] = block[rng.permutation(context.held_out), model]
        columns = np.append(places, places[model])
    clock.lap("fill")
    tree, importances = grow_block(context, block, seeds.draw_tree_key(rng), columns)
    clock.lap("grow")
    votes = np.zeros((len(context.held_out), context.target.n_classes))
    if len(context.held_out):
        votes += predict_tree(tree, block, context.held_out)
    evidence = paper_evidence(places, importances, votes, clock.seconds)
    trees = []
    if context.settings.keep_trees:
        trees = [_with_places(tree, columns, np.arange(len(columns)) < len(places))]
    return evidence, trees


def _reuse(scratch: dict[str, np.ndarray], name: str, *shape: int) -> np.ndarray:
    """An uninitialised uint8 array that is used again by the next tree.

    Fresh pages for every block would cost a third of the time of a tree.
    """
    size = math.prod(shape)
    if name not in scratch or scratch[name].size < size:
        scratch.pop(name, None)
        scratch[name] = np.empty(size, np.uint8)
    return scratch[name][:size].reshape(shape)


def _read_slab(context: RunContext, scratch: dict[str, np.ndarray], spec: BatchSpec) -> np.ndarray:
    shape = context.shape
    if context.resident is not None:
        return context.resident
    n_tiles = shape.chunk_features // TILE
    slab = _reuse(scratch, "slab", *[len(spec.chunk_ids), n_tiles, shape.n_samples, TILE])
    for index, chunk_id in enumerate(spec.chunk_ids):
        context.store.read_chunk(int(chunk_id), slab[index])
    return slab


def _strip_starts(context: RunContext, chunk_ids: np.ndarray, strips: np.ndarray) -> np.ndarray:
    """The first word of each strip within the slab, or within the resident store."""
    shape = context.shape
    place = strips * subspace.strip_length(shape.n_features)
    tile, lane = np.divmod(place, TILE)
    if context.resident is None:
        a_chunk = shape.chunk_features // TILE
        chunk, tile = np.divmod(tile, a_chunk)
        order = np.argsort(chunk_ids)
        tile += order[np.searchsorted(chunk_ids, chunk, sorter=order)] * a_chunk
    starts: np.ndarray = (tile * shape.n_samples * TILE + lane) // 8
    return starts


def _read_pool(context: RunContext, pool: Pool) -> np.ndarray:
    """Codes of the pool's columns, each in its role."""
    codes = context.read_places(pool.places)
    rows = context.permutations[pool.roles].T
    return np.take_along_axis(codes, rows, axis=0) if len(pool.places) else codes


def _draw_carried(
    context: RunContext, pool: Pool, explored_strips: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Columns of the pool for one tree, and which of them its root splits (-1: none).

    The pinned ones, which stand first, and a random recall.
    """
    n_pinned = len(context.pinned)
    length = subspace.strip_length(context.shape.n_features)
    blocked = np.isin(pool.places // length, explored_strips)
    blocked[:n_pinned] = True
    most = min(
        context.settings.max_carried,
        int(context.settings.carry_fraction * context.shape.subspace_size),
    )
    full = not context.settings.random_recall
    recalled = subspace.draw_recall(len(pool.places), blocked, most, rng, full)
    carried = np.concatenate([np.arange(n_pinned), recalled])
    share = context.settings.root_share
    # Where all features are explored, the root splits a copy of one.
    barred = np.arange(len(blocked)) < n_pinned if context.shape.sees_all else blocked
    return subspace.draw_root(pool.outstanding & ~barred, carried, share, rng)


def _fill_block(
    context: RunContext,
    scratch: dict[str, np.ndarray],
    slab: np.ndarray,
    starts: np.ndarray,
    coins: np.ndarray,
    carried: np.ndarray,
) -> np.ndarray:
    """Explored features in all their roles, then the carried columns, then padding to a word."""
    n_samples, n_roles = context.shape.n_samples, context.shape.n_roles
    length = subspace.strip_length(context.shape.n_features)
    n_explored = n_roles * len(starts) * length
    n_columns = -(-(n_explored + carried.shape[1]) // 8) * 8
    block = _reuse(scratch, "block", n_samples, n_columns)
    end = n_explored + carried.shape[1]
    block[:, n_explored:end] = carried
    block[:, end:] = 0
    _fill_roles(
        slab.reshape(-1).view(np.uint64),
        starts,
        n_words=length // 8,
        coins=coins,
        permutations=context.permutations,
        n_columns=n_columns // 8,
        block=block.reshape(-1).view(np.uint64),
    )
    return block


def grow_block(
    context: RunContext,
    block: np.ndarray,
    tree_key: int,
    columns: np.ndarray,
    root_column: int = -1,
    *,
    wanders: bool = False,
    samples: Samples | None = None,
    into: Importances | None = None,
) -> tuple[Tree, Importances]:
    """Grow a tree as all trees of the run are; columns: the places that the block holds.

    wanders: split columns at random where there are samples enough to see what comes of it
    samples: instead of those of the run
    """
    samples = samples or context.samples
    settings = replace(context.tree, wander_size=WANDER_SIZE) if wanders else context.tree
    by_subset = None
    if context.splits_by_subset is not None:
        by_subset = np.zeros(block.shape[1], np.bool_)  # padding is not categorical
        last = len(context.splits_by_subset) - 1
        by_subset[: len(columns)] = context.splits_by_subset[np.minimum(columns, last)]
    return grow(
        block,
        samples.target,
        tree_key,
        settings,
        rows=samples.train,
        is_categorical=by_subset,
        root_column=root_column,
        into=into,
    )


def _with_places(tree: Tree, columns: np.ndarray, is_real: np.ndarray) -> Tree:
    """The tree with places instead of columns of a block that is gone; -1 stays for leaves.

    A probe of the feature at place k is -2 - k: no other sample has values of it.
    """
    known = np.where(is_real, columns, -2 - columns)
    places = np.where(tree.column >= 0, known[tree.column], -1).astype(np.int32)
    return replace(tree, column=places)
