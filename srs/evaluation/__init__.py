"""How well a selection predicts samples that it has not seen, and how stable its list is."""

from srs.evaluation.outcome import Evaluation, load_evaluation
from srs.evaluation.run import evaluate

__all__ = ["Evaluation", "evaluate", "load_evaluation"]
