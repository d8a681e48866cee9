"""What theory says of the method: no data, no trees, nothing that a run needs.

`iterations`: how many iterations random subspaces (RS) and sequential random subspaces (SRS) need
until they have found all relevant features. `asymptotic`: importances that infinitely many totally
randomised trees give on a known distribution; `context`: the same in contexts. They follow Sutera,
"Importance measures derived from random forests" (2019), chapters 7, 5 and 6; tests compare them
with its tables and the trees.
"""

from srs.theory.asymptotic import asymptotic_binary_importances, asymptotic_importances
from srs.theory.context import ContextImportances, asymptotic_context
from srs.theory.iterations import expected_found, expected_iterations, simulate_iterations

__all__ = [
    "ContextImportances",
    "asymptotic_binary_importances",
    "asymptotic_context",
    "asymptotic_importances",
    "expected_found",
    "expected_iterations",
    "simulate_iterations",
]
