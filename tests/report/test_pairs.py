"""What page and terminal say of pairs, conditions, directions and the promise."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from srs.report import render_html, render_terminal
from srs.report.figures.interactions import interaction_plot
from srs.results.result import Result
from tests.report.conftest import HOSTILE, Page

MEANS = ("mean_low_low", "mean_high_low", "mean_low_high", "mean_high_high")


def pair(**changed: Any) -> dict[str, Any]:
    row = {
        "feature_id": 3,
        "name": "f3",
        "partner_id": 8,
        "partner": HOSTILE,
        "statistic": 60.5,
        "p_value": 1e-14,
        "q_value": 1e-9,
        "kind": "crossing",
        "low": 0.6,
        "high": -0.5,
        **dict(zip(MEANS, (0.2, 0.8, 0.75, 0.25), strict=True)),
    }
    return row | changed


def changed(result: Result, settings: dict[str, Any] | None = None, **outcome: Any) -> Any:
    document = copy.deepcopy(dict(result.document))
    document["outcome"].update(outcome)
    document["settings"] = {**document["settings"], **(settings or {})}
    return document


def text_of(document: Any, result: Result) -> str:
    return Page(render_html(document, result.all_features)).text


def test_pairs_are_listed_drawn_and_escaped(found: Result) -> None:
    joint = pair(kind="joint", low=None, high=None, **dict.fromkeys(MEANS))
    document = changed(found, pairs=[pair() for _ in range(6)] + [joint])
    page = Page(render_html(document, found.all_features))
    assert "Features that matter together All 7,140 pairs of features were looked at" in page.text
    assert "7 pairs, the most certain first" in page.text
    assert "opposite effects at the two ends of the partner 1e-14 1e-09 +0.6 −0.5" in page.text
    assert "only in combination, without a direction 1e-14 1e-09 – –" in page.text
    without = Page(render_html(changed(found, pairs=[]), found.all_features))
    n_small = [len([s for s in p.all("svg") if s.get("class") == "small"]) for p in (page, without)]
    assert n_small[0] == n_small[1] + 4
    assert len(page.all("script")) == 1
    cells = {
        "levels": ["0", HOSTILE],
        "partner_levels": ["lower half", "upper half"],
        "group": HOSTILE,
        "counts": [[10, 0], [7, 1234]],
        "values": [[0.1, None], [0.5, 0.9]],
        "low": [[0.05, None], [0.2, 0.8]],
        "high": [[0.2, None], [0.8, 0.95]],
    }
    drawn = Page(render_html(changed(found, pairs=[pair(cells=cells)]), found.all_features))
    assert "n = 1,234" in drawn.text
    assert len(drawn.all("script")) == 1
    shown = render_terminal(document, "run1")
    assert "7 pairs of features matter together:\n  f3 with <script>" in shown
    assert "opposite effects at the two ends of the partner (q 1e-09)" in shown
    assert "... and 2 more in the report and pairs.parquet" in shown
    assert "profiles.parquet, pairs.parquet, result.json" in " ".join(shown.split())


def test_no_pair_and_no_look_are_told_apart(found: Result, paper: Result) -> None:
    none = changed(found, pairs=[])
    assert "No pair was found in which what one feature means" in text_of(none, found)
    assert "All pairs of features were looked at; none" in render_terminal(none)
    unseen = changed(found)
    unseen["outcome"].pop("pairs", None)
    reason = "all pairs would take 12 times the time."
    unseen["outcome"]["grounds"]["left_out"] = [{"kind": "pairs", "reason": reason}]
    assert f"Pairs were not looked at: {reason}" in text_of(unseen, found)
    assert f"pairs : {reason}" in text_of(unseen, found)  # in the grounds
    assert f"not looked at: {reason}" in render_terminal(unseen)
    assert "matter together" not in text_of(paper.document, paper)
    assert "matter together" not in render_terminal(paper.document)


def test_many_pairs_are_cut(found: Result) -> None:
    rows = [pair(name="a very long name " * 40) for _ in range(2_000)]
    html = render_html(changed(found, pairs=rows), found.all_features)
    assert "The 200 most certain of 2,000 pairs" in html
    assert len(html) < 600_000


def test_conditions_name_the_others(found: Result) -> None:
    row = {
        "feature_id": 5,
        "name": "f5",
        "given_ids": [1, 2],
        "given": ["f1", HOSTILE],
        "p_value": 0.003,
    }
    page = Page(render_html(changed(found, conditions=[row]), found.all_features))
    assert "Found only given others" in page.text
    assert "f5 f1 and <script>alert(1)</script>" in page.text
    assert "Found only given others" not in text_of(found.document, found)


def test_direction_says_which_class_is_up(found: Result, numeric: Result) -> None:
    rows = copy.deepcopy(found.document["outcome"]["relevant"])
    rows[0]["direction"], rows[1]["direction"] = 0.421, -0.3
    text = text_of(changed(found, relevant=rows), found)
    assert "↑ 0.42" in text
    assert "↓ 0.30" in text
    assert "↑: the class well is more frequent where the feature is larger" in text
    assert "↑: the target is larger where the feature is larger" in text_of(
        numeric.document, numeric
    )
    shown = render_terminal(changed(found, relevant=rows))
    assert "direction ↑: the class well is more frequent" in shown
    assert "found by" in shown
    without = [{**row, "direction": 0.0} for row in rows]
    assert "↑" not in render_terminal(changed(found, relevant=without))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "in the mean over lists, at most 10 % of the listed features are false"),
        ({"guarantee": "confident"}, "the share is at most 10 % with 95 % confidence, if features"),
        ({"n_features": 2}, "A fixed number of 2 features was asked for; there is no promise"),
    ],
)
def test_the_promise_is_that_of_the_settings(
    found: Result, settings: dict[str, Any], said: str
) -> None:
    rows = copy.deepcopy(found.document["outcome"]["relevant"])
    rows[0]["q_value"] = 0.37
    document = changed(found, settings, relevant=rows)
    text = text_of(document, found)
    assert text.count(said) == 2  # at the top, and in the grounds
    assert ("The q-value at that cut is 0.37" in text) == ("n_features" in settings)
    assert ("common factor" in text) == ("n_features" not in settings)
    assert said.partition(" ")[0] in render_terminal(document)


def test_grounds_explain_every_kind(found: Result) -> None:
    text = text_of(found.document, found)
    for kind in found.document["outcome"]["grounds"]["kinds"]:
        assert f" {kind['kind']} " in text
    assert "by the Cauchy rule" in text
    assert "a test of its own, without probes" in text
    assert "univariate and pairs have tests of their own and no probes" in text


def test_labels_of_a_plot_do_not_cover_each_other() -> None:
    flat = pair(**dict.fromkeys(MEANS, 0.0), partner="p")
    for row, share in ((flat, True), (flat, False), (pair(partner="p"), True)):
        plot = interaction_plot(row, "share of ill", share=share)
        found = re.findall(r'y="([\d.]+)">(?:lower|upper) half of<', plot)
        first, second = map(float, found)
        assert abs(first - second) >= 30
        assert max(first, second) < 180
        assert plot.count("<circle") == 4
