"""Turn (run seed, purpose, numbers) into random states; nothing else may make one.

Every random choice follows from the run's seed and the place where it is made, never from what
was drawn before, on which thread, or in which order. So a batch can be repeated anywhere.
"""

from __future__ import annotations

import numpy as np

PROBES, PASS_ORDER, BATCH, ITERATION, HOLDOUT, MINIMAL, SETS = range(7)
CAUTIONS = 16
EVALUATION = 24  # folds, seeds of their runs, and what predicts
EXPLAIN = 32  # analyses of `srs.explain.analyses` number their own purposes after it


def make_rng(seed: int, purpose: int, *numbers: int) -> np.random.Generator:
    """The random generator of one purpose, e.g. `make_rng(seed, BATCH, pass_index, batch_index)`.

    >>> a, b = make_rng(0, BATCH, 3, 1), make_rng(0, BATCH, 3, 1)
    >>> bool(a.integers(1 << 62) == b.integers(1 << 62))
    True
    """
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(purpose, *numbers)))
    )


def draw_tree_key(rng: np.random.Generator) -> int:
    """A key for the tree kernel, which derives all randomness of one tree from it."""
    return int(rng.integers(0, 1 << 64, dtype=np.uint64))


def probe_permutations(
    seed: int, n_roles: int, n_samples: int, groups: tuple[np.ndarray, ...] = ()
) -> np.ndarray:
    """One permutation of the samples for each role, int32 (n_roles, n_samples); role 0 is identity.

    Samples are put at random into sets of n_roles, and role g sends member x of a set to member
    x XOR g. So the permutations form a group: the probe of a probe is the feature itself or
    another of its probes. That makes features and probes exchangeable to the letter (the swap
    test in tests/engine/test_symmetry.py). No sample keeps its own value, but for the few left over
    when n_samples is no multiple of n_roles.

    groups: sets of samples that must not be mixed (training and held-out); () means one set.

    >>> p = probe_permutations(0, 2, 6)
    >>> bool((p[1][p[1]] == p[0]).all()), bool((p[1] != p[0]).all())
    (True, True)
    """
    if n_roles & (n_roles - 1):
        raise ValueError(f"the number of roles must be a power of two, not {n_roles}")
    permutations = np.tile(np.arange(n_samples, dtype=np.int32), (n_roles, 1))
    rng = make_rng(seed, PROBES)
    for group in groups or (np.arange(n_samples),):
        members = rng.permutation(group)
        size, start = n_roles, 0
        while start < len(members):
            while size > len(members) - start:
                size //= 2  # what is left over forms smaller sets
            n_sets = (len(members) - start) // size
            sets = members[start : start + n_sets * size].reshape(n_sets, size)
            for role in range(1, n_roles):
                # In a smaller set the leading bits of the role have no meaning; use what is left.
                moved = sets[:, np.arange(size) ^ _fold(role, size)]
                permutations[role, sets.ravel()] = moved.ravel()
            start += n_sets * size
    return permutations


def _fold(role: int, size: int) -> int:
    """Fold the bits of a role onto fewer bits, so that small sets are permuted too (XOR-linear)."""
    folded = 0
    while role:
        folded ^= role & (size - 1)
        role //= max(size, 2)
    return folded
