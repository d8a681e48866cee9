"""A cohort as a PLINK file: ten causal variants among many, two of them mostly through a third.

Variants 0 to 7 add to the risk. Variants 8 and 9 raise it in carriers of variant 0, which are half
of the samples, and lower it as much in the others, so that over all samples nearly nothing of them
is left. Other variants are drawn in blocks of a thousand whose samples are permuted
anew for each block: a million variants in seconds, each independent of the phenotype.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.formats.files import dosages

CAUSAL = 10
FREQUENCIES = (0.3, 0.4, 0.35, 0.3, 0.3, 0.35, 0.4, 0.45, 0.4, 0.45)


def write_cohort(path: Path, n_samples: int, n_variants: int, seed: int = 0) -> None:
    """The .bed, .bim and .fam files; phenotypes are in the .fam file."""
    from bed_reader import create_bed

    rng = np.random.default_rng(seed)
    causal = rng.binomial(2, np.array(FREQUENCIES)[:, None], (CAUSAL, n_samples)).astype(np.int8)
    case = rng.random(n_samples) < 1 / (1 + np.exp(-_risk(causal)))
    places = np.sort(rng.choice(n_variants, CAUSAL, replace=False))
    names = np.array([f"rs{i}" for i in range(n_variants)], dtype=object)
    names[places] = [f"causal{i}" for i in range(CAUSAL)]
    properties = {
        "iid": [f"i{i}" for i in range(n_samples)],
        "sid": names.tolist(),
        "pheno": np.where(case, "2", "1").tolist(),
        "chromosome": (1 + np.arange(n_variants) * 22 // n_variants).astype(str).tolist(),
        "bp_position": np.arange(n_variants),
    }
    block = dosages(n_samples, seed)
    at = dict(zip(places.tolist(), range(CAUSAL), strict=True))
    with create_bed(path, iid_count=n_samples, sid_count=n_variants, properties=properties) as bed:
        for first in range(0, n_variants, len(block)):
            turned = block[:, rng.permutation(n_samples)]
            for row in range(min(len(block), n_variants - first)):
                number = at.get(first + row)
                bed.write(turned[row] if number is None else causal[number])


def _risk(causal: np.ndarray) -> np.ndarray:
    centred = causal - causal.mean(axis=1, keepdims=True)
    risk = 0.9 * centred[:8].sum(axis=0)
    sign = np.where(causal[0] > 0, 1, -1)
    return np.asarray(risk + sign * (centred[8] + centred[9]))
