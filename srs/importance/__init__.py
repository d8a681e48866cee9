"""Why selected features matter: one analysis a file, one shape of result (`Analysis`).

Each is a function of data and target (arrays, data frames, feature stores) or of a `Forest` that
several share, and returns a frozen `Analysis` with a table. `srs.explain` runs many of them.
"""

from srs.importance.analysis import Analysis
from srs.importance.context import context
from srs.importance.forest import Forest, ForestSettings, grow_forest
from srs.importance.matrix import Matrix, open_matrix
from srs.importance.mda import mda
from srs.importance.mdi import mdi
from srs.importance.vote_shift import vote_shift

__all__ = [
    "Analysis",
    "Forest",
    "ForestSettings",
    "Matrix",
    "context",
    "grow_forest",
    "mda",
    "mdi",
    "open_matrix",
    "vote_shift",
]
