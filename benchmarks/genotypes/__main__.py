"""`python -m benchmarks.genotypes SAMPLES VARIANTS [SECONDS]`."""

from __future__ import annotations

import sys

from benchmarks.genotypes import run

if __name__ == "__main__":
    samples, variants, *seconds = sys.argv[1:]
    for line in run(int(samples), int(variants), *map(float, seconds)):
        line.show()
