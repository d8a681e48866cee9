"""Run benchmarks by name, or all: `python -m benchmarks [kernel share madelon ...]`.

The last of them, `page`, measures nothing: it writes the page of what is committed.

Timings of a shared machine are noisy: compare ratios, which come from one run. Ends with 1 when a
bar was missed.
"""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "kernel",
    "univariate_kernel",
    "share",
    "store_chunks",
    "madelon",
    "verdict",
    "small",
    "pairs",
    "pair_kernel",
    "many_targets",
    "calibration",
    "agreement",
    "planning",
    "remaining",
    "million",
    "ingest_npy",
    "paper",
    "cluster",
    "explain",
    "formats",
    "genotypes",
    "service",
    "page",
)


def main(names: list[str]) -> int:
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"there is no benchmark {unknown.pop()!r}; there are {', '.join(NAMES)}.")
        return 2
    n_missed = 0
    for name in names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{name}: {module.__doc__.splitlines()[0]}", flush=True)
        for line in module.run():
            line.show()
            n_missed += line.met is False
    return 1 if n_missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
