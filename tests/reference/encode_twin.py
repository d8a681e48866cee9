"""The obvious way to encode one numeric feature, to compare `srs.ingest.encode.codes` with."""

import math
from collections import Counter

MISSING, MAX_LEVELS = 255, 255


def encode_twin(values: list[float]) -> tuple[list[int], int]:
    """Codes and number of levels: exact levels where there are few, else bins of ranks."""
    counts = Counter(v for v in values if not math.isnan(v))
    distinct = sorted(counts)
    n_valid = sum(counts.values())
    if len(distinct) <= MAX_LEVELS:
        bin_of = {v: i for i, v in enumerate(distinct)}
    else:
        bin_of, below = {}, 0
        for v in distinct:
            middle_twice = 2 * below + counts[v] - 1  # of the ranks below .. below + count - 1
            bin_of[v] = middle_twice * MAX_LEVELS // (2 * n_valid)
            below += counts[v]
    number = {b: i for i, b in enumerate(sorted(set(bin_of.values())))}
    codes = [MISSING if math.isnan(v) else number[bin_of[v]] for v in values]
    return codes, len(number)
