"""Which samples may change places in probes, where not all of them may: strata and subjects.

A probe is a feature with its samples permuted, so the samples must be exchangeable if the feature
is irrelevant. Samples of one *stratum* (equal in all confounders) are, samples of two strata need
not be. Samples of one *subject* belong together: whole subjects change places, never parts.

As in `seeds.probe_permutations`, which serves where all samples are alike, members of a set of
2, 4 or 8 change places by x XOR g, so that the permutations form a group. Cohorts may be small,
which asks for two things more. In a set smaller than the number of roles several roles must do
the same: which, is drawn for each set (a linear map of roles to exchanges), so that no role leaves
all of them untouched. And a set is left as it is with the chance that a random permutation of the
stratum would have left it: without that, the probe in pairs of a case and a control would be the
feature upside down, and as good as the feature.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from srs.seeds import PROBES, make_rng

KEPT = 0.75  # share of their samples that subjects of unequal numbers must keep to be exchanged
MOVED = 0.5  # share of the samples that could change places, that a draw must move
LIKE = 0.5  # correlation of the target with itself as probes see it, that a draw may have
FEW = 40  # subjects, below which like sizes are as good as equal ones
DRAWS = 30  # of permutations, until one moves enough and turns the target enough


@dataclass(frozen=True)
class Permutations:
    """How samples change places.

    permutations  int32 (n_roles, n_samples): row g makes role g of a feature; row 0 is identity
    left_out      int64: samples that no permutation has a place for: what a subject has more than
                  those that it is exchanged with
    n_moved       samples that at least one permutation moves
    can_move      bool (n_samples,): samples that have others to change places with; a draw may
                  leave some of them where they are
    """

    permutations: np.ndarray
    left_out: np.ndarray
    n_moved: int
    can_move: np.ndarray


def draw_apart(
    seed: int,
    n_roles: int,
    parts: tuple[np.ndarray, ...],
    strata: np.ndarray,
    subjects: np.ndarray | None = None,
    *,
    target: np.ndarray,
) -> Permutations:
    """The first of some draws of `draw_permutations` that moves enough samples, and with subjects
    whose probes do not see the target as it is, or upside down.

    Few subjects change places in few ways: of ten, five of them cases, one draw in thirteen would
    exchange each case with a control, and all probes would be as good as their features. Which
    draw is taken follows from the target and not from any feature, so a feature that tells nothing
    is as likely as its probes to be the best.

    parts   the first holds the training samples
    target  float64 (n_samples, k): numbers, or a column for each class
    """
    rng = make_rng(seed, PROBES)
    draws: list[tuple[float, Permutations]] = []
    train = parts[0]
    centred = target[train] - target[train].mean(axis=0)
    for _ in range(DRAWS):
        found = _draw(rng, n_roles, parts, strata, subjects)
        too_few = found.n_moved < MOVED * found.can_move.sum()
        likeness = 0.0
        if subjects is not None:
            likeness = _likeness(found.permutations, target, train, centred)
        if not too_few and likeness <= LIKE:
            return found
        draws.append((10.0 * too_few + likeness, found))
    return min(draws, key=lambda draw: draw[0])[1]


def _likeness(
    permutations: np.ndarray, target: np.ndarray, train: np.ndarray, centred: np.ndarray
) -> float:
    """The largest correlation, of whichever sign, of the target with itself as a role sees it."""
    total = float((centred**2).sum())
    if total == 0:
        return 0.0
    mean = target[train].mean(axis=0)
    seen = [float((centred * (target[role[train]] - mean)).sum()) for role in permutations[1:]]
    return max((abs(one) / total for one in seen), default=0.0)


def draw_permutations(
    seed: int,
    n_roles: int,
    parts: tuple[np.ndarray, ...],
    strata: np.ndarray,
    subjects: np.ndarray | None = None,
) -> Permutations:
    """Permutations within strata, of whole subjects.

    parts     sets of samples that must not be mixed (training and held-out)
    strata   int (n_samples,): the stratum of each sample
    subjects  int (n_samples,): the subject of each sample; None: each is one by itself

    Subjects change places with subjects that have as many samples of each stratum. Those that have
    no such partner do with others of about their size, if that leaves out few samples (KEPT).

    >>> pairs = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    >>> p = draw_permutations(0, 2, (np.arange(8),), pairs).permutations[1]
    >>> bool((pairs[p] == pairs).all()), int((p != np.arange(8)).sum())
    (True, 4)
    """
    return _draw(make_rng(seed, PROBES), n_roles, parts, strata, subjects)


def _draw(
    rng: np.random.Generator,
    n_roles: int,
    parts: tuple[np.ndarray, ...],
    strata: np.ndarray,
    subjects: np.ndarray | None,
) -> Permutations:
    sets = _Sets(n_roles)
    left_out: list[np.ndarray] = [np.empty(0, np.int64)]
    for part in (part for part in parts if len(part)):
        if subjects is None:
            _deal(sets, part[:, None], strata[part], rng)
        else:
            left_out += _deal_subjects(sets, part, strata, subjects, rng)
    permutations = sets.permute(len(strata), rng)
    moved = (permutations != permutations[0]).any(axis=0)
    left = np.concatenate(left_out)
    return Permutations(permutations, left, int(moved.sum()), sets.members(len(strata)))


def permute_subjects(subjects: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random order of samples in which whole subjects of equal size have changed places.

    >>> permute_subjects(np.array([0, 0, 1, 1, 2]), np.random.default_rng(3))[4]
    np.int64(4)
    """
    mixed = np.lexsort((rng.random(len(subjects)), subjects))
    units = np.split(mixed, np.flatnonzero(np.diff(subjects[mixed])) + 1)
    by_size: dict[int, list[np.ndarray]] = defaultdict(list)
    for unit in units:
        by_size[len(unit)].append(unit)
    order = np.arange(len(subjects))
    for alike in by_size.values():
        stacked = np.stack(alike)
        order[stacked] = stacked[rng.permutation(len(stacked))]
    return order


class _Sets:
    """Sets of samples that change places, by size of the set.

    A row holds one sample of each member; rows of one set move alike.
    """

    def __init__(self, n_roles: int) -> None:
        if n_roles & (n_roles - 1):
            raise ValueError(f"the number of roles must be a power of two, not {n_roles}")
        self.n_roles = n_roles
        self._rows: dict[int, list[np.ndarray]] = defaultdict(list)
        self._n_rows: dict[int, list[np.ndarray]] = defaultdict(list)
        self._fixed: dict[int, list[np.ndarray]] = defaultdict(list)

    def add(self, rows: np.ndarray, n_rows: np.ndarray, n_alike: np.ndarray) -> None:
        """Sets of one size: rows (k, size), rows of each set, and how many could change places."""
        size = rows.shape[1]
        repeats = (self.n_roles / size - 1) / max(self.n_roles - 1, 1)  # maps that move nothing
        self._rows[size].append(rows)
        self._n_rows[size].append(n_rows)
        self._fixed[size].append(np.maximum(0.0, (1.0 / n_alike - repeats) / (1.0 - repeats)))

    def members(self, n_samples: int) -> np.ndarray:
        """bool (n_samples,): which samples are in a set."""
        found = np.zeros(n_samples, bool)
        for rows in (rows for of_size in self._rows.values() for rows in of_size):
            found[rows] = True
        return found

    def permute(self, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        permutations = np.tile(np.arange(n_samples, dtype=np.int32), (self.n_roles, 1))
        for size in sorted(self._rows, reverse=True):
            rows, n_rows = np.concatenate(self._rows[size]), np.concatenate(self._n_rows[size])
            maps = _draw_maps(len(n_rows), size, self.n_roles, rng)
            maps[rng.random(len(n_rows)) < np.concatenate(self._fixed[size])] = 0
            maps = np.repeat(maps, n_rows, axis=0)
            for role in range(1, self.n_roles):
                to = np.arange(size) ^ maps[:, role, None]
                permutations[role, rows] = np.take_along_axis(rows, to, axis=1)
        return permutations


def _draw_maps(n_sets: int, size: int, n_roles: int, rng: np.random.Generator) -> np.ndarray:
    """For each set, a random XOR-linear map of roles onto exchanges, int64 (n_sets, n_roles)."""
    n_bits = n_roles.bit_length() - 1
    if size == n_roles:
        return np.tile(np.arange(n_roles), (n_sets, 1))
    maps = np.zeros((n_sets, n_roles), np.int64)
    todo = np.arange(n_sets)
    while len(todo):
        basis = rng.integers(0, size, (len(todo), n_bits))
        for role in range(n_roles):
            bits = [b for b in range(n_bits) if role >> b & 1]
            maps[todo, role] = np.bitwise_xor.reduce(basis[:, bits], axis=1) if bits else 0
        ordered = np.sort(maps[todo], axis=1)
        onto = (np.diff(ordered, axis=1) != 0).sum(axis=1) == size - 1
        todo = todo[~onto]
    return maps


def _deal(
    sets: _Sets, units: np.ndarray, kinds: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Put units of one kind into sets of n_roles, what is left over into smaller ones.

    units: int (n_units, n_samples of each). Returns which units found no partner.
    """
    n_units, length = units.shape
    order = np.lexsort((rng.random(len(units)), kinds))
    kinds = kinds[order]
    starts = np.flatnonzero(np.r_[True, kinds[1:] != kinds[:-1]])
    counts = np.diff(np.r_[starts, n_units])
    n_alike = np.repeat(counts, counts)
    at = np.arange(n_units) - np.repeat(starts, counts)
    size, taken = sets.n_roles, np.zeros(n_units, np.int64)
    while size > 1:
        here = (at >= taken) & (at < n_alike // size * size)
        members = order[here].reshape(-1, size)
        rows = units[members].transpose(0, 2, 1).reshape(-1, size)
        alike = n_alike[here][::size]
        sets.add(rows, np.full(len(members), length), alike)
        taken = n_alike // size * size
        size //= 2
    return order[at >= taken]


def _deal_subjects(
    sets: _Sets,
    part: np.ndarray,
    strata: np.ndarray,
    subjects: np.ndarray,
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Put whole subjects into sets; returns samples that are left out."""
    # Samples of a subject stand together, by stratum, within that at random.
    ordered = part[np.lexsort((rng.random(len(part)), strata[part], subjects[part]))]
    ends = np.flatnonzero(np.diff(subjects[ordered])) + 1
    units = np.split(ordered, ends)
    by_profile: dict[bytes, list[np.ndarray]] = defaultdict(list)
    for unit in units:
        by_profile[strata[unit].tobytes()].append(unit)
    single: dict[tuple[int, ...], list[np.ndarray]] = defaultdict(list)
    for alike in by_profile.values():
        if len(units) < FEW and len(alike) < sets.n_roles:
            # Chance made some of few subjects equal: always the same exchanges would be left.
            single[tuple(np.unique(strata[alike[0]]).tolist())] += alike
            continue
        stacked = np.stack(alike)
        for unit in stacked[_deal(sets, stacked, np.zeros(len(alike), np.int64), rng)]:
            single[tuple(np.unique(strata[unit]).tolist())].append(unit)
    left_out = []
    for lonely in single.values():
        for alike in _of_like_size(lonely):
            left_out += _deal_unequal(sets, alike, strata, rng)
    return left_out


def _of_like_size(units: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Subjects in runs, by size: the smallest of a run has KEPT of the largest, or more."""
    runs: list[list[np.ndarray]] = []
    for unit in sorted(units, key=len):
        if not runs or len(runs[-1][0]) < KEPT * len(unit):
            runs.append([])
        runs[-1].append(unit)
    return runs


def _deal_unequal(
    sets: _Sets, units: list[np.ndarray], strata: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """Put subjects of about as many samples into sets, at random; returns what is left out."""
    units = [units[at] for at in rng.permutation(len(units))]
    left_out, start = [], 0
    while start < len(units):
        size = sets.n_roles
        while size > 1:
            members = units[start : start + size]
            rows = _common(members, strata)
            if len(members) == size and rows.size >= KEPT * sum(len(u) for u in members):
                sets.add(rows, np.array([len(rows)]), np.array([len(units)]))
                left_out += [np.setdiff1d(unit, rows) for unit in members]
                break
            size //= 2
        start += size
    return left_out


def _common(members: list[np.ndarray], strata: np.ndarray) -> np.ndarray:
    """As many samples of each stratum as all members have, (k, n_members)."""
    counts = [np.unique(strata[unit], return_counts=True) for unit in members]
    least = np.min([count for _, count in counts], axis=0)
    columns = []
    for unit, (levels, _) in zip(members, counts, strict=True):
        firsts = [unit[strata[unit] == c][:n] for c, n in zip(levels, least, strict=True)]
        columns.append(np.concatenate(firsts))
    return np.stack(columns, axis=1)
