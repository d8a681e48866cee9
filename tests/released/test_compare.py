"""The comparison finds what it must, and nothing else."""

from __future__ import annotations

import pytest

from tests.released import compare
from tests.released.compare import same_outcome

OLD = {
    "schema_version": 1,
    "data": {"notices": ["one thing.", "another."]},
    "outcome": {"relevant": [{"name": "G03", "p_value": 0.001}], "n_trees": 96, "group": None},
    "measured": {"seconds": 1.5},
}


def changed(**parts: object) -> dict[str, object]:
    return {**OLD, **parts}


def test_times_versions_and_wording_may_differ() -> None:
    words = {"notices": ["one thing, in short.", "another one."]}
    same_outcome(changed(schema_version=2, measured={"seconds": 9}, data=words), OLD)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"outcome": {**OLD["outcome"], "n_trees": 97}}, "/outcome/n_trees: 97, released 96"),
        ({"outcome": {**OLD["outcome"], "n_trees": 96.0}}, "/outcome/n_trees: 96.0"),
        ({"outcome": {**OLD["outcome"], "group": 1}}, "/outcome/group: 1, released None"),
        (
            {"outcome": {**OLD["outcome"], "relevant": [{"name": "G03", "p_value": 0.0011}]}},
            "/outcome/relevant/0/p_value: 0.0011, released 0.001",
        ),
        ({"outcome": {**OLD["outcome"], "relevant": []}}, "0 entries, 1 released"),
        ({"outcome": {"relevant": OLD["outcome"]["relevant"]}}, "/outcome/n_trees: only released"),
        ({"more": 1}, "/more: only now"),
        ({"data": {"notices": ["one thing."]}}, "1 sentences, 2 released"),
    ],
)
def test_what_differs_is_named(part: dict[str, object], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        same_outcome(changed(**part), OLD)


def test_renamed_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document may have the present names, or the released ones as it was read."""
    monkeypatch.setattr(compare, "RENAMED", {"n_trees": "trees"})
    same_outcome({"trees": 96}, {"n_trees": 96})
    same_outcome({"n_trees": 96}, {"n_trees": 96})
    with pytest.raises(AssertionError, match="/trees: 95, released 96"):
        same_outcome({"trees": 95}, {"n_trees": 96})
