"""Exhaustive pairs by bits: the best partner of every feature among all others.

`groups` says which samples are compared, `cuts` and `bits` make features rows of bits, `lanes` and
`kernel` count and compare all pairs of two blocks, `best` is what others call. Arrays in, arrays
out: nothing here knows of stores, runs or verdicts.
"""

from srs.evidence.pairs.best import Best, best_by_owner, best_partners, merge_best, no_best
from srs.evidence.pairs.bits import BitRows, make_bits, tiles_of
from srs.evidence.pairs.cuts import Cuts, choose_cuts
from srs.evidence.pairs.groups import PairGroups, make_groups

__all__ = [
    "Best",
    "BitRows",
    "Cuts",
    "PairGroups",
    "best_by_owner",
    "best_partners",
    "choose_cuts",
    "make_bits",
    "make_groups",
    "merge_best",
    "no_best",
    "tiles_of",
]
