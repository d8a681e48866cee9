"""The page: one HTML file that needs nothing from outside and reads fine without scripts.

Its parts come from `overview`, `signals`, `features`, `effects`, `pairs`, `sets`, `explained`,
`prediction` and `background`, its looks from `style`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from srs.report import background, features, overview
from srs.report.effects import clusters, effects, scan
from srs.report.explained import explanation_parts
from srs.report.figures.charts import CHART_CSS
from srs.report.figures.effects import EFFECT_CSS
from srs.report.figures.interactions import INTERACTION_CSS
from srs.report.figures.scan import SCAN_CSS
from srs.report.grounds import grounds
from srs.report.markup import page
from srs.report.pairs import conditions, pairs
from srs.report.prediction import prediction
from srs.report.sets import sets
from srs.report.signals import signals
from srs.report.style import CSS, SCRIPT
from srs.report.text import headline

if TYPE_CHECKING:
    from srs.results.feature_table import FeatureTable


def render_html(
    document: Mapping[str, Any], table: FeatureTable, explanation: Mapping[str, Any] | None = None
) -> str:
    """The report of a run.

    document     what result.json holds, see `srs.report`
    table        one row a feature, see `srs.results.result.Result`
    explanation  what explain.json holds, if the run was explained
    """
    parts = [
        overview.cautions(document),
        signals(document),
        features.relevant_features(document, table),
        effects(document),
        clusters(document),
        pairs(document),
        conditions(document),
        features.pinned_features(document),
        sets(document),
        *(explanation_parts(explanation) if explanation else ()),
        scan(document),
        overview.convergence(document),
        overview.evidence(document),
        prediction(document),
        background.verdicts(document, table),
        grounds(document),
        background.data(document),
        background.settings(document),
        background.cost(document),
    ]
    body = "\n".join(part for part in parts if part)
    css = CSS + CHART_CSS + INTERACTION_CSS + EFFECT_CSS + SCAN_CSS
    return page(headline(document), css, overview.hero(document), body, SCRIPT)
