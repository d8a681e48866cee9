"""What a result says of how its verdicts were reached."""

import numpy as np
import pytest

import srs
from srs.evidence.registry import USUAL, with_probes
from tests.planted import make_store


def many_effects(n_relevant: int, **settings: object) -> srs.Result:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 600))
    y = (X[:, :n_relevant].sum(axis=1) + 0.5 * rng.normal(size=300) > 0).astype(int)
    return srs.select(make_store(X, y), seed=0, max_trees=200, **settings)


def test_the_other_rule_is_a_second_opinion():
    """Both runs end at their limit of trees, and so with the same evidence."""
    settings = {"evidence": with_probes(USUAL), "guarantee": "confident"}
    by_tail = many_effects(12, **settings)
    by_knockoff = many_effects(12, rule="knockoff", **settings)
    agreed = set(by_tail.relevant_ids.tolist()) & set(by_knockoff.relevant_ids.tolist())
    assert 0 < len(agreed) < len(by_tail.relevant_ids)
    for result, other in ((by_tail, by_knockoff), (by_knockoff, by_tail)):
        opinion = result.document["outcome"]["grounds"]["second_opinion"]
        assert opinion["rule"] == other.document["outcome"]["grounds"]["rule"]
        assert opinion["n_relevant"] == len(other.relevant_ids)
        assert opinion["n_agreed"] == len(agreed)


def test_kinds_share_the_rate_and_name_their_tails():
    basis = many_effects(3).document["outcome"]["grounds"]
    assert [kind["kind"] for kind in basis["kinds"]] == list(USUAL)
    assert sum(kind["weight"] for kind in basis["kinds"]) == pytest.approx(1, abs=1e-5)
    for kind in basis["kinds"]:  # 600 numbers are alike, and their probes enough for a tail
        if kind["kind"] not in with_probes(USUAL):
            assert kind["n_feature_classes"] == 0
            continue
        assert (kind["n_feature_classes"], kind["n_fitted"]) == (1, 1)
        assert kind["heaviest_shape"] > 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "a fitted tail (shape up to"),
        ({"rule": "knockoff"}, "The rule by p-values, as a second opinion"),
        ({"mode": "paper"}, "It has no null"),
    ],
)
def test_the_report_says_which_rule_was_used_and_why(tmp_path, settings, words):
    many_effects(3, **settings).save(tmp_path)
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert "Grounds of the verdicts" in page
    assert words in page


def test_too_few_probes_for_a_tail_are_said_to_be_ranks(tmp_path):
    """Guards the fallback: with two values of a null, nothing can be fitted."""
    X = np.random.default_rng(0).integers(0, 2, (60, 6))
    srs.select(make_store(X, np.arange(60) % 2), max_trees=100).save(tmp_path)
    assert "ranks, because no tail fits" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("n_features", "found"), [(5, False), (6, True)])
def test_so_few_features_that_none_can_be_found_are_said(n_features, found, caplog):
    X = np.random.default_rng(0).normal(size=(200, n_features))
    kinds = with_probes(USUAL)
    result = srs.select(make_store(X, (X[:, 0] > 0).astype(int)), seed=0, evidence=kinds)
    notices = result.document["data"]["notices"]
    assert (0 in result.relevant_ids) == found
    assert any("no p-value can get small enough" in notice for notice in notices) != found
    assert ("select from 6 or more" in caplog.text) != found


def test_exact_tests_need_no_probes():
    """Guards few features: a test of its own finds what ranks among 35 probes cannot."""
    X = np.random.default_rng(0).normal(size=(200, 5))
    result = srs.select(make_store(X, (X[:, 0] > 0).astype(int)), seed=0)
    assert result.relevant_ids.tolist() == [0]
    assert not any("no p-value" in notice for notice in result.document["data"]["notices"])
