"""How far to trust a selection: how well it predicts samples that it has not seen, how stable its
list is, how it compares with another, and whether it can be repeated."""

from srs.evaluation.comparison import Comparison, compare
from srs.evaluation.outcome import Evaluation, load_evaluation
from srs.evaluation.run import evaluate
from srs.evaluation.verification import Verification, verify

__all__ = [
    "Comparison",
    "Evaluation",
    "Verification",
    "compare",
    "evaluate",
    "load_evaluation",
    "verify",
]
