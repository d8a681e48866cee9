"""The analyses of `srs`, in the order in which they are offered: one descriptor a function.

A new analysis is one new file of `srs.explain.analyses`, which holds the function and its
descriptor, and a name in the tuple here. Then

    make generate        # or: python -m srs.explain.catalogue

copies the descriptors to `srs.catalogue`, where they are read without loading the functions.
"""

from __future__ import annotations

from srs.catalogue.index import INDEX, index_text
from srs.explain.analyses.connectome import CONNECTOME_ANALYSIS
from srs.explain.analyses.context import CONTEXT_ANALYSIS
from srs.explain.analyses.context_network import CONTEXT_NETWORK_ANALYSIS
from srs.explain.analyses.degrees import DEGREES_ANALYSIS
from srs.explain.analyses.label_permutation import (
    CONDITIONAL_ERROR_RATE_ANALYSIS,
    LABEL_PERMUTATION_ANALYSIS,
)
from srs.explain.analyses.mci import MCI_ANALYSIS
from srs.explain.analyses.mda import MDA_ANALYSIS
from srs.explain.analyses.mdi import MDI_ANALYSIS
from srs.explain.analyses.network import NETWORK_ANALYSIS
from srs.explain.analyses.one_probe import ONE_PROBE_ANALYSIS
from srs.explain.analyses.per_class import PER_CLASS_ANALYSIS
from srs.explain.analyses.resampling.contrasts import CONTRASTS_ANALYSIS
from srs.explain.analyses.resampling.feature_permutation import FEATURE_PERMUTATION_ANALYSIS
from srs.explain.analyses.resampling.mda_intervals import MDA_INTERVALS_ANALYSIS
from srs.explain.analyses.umfi import UMFI_ANALYSIS
from srs.explain.analyses.vote_shift import VOTE_SHIFT_ANALYSIS

ANALYSES = (
    MDI_ANALYSIS,
    MDA_ANALYSIS,
    LABEL_PERMUTATION_ANALYSIS,
    CONDITIONAL_ERROR_RATE_ANALYSIS,
    FEATURE_PERMUTATION_ANALYSIS,
    MDA_INTERVALS_ANALYSIS,
    CONTRASTS_ANALYSIS,
    DEGREES_ANALYSIS,
    CONTEXT_ANALYSIS,
    VOTE_SHIFT_ANALYSIS,
    ONE_PROBE_ANALYSIS,
    PER_CLASS_ANALYSIS,
    UMFI_ANALYSIS,
    MCI_ANALYSIS,
    NETWORK_ANALYSIS,
    CONNECTOME_ANALYSIS,
    CONTEXT_NETWORK_ANALYSIS,
)

if __name__ == "__main__":
    INDEX.write_text(index_text(ANALYSES))
