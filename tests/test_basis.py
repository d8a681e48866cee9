"""What a result says of how its verdicts were reached."""

import numpy as np
import pytest

import srs
from tests.planted import make_store


def many_effects(n_relevant: int, **settings: object) -> srs.Result:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 600))
    y = (X[:, :n_relevant].sum(axis=1) + 0.5 * rng.normal(size=300) > 0).astype(int)
    return srs.select(make_store(X, y), seed=0, max_trees=200, **settings)


def test_the_other_rule_is_a_second_opinion():
    by_tail, by_knockoff = many_effects(12), many_effects(12, rule="knockoff")
    for result, other in ((by_tail, by_knockoff), (by_knockoff, by_tail)):
        basis = result.document["outcome"]["basis"]
        opinion = basis["second_opinion"]
        assert opinion["rule"] == other.document["outcome"]["basis"]["rule"]
        assert opinion["n_agreed"] <= min(opinion["n_relevant"], len(result.relevant_ids))


def test_kinds_share_the_rate_and_name_their_tails():
    basis = many_effects(3).document["outcome"]["basis"]
    assert [kind["kind"] for kind in basis["kinds"]] == ["used", "screened", "peak"]
    assert sum(kind["weight"] for kind in basis["kinds"]) == pytest.approx(1, abs=1e-5)
    for kind in basis["kinds"]:
        assert 0 <= kind["n_fitted"] <= kind["n_strata"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "checked; where it does not fit"),
        ({"rule": "knockoff"}, "The rule by p-values, as a second opinion"),
        ({"mode": "paper"}, "It has no null"),
    ],
)
def test_the_report_says_which_rule_was_used_and_why(tmp_path, settings, words):
    many_effects(3, **settings).save(tmp_path)
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert "What the verdicts rest on" in page
    assert words in page


def test_too_few_probes_for_a_tail_are_said_to_be_ranks(tmp_path):
    """Guards the fallback: with two values of a null, nothing can be fitted."""
    X = np.random.default_rng(0).integers(0, 2, (60, 6))
    srs.select(make_store(X, np.arange(60) % 2), max_trees=100).save(tmp_path)
    assert "ranks: no tail could be fitted" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("n_features", "found"), [(5, False), (6, True)])
def test_so_few_features_that_none_can_be_found_are_said(n_features, found, caplog):
    X = np.random.default_rng(0).normal(size=(200, n_features))
    result = srs.select(make_store(X, (X[:, 0] > 0).astype(int)), seed=0)
    notices = result.document["data"]["notices"]
    assert (0 in result.relevant_ids) == found
    assert any("no p-value can get small enough" in notice for notice in notices) != found
    assert ("select from 6 or more" in caplog.text) != found
