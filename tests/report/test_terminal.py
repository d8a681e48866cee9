"""The summary for the terminal."""

from __future__ import annotations

import copy

from srs.report import render_terminal
from srs.report.text import clean_name, surest_first
from srs.results.result import Result


def test_summary_says_what_was_found_and_where(found: Result) -> None:
    text = render_terminal(found.document, "run1")
    assert text.startswith(f"{len(found.relevant_ids)} of 120 features are relevant")
    assert "gene 60" in text
    assert "Accuracy" in text
    assert "Files in run1: report.html, features.parquet, effects.parquet, profiles.parquet" in text
    assert "memory" in text
    assert all(line.isprintable() for line in text.splitlines())


def test_summary_counts_groups(found: Result, nothing: Result) -> None:
    n, groups = len(found.relevant_ids), len(found.groups)
    assert f"\n{n} relevant features in {groups} groups" in render_terminal(found.document)
    assert " in 0 groups" not in render_terminal(nothing.document)


def test_summary_of_every_kind_of_run(any_result: Result) -> None:
    text = render_terminal(any_result.document)
    assert "Files in" not in text
    assert any_result.stop_reason.split()[0] in text


def test_summary_without_findings(nothing: Result) -> None:
    assert "No feature could be distinguished from chance" in render_terminal(nothing.document)


def test_summary_lists_twenty(found: Result) -> None:
    document = copy.deepcopy(dict(found.document))
    row = document["outcome"]["relevant"][0]
    document["outcome"]["relevant"] = [row | {"name": f"n{i}" * 99} for i in range(50)]
    text = render_terminal(document)
    assert "... and 30 more" in text
    assert max(len(line) for line in text.splitlines()) < 120


def test_clean_name_makes_any_text_printable() -> None:
    for name in ("plain", "tab\tnew\nline", "\x00\x7f\x9b", "\udc80", "\u202edesrever", "x" * 999):
        assert clean_name(name).isprintable()
        assert len(clean_name(name)) < 1_000
    assert clean_name("gène 5 基因") == "gène 5 基因"


def test_summary_has_cautions(found: Result) -> None:
    document = copy.deepcopy(dict(found.document))
    sentence = "bad\x1b[31m tells the target with almost no error."
    document["outcome"]["cautions"] = [{"kind": "target", "sentence": sentence, "feature_ids": [1]}]
    text = render_terminal(document)
    assert "\nCaution: bad\\x1b[31m tells the target" in text
    assert "Caution" not in render_terminal(found.document)


def test_the_surest_come_first_and_of_these_the_strongest(found: Result) -> None:
    """Guards the order: q-values far below the rate are equal, and then strength decides."""
    document = copy.deepcopy(dict(found.document))
    row = document["outcome"]["relevant"][0]
    made = [
        ("tail", 1e-30, 0.01),
        ("strongest", 2e-5, 0.5),
        ("floor", 1e-4, 0.2),
        ("less sure", 0.0011, 0.9),
        ("unused", 1e-9, 0.0),
        ("unsure", 0.09, 2.0),
    ]
    document["settings"]["fdr"] = 0.1
    document["outcome"]["relevant"] = [
        {**row, "name": name, "q_value": q, "p_value": q / 100, "importance": strength}
        for name, q, strength in made
    ]
    ordered = [row["name"] for row in surest_first(document)]
    assert ordered == ["strongest", "floor", "tail", "unused", "less sure", "unsure"]
    shown = render_terminal(document)
    assert sorted(ordered, key=shown.index) == ordered
    document["settings"]["mode"] = "paper"
    assert surest_first(document)[0]["name"] == "tail"
