"""Why selected features matter: one analysis a file, one shape of result (`AnalysisResult`).

Each is a function of data and target (arrays, data frames, feature stores) or of a `Forest` that
several share, and returns a frozen `AnalysisResult` with a table. `srs.explain` runs many of them.
The descriptor of each stands at the end of its file, see `srs.explain.catalogue`.
"""

from srs.explain.analyses.connectome import connectome
from srs.explain.analyses.context import context
from srs.explain.analyses.context_network import context_network
from srs.explain.analyses.degrees import degrees
from srs.explain.analyses.label_permutation import conditional_error_rate, label_permutation
from srs.explain.analyses.mci import mci
from srs.explain.analyses.mda import mda
from srs.explain.analyses.mdi import mdi
from srs.explain.analyses.network import link_matrix, network
from srs.explain.analyses.one_probe import one_probe
from srs.explain.analyses.per_class import per_class
from srs.explain.analyses.resampling.contrasts import contrasts
from srs.explain.analyses.resampling.feature_permutation import feature_permutation
from srs.explain.analyses.resampling.mda_intervals import mda_intervals
from srs.explain.analyses.umfi import umfi
from srs.explain.analyses.vote_shift import vote_shift
from srs.explain.calcium import simulate_calcium
from srs.explain.forest import Forest, ForestSettings, grow_forest
from srs.explain.matrix import Matrix, open_matrix
from srs.results.analysis import AnalysisResult, make_table

__all__ = [
    "AnalysisResult",
    "Forest",
    "ForestSettings",
    "Matrix",
    "conditional_error_rate",
    "connectome",
    "context",
    "context_network",
    "contrasts",
    "degrees",
    "feature_permutation",
    "grow_forest",
    "label_permutation",
    "link_matrix",
    "make_table",
    "mci",
    "mda",
    "mda_intervals",
    "mdi",
    "network",
    "one_probe",
    "open_matrix",
    "per_class",
    "simulate_calcium",
    "umfi",
    "vote_shift",
]
