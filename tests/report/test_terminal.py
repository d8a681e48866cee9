"""The summary for the terminal."""

from __future__ import annotations

import copy

from srs.report import render_terminal
from srs.report.text import clean_name
from srs.results.result import Result


def test_summary_says_what_was_found_and_where(found: Result) -> None:
    text = render_terminal(found.document, "run1")
    assert text.startswith(f"{len(found.relevant_ids)} of 120 features are relevant")
    assert "gene 60" in text
    assert "Accuracy" in text
    assert "Files in run1" in text
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
    assert max(len(line) for line in text.splitlines()) < 110


def test_clean_name_makes_any_text_printable() -> None:
    for name in ("plain", "tab\tnew\nline", "\x00\x7f\x9b", "\udc80", "\u202edesrever", "x" * 999):
        assert clean_name(name).isprintable()
        assert len(clean_name(name)) < 1_000
    assert clean_name("gène 5 基因") == "gène 5 基因"
