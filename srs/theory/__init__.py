"""What theory says of the method: no data, no trees, nothing that a run needs.

`iterations`: how many iterations random subspaces (RS) and sequential random subspaces (SRS) need
until they have found all relevant features. `asymptotic`: importances that infinitely many totally
randomised trees give on a known distribution; `randomised`: those of trees that try more features,
of binary splits and of limited depth; `context`: importances in contexts. `dependence`: which
features are relevant, how, and what they share; `permutation`: mean decrease of accuracy in the
population; `estimated`: the bias and law of estimated information. They follow Sutera, "Importance
measures derived from random forests" (2019), chapters 7, 5, 6, 2 and 4; tests compare them with its
tables and the trees.
"""

from srs.theory.asymptotic import asymptotic_binary_importances, asymptotic_importances
from srs.theory.context import ContextImportances, asymptotic_context
from srs.theory.dependence import (
    Relevance,
    conditional_information,
    is_markov_blanket,
    is_redundant_to,
    last_level_importances,
    markov_boundaries,
    minimal_conditionings,
    redundancy,
    redundancy_degree,
    relevance,
    total_correlation,
)
from srs.theory.estimated import EstimatedInformation
from srs.theory.iterations import expected_found, expected_iterations, simulate_iterations
from srs.theory.permutation import additive_mda, correlated_mda, normal_mda, population_mda
from srs.theory.randomised import randomised_importances

__all__ = [
    "ContextImportances",
    "EstimatedInformation",
    "Relevance",
    "additive_mda",
    "asymptotic_binary_importances",
    "asymptotic_context",
    "asymptotic_importances",
    "conditional_information",
    "correlated_mda",
    "expected_found",
    "expected_iterations",
    "is_markov_blanket",
    "is_redundant_to",
    "last_level_importances",
    "markov_boundaries",
    "minimal_conditionings",
    "normal_mda",
    "population_mda",
    "randomised_importances",
    "redundancy",
    "redundancy_degree",
    "relevance",
    "simulate_iterations",
    "total_correlation",
]
