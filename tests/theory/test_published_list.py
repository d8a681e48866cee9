"""The list of published numbers (`python -m benchmarks paper`): what follows from theory alone."""

import pytest

from benchmarks.paper.entries import Entry, judge
from benchmarks.paper.exact import exact_entries
from benchmarks.paper.figure_5_5 import candidates
from tests.theory.published import read_tables


def test_every_exact_number_is_within_its_bar() -> None:
    tables = read_tables()
    if tables is None:
        pytest.skip("no reference tables (set SRS_REFERENCE_DATA)")
    entries = list(exact_entries(tables))
    assert len(entries) > 200
    missed = [entry for entry in entries if entry.met is False]
    assert missed == []
    unexplained = [entry for entry in entries if entry.met is None and not entry.note]
    assert unexplained == []
    assert len(list(judge(entries))) == len({entry.place for entry in entries})


def test_entries_tell_what_is_missed() -> None:
    assert Entry("Table", "a", 1.0, 1.2, slack=0.1).met is False
    assert Entry("Table", "a", 1.0, 1.05, slack=0.1).met
    assert Entry("Table", "a", None, 1.05, note="no number").met is None
    lines = list(judge([Entry("Table", "a", 1.0, 1.2, 0.1), Entry("Table", "b", 1.0, 1.0, 0.1)]))
    assert [line.met for line in lines] == [False]


def test_candidate_splits_of_four_levels() -> None:
    """Figures 5.2b, 5.3b and 5.4b, up to which side is called 0."""
    assert set(candidates("one-against-all")) == {
        (0, 0, 0, 1)[::-1],
        (0, 1, 0, 0),
        (0, 0, 1, 0),
        (1, 1, 1, 0),
    }
    assert set(candidates("ordered")) == {(1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0)}
    assert len(set(candidates("unordered"))) == 7
