"""Plots of results and explanations with matplotlib, for papers and notebooks.

Reached as `result.plot` and `explanation.plot`; each plot takes `ax` and returns axes. The report
draws its own figures (`srs.report.figures`), without matplotlib.
"""

from srs.plots.explanations import ExplanationPlots
from srs.plots.results import ResultPlots

__all__ = ["ExplanationPlots", "ResultPlots"]
