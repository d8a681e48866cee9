"""A PLINK file ingested and selected within 2 GB: ten causal variants, two of them by a third.

`python -m benchmarks.genotypes 10000 1000000` is the size of the bar (samples, variants); as one of
all benchmarks a reduced size runs. Univariate tests run on the same file and cores.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.genotypes.cohort import CAUSAL, write_cohort
from benchmarks.genotypes.univariate import rank_by_tests
from benchmarks.measure import Line, run_child, temporary_folder

N_SAMPLES, N_VARIANTS, MEMORY = 2000, 100_000, "2GB"
INGEST = """
import json, sys, time, srs
start = time.perf_counter()
srs.ingest(sys.argv[1], sys.argv[2], target="phenotype", memory="2GB")
from srs.memory import peak_mem
print(json.dumps({"seconds": time.perf_counter() - start, "peak_mem": peak_mem()}))
"""
SELECT = """
import json, sys, srs
r = srs.select(sys.argv[1], memory="2GB", fdr=0.1, threads=2, max_seconds=float(sys.argv[2]))
r.save(sys.argv[1] + "-run")
print(json.dumps({**r.document["measured"], "peak_mem": r.peak_mem, "stop": r.stop_reason,
                  "relevant": r.relevant_names, "n_trees": r.n_trees}))
"""


def run(
    n_samples: int = N_SAMPLES, n_variants: int = N_VARIANTS, max_seconds: float = 3600
) -> Iterator[Line]:
    with temporary_folder() as folder:
        source, store = folder / "cohort.bed", folder / "s.zarr"
        write_cohort(source, n_samples, n_variants)
        size = f"{n_samples:,} x {n_variants:,}"
        done = run_child(INGEST, str(source), str(store))
        yield _memory(f"{size}: ingest, {done['seconds']:.0f} s", done["peak_mem"])
        tested = rank_by_tests(source)
        done = run_child(SELECT, str(store), str(max_seconds))
    yield _memory(
        f"{size}: select, {done['seconds']:.0f} s, {done['n_trees']} trees", done["peak_mem"]
    )
    causal = {f"causal{i}" for i in range(CAUSAL)}
    found = set(done["relevant"])
    yield Line(
        "causal variants found at a false discovery rate of 0.1",
        f"{len(found & causal)} of {CAUSAL}, {len(found - causal)} others",
        f"{CAUSAL} of {CAUSAL}",
        found >= causal,
    )
    yield Line("  not found", ", ".join(sorted(causal - found)) or "none")
    yield Line("  ended because", done["stop"])
    hits = [f"causal{i}" for i in range(CAUSAL) if tested.relevant[i]]
    yield Line(
        "chi-squared tests with Benjamini-Hochberg on the same cores",
        f"{tested.seconds:.1f} s: {len(hits)} of {CAUSAL}, {tested.n_others} others",
    )


def _memory(what: str, peak: float) -> Line:
    return Line(f"{what}: peak RSS", f"{peak / 1e6:.0f} MB", "at most 2 GB", peak <= 2e9)
