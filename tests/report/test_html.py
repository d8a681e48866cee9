"""The page: well formed, self-contained, safe, and right about what it says."""

from __future__ import annotations

import copy
import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from srs.report import render_html
from srs.results.feature_table import HeldTable
from srs.results.result import Result
from tests.report.conftest import HOSTILE, Page


def _page(result: Result) -> Page:
    return Page(render_html(result.document, result.all_features))


def _changed(result: Result, **outcome: Any) -> dict[str, Any]:
    document = copy.deepcopy(dict(result.document))
    document["outcome"].update(outcome)
    return document


def test_page_is_well_formed_and_needs_nothing_from_outside(any_result: Result) -> None:
    html = render_html(any_result.document, any_result.all_features)
    page = Page(html)
    assert "http" not in html
    assert "src=" not in html
    assert "@import" not in html
    assert "url(" not in html
    tables = ["features.parquet", "effects.parquet", "profiles.parquet"]
    assert [a["href"] for a in page.all("a")] in ([], tables[:1], tables)
    assert not re.search(r"\b(nan|inf|None)\b", page.text)


def test_page_is_accessible(any_result: Result) -> None:
    page = _page(any_result)
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1
    assert len(page.all("caption")) == len(page.all("table"))
    plots = page.all("svg")
    assert plots
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in plots)
    assert {th.get("scope") for th in page.all("th")} == {"row", "col"}
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_headline_and_promise(found: Result) -> None:
    page = _page(found)
    assert f"{len(found.relevant_ids)} of 120 features are relevant" in page.text
    assert "in the mean over lists, at most 10 % of the listed features are false" in page.text
    assert "the share is at most" not in page.text  # which is the stricter promise
    assert found.stop_reason in page.text


def test_names_from_data_are_shown_and_never_become_markup(found: Result) -> None:
    assert found.relevant_ids[0] == 0
    html = render_html(found.document, found.all_features)
    page = Page(html)
    assert len(page.all("script")) == 1  # ours
    assert not page.all("b")
    assert "<script>alert(1)</script>\"&'\\x1b[31m" in page.text
    assert "<b>ill" in page.text
    assert "\x1b" not in html


def test_table_lists_relevant_features_surest_first(found: Result) -> None:
    row = found.document["outcome"]["relevant"][0]
    rates = ((0.05, 0.001), (0.01, 0.004), (0.02, 0.003), (0.01, 0.002))
    listed = [
        row | {"feature_id": i, "name": f"g{i}", "q_value": q, "p_value": p}
        for i, (q, p) in enumerate(rates)
    ]
    page = Page(render_html(_changed(found, relevant=listed), found.all_features))
    at = {i: page.text.index(f" g{i} {i} ") for i in range(4)}
    assert sorted(at, key=at.__getitem__) == [3, 1, 2, 0]


def test_signals_show_groups_with_names_escaped(found: Result) -> None:
    groups = [
        {
            "group": 1,
            "feature_ids": [60, 0, *range(1, 40)],
            "representative": 60,
            "names": ["<i>x", "<script>y", *(f"s{i}" for i in range(39))],
        },
        {"group": 2, "feature_ids": [70], "names": ["alone"], "representative": 70},
    ]
    document = _changed(found, groups=groups, minimal=[60], ungrouped=3)
    page = Page(render_html(document, found.all_features))
    assert "42 relevant features in 2 groups; 1 of them predicts nearly as well as all" in page.text
    assert "<i>x <script>y , s0 , s1" in page.text
    assert "and 20 more 41 " in page.text
    assert "The 3 least important relevant features were not grouped." in page.text
    assert [attrs for attrs in page.all("i") if "class" not in attrs] == []  # keys of plots have it
    assert len(page.all("script")) == 1


def test_signals_of_a_real_run(found: Result, nothing: Result) -> None:
    assert f"in {len(found.groups)} groups" in _page(found).text
    assert "Signals" not in _page(nothing).text


def test_many_groups_are_cut(found: Result) -> None:
    name = "a very long name " * 40
    groups = [
        {"group": i, "feature_ids": [i] * 50, "names": [name] * 50, "representative": i}
        for i in range(1, 2_001)
    ]
    html = render_html(_changed(found, groups=groups, minimal=[]), found.all_features)
    assert "The 200 most important of 2,000 groups" in html
    assert len(html) < 1_200_000


def test_a_result_from_before_groups_were_made(found: Result) -> None:
    document = _changed(found)
    del document["outcome"]["groups"], document["outcome"]["minimal"]
    assert "Signals" not in Page(render_html(document, found.all_features)).text


def test_pinned_features_stand_apart(found: Result, numeric: Result) -> None:
    assert "1 pinned feature" in _page(found).text
    assert "Pinned features" not in _page(numeric).text


def test_prediction_of_classes(found: Result) -> None:
    rows = found.document["outcome"]["prediction"]
    right = sum(row["truth"] == row["prediction"] for row in rows)
    text = _page(found).text
    assert f"Accuracy {right / len(rows) * 100:.3g} % on 60 held-out samples" in text
    assert "mean over all trees of the run" in text


def test_prediction_of_numbers(numeric: Result) -> None:
    rows = numeric.document["outcome"]["prediction"]
    truth, guess = (np.array([row[k] for row in rows]) for k in ("truth", "prediction"))
    explained = 1 - ((truth - guess) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert f"R² = {explained:.3g} on 60 held-out samples" in _page(numeric).text


def test_prediction_of_a_constant_truth(numeric: Result) -> None:
    rows = [{"sample": "0", "truth": 1.0, "prediction": 1.0}]
    page = Page(render_html(_changed(numeric, prediction=rows), numeric.all_features))
    assert "R² is not defined" in page.text


def test_nothing_found_reads_kindly(nothing: Result) -> None:
    assert len(nothing.relevant_ids) == 0
    text = _page(nothing).text
    assert "0 of 120 features are relevant" in text
    assert "This is a result, not an error" in text
    assert "What you can try" in text
    assert "not findings" in text
    assert "features.parquet" not in text


def test_paper_mode_says_that_it_has_no_p_values(paper: Result) -> None:
    text = _page(paper).text
    said = "does not control the false discovery rate"
    assert said in text
    assert "no p-value" in text
    assert "false discovery rate" not in text.replace(said, "").lower()
    assert "probes: " not in text


def test_one_feature(single: Result) -> None:
    assert "of 1 feature " in _page(single).text


def test_history_with_nothing_to_show(found: Result) -> None:
    for history in ([], [{"n_trees": 16, "n_relevant": 0}]):
        page = Page(render_html(_changed(found, history=history), found.all_features))
        assert "How the list grew" not in page.text


def test_long_history_is_thinned(found: Result) -> None:
    history = [{"n_trees": i, "n_relevant": i % 7} for i in range(1, 100_000)]
    html = render_html(_changed(found, history=history), found.all_features)
    assert len(html) < 100_000


def test_features_never_drawn_are_counted(found: Result) -> None:
    held = found.all_features
    numbers = {**held.numbers, "n_drawn": np.array([0] * 100 + [3] * 20, np.uint32)}
    table = dataclasses.replace(held, numbers=numbers)
    assert "100 features were never drawn" in Page(render_html(found.document, table)).text


def _many(found: Result, n: int) -> tuple[dict[str, Any], HeldTable]:
    rng = np.random.default_rng(0)
    numbers: dict[str, Any] = {
        "verdict": np.arange(n) % 2 * 2,
        "p_value": rng.uniform(size=n),
        "q_value": rng.uniform(size=n),
        "stability": np.full(n, 0.5, "f4"),
        "importance": rng.uniform(size=n).astype("f4"),
        "effect": rng.normal(size=n).astype("f4"),
        "n_drawn": np.full(n, 9, "u4"),
        "n_used": np.full(n, 3, "u4"),
    }
    names = ("IRRELEVANT", "UNDECIDED", "RELEVANT")
    table = HeldTable(numbers, names, None, np.empty(0, np.int64), [])
    listed = [
        {
            "feature_id": i,
            "name": "a very long name " * 40,
            **{k: float(v[i]) for k, v in numbers.items()},
        }
        for i in range(1, n, 2)
    ]
    verdicts = {"RELEVANT": n // 2, "UNDECIDED": 0, "IRRELEVANT": n - n // 2}
    document = _changed(found, verdicts=verdicts, relevant=listed)
    document["data"]["n_features"] = n
    return document, table


@pytest.mark.parametrize("n", [3_000, 100_000])
def test_size_is_bounded(found: Result, n: int) -> None:
    html = render_html(*_many(found, n))
    page = Page(html)
    assert len(html) < 600_000
    assert f"The 500 most certain of {n // 2:,} relevant features" in page.text


def test_plot_ticks_have_no_repeats() -> None:
    from srs.report.figures.plots import Axis

    for high in (1e-9, 0.3, 1.0, 2.2, 7, 112, 99_999, 3e12):
        ticks = Axis(high, "").ticks()
        assert 2 <= len(ticks) <= 12
        assert len(set(ticks)) == len(ticks)
        assert ticks[-1] <= high
    assert Axis(1.15, "", log=True).ticks() == [0.0, 1.0]


def test_cautions_come_first(found: Result) -> None:
    sentence = f"{HOSTILE} tells the target with almost no error."
    cautions = [{"kind": "target", "sentence": sentence, "feature_ids": [0]}]
    page = Page(render_html(_changed(found, cautions=cautions), found.all_features))
    assert page.text.index("tells the target") < page.text.index("Signals")
    assert [a for a in page.all("section") if a["id"] == "cautions"]
    assert not [a for a in _page(found).all("section") if a["id"] == "cautions"]


def test_a_feature_that_no_tree_used_does_not_contradict_its_row(found: Result) -> None:
    """Relevant by another kind of evidence: no negative effect, and a reason."""
    rows = copy.deepcopy(found.document["outcome"]["relevant"])
    rows[0].update(importance=0.0, effect=-0.0123, n_used=0, found_by="screened")
    rows[1].update(found_by="used")
    page = Page(render_html(_changed(found, relevant=rows), found.all_features))
    assert "-0.0123" not in page.text
    assert "1 relevant feature made no split in trees that explored them" in page.text
    assert "found by" in page.text
    assert "screened" in page.text
    assert "made no split" not in _page(found).text
