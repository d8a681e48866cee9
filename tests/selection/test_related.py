"""Related samples: families are found, populations and unrelated samples are not taken for them."""

import numpy as np
import pytest

import srs
from srs.selection.cautions.related import MISSING, find_related


def gametes(rng, parents):
    """One allele of each locus of diploid parents, (n, 2, m), drawn at random."""
    n, _, m = parents.shape
    side = rng.integers(0, 2, (n, m))
    return np.where(side == 0, parents[:, 0], parents[:, 1])


def make_families(seed, n_families=40, m=1_500, n_populations=1):
    """Dosages of 200 unrelated samples, of families of two parents and two children, of twins, and
    which pairs are related."""
    rng = np.random.default_rng((seed, 31))
    base = rng.uniform(0.1, 0.9, m)
    shares = np.clip(base + 0.15 * rng.normal(size=(n_populations, m)) * (n_populations > 1), 0, 1)
    n = 200 + 2 * n_families
    population = rng.integers(0, n_populations, n)
    alleles = (rng.random((n, 2, m)) < shares[population][:, None]).astype(np.uint8)
    parents = alleles[200:].reshape(n_families, 2, 2, m)
    children = [
        np.stack([gametes(rng, parents[:, 0]), gametes(rng, parents[:, 1])], axis=1)
        for _ in range(2)
    ]
    dosages = np.concatenate([alleles, *children, alleles[:5]]).sum(axis=1, dtype=np.uint8)
    first, second = 200 + 2 * np.arange(n_families), 201 + 2 * np.arange(n_families)
    one = n + np.arange(n_families)
    two = one + n_families
    near = [(first, one), (first, two), (second, one), (second, two), (one, two)]
    related = {tuple(pair) for a, b in near for pair in zip(a.tolist(), b.tolist(), strict=True)}
    return dosages, related, {(i, n + 2 * n_families + i) for i in range(5)}


@pytest.mark.parametrize("n_populations", [1, 3])
def test_families_are_found_and_nothing_else(n_populations, global_random_seed):
    dosages, related, copies = make_families(global_random_seed, n_populations=n_populations)
    dosages[np.random.default_rng(0).random(dosages.shape) < 0.02] = MISSING
    found = find_related(dosages)
    pairs = {tuple(pair) for pair in found.pairs.tolist()}
    assert pairs >= related | copies
    # Copies of unrelated samples have no relatives among the others.
    assert len(pairs - related - copies) <= 0.02 * len(related)
    assert found.n_copies == len(copies)
    assert {tuple(pair) for pair in found.pairs[:5].tolist()} == copies


@pytest.mark.parametrize("n_populations", [1, 3])
def test_unrelated_samples_are_silent(n_populations, global_random_seed):
    dosages, _, _ = make_families(global_random_seed, n_populations=n_populations)
    assert find_related(dosages[:200]) is None


def test_a_run_warns(tmp_path, global_random_seed):
    to_bed = pytest.importorskip("bed_reader").to_bed
    dosages, _, _ = make_families(global_random_seed, n_families=10)
    y = np.random.default_rng(1).integers(0, 2, len(dosages))
    family = np.arange(len(dosages))
    for first in range(200, 220, 2):
        at = (first - 200) // 2
        family[[first, first + 1, 220 + at, 230 + at]] = first
    family[240:245] = family[:5]
    to_bed(tmp_path / "x.bed", dosages.astype(np.float32))
    store = srs.ingest(tmp_path / "x.bed", target={"y": y, "family": family})
    quick = {"max_trees": 4, "pairs": "off"}
    cautions = [c for c in srs.select(store, **quick).cautions if c["kind"] == "related"]
    assert len(cautions) == 1
    assert "5 pairs of samples are copies or twins and 50 pairs" in cautions[0]["sentence"]
    assert "subjects" in cautions[0]["sentence"]
    kinds = [c["kind"] for c in srs.select(store, subjects="family", **quick).cautions]
    assert "related" not in kinds
    kinds = [c["kind"] for c in srs.select(store, samples=range(200), **quick).cautions]
    assert "related" not in kinds
