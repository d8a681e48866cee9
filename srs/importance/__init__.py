"""Why selected features matter: one analysis a file, one shape of result (`Analysis`).

Each is a function of data and target (arrays, data frames, feature stores) or of a `Forest` that
several share, and returns a frozen `Analysis` with a table. `srs.explain` runs many of them.
"""

from srs.importance.analysis import Analysis
from srs.importance.calcium import simulate_calcium
from srs.importance.connectome import connectome
from srs.importance.context import context
from srs.importance.context_network import context_network
from srs.importance.forest import Forest, ForestSettings, grow_forest
from srs.importance.label_permutation import conditional_error_rate, label_permutation
from srs.importance.matrix import Matrix, open_matrix
from srs.importance.mci import mci
from srs.importance.mda import mda
from srs.importance.mdi import mdi
from srs.importance.network import link_matrix, network
from srs.importance.one_probe import one_probe
from srs.importance.per_class import per_class
from srs.importance.umfi import umfi
from srs.importance.vote_shift import vote_shift

__all__ = [
    "Analysis",
    "Forest",
    "ForestSettings",
    "Matrix",
    "conditional_error_rate",
    "connectome",
    "context",
    "context_network",
    "grow_forest",
    "label_permutation",
    "link_matrix",
    "mci",
    "mda",
    "mdi",
    "network",
    "one_probe",
    "open_matrix",
    "per_class",
    "simulate_calcium",
    "umfi",
    "vote_shift",
]
