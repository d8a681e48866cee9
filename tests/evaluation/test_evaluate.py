"""`srs.evaluate`: honest folds, scores with intervals that hold, and the stability of lists."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import cross_val_score

import srs
from srs.evaluation import load_evaluation
from srs.evaluation.folds import join_labels, make_folds
from srs.evaluation.scores import auc, jaccard, r2


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    monkeypatch.setattr("srs.evaluation.run.N_TREES", 60)


def planted(n=160, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 2] - X[:, 5] + rng.normal(0, 0.7, n)


def test_a_good_list_predicts_and_is_stable(tmp_path):
    X, score = planted()
    found = srs.evaluate(X, np.where(score > 0, "case", "control"), folds=3, max_trees=60)
    assert found.score.measure == "auc"
    assert found.score.low < found.score.value < found.score.high
    assert found.score.value > 0.8
    often = found.features.query("frequency == 1.0")["name"].tolist()
    assert {"f2", "f5"} <= set(often)
    assert len(found.predictions) == 160
    assert sorted(found.predictions["sample"].astype(int)) == list(range(160))
    page = (found.save(tmp_path) / "evaluation.html").read_text()
    assert "AUC" in page
    assert load_evaluation(tmp_path).document == found.document
    assert "AUC" in repr(found)
    assert "f2" in found._repr_html_()
    again = srs.evaluate(X, np.where(score > 0, "case", "control"), folds=3, max_trees=60)
    assert {k: v for k, v in again.document.items() if k != "measured"} == {
        k: v for k, v in found.document.items() if k != "measured"
    }


def test_numbers_get_r2():
    X, score = planted()
    found = srs.evaluate(X, score, folds=2, max_trees=60)
    assert found.score.measure == "r2"
    assert 0.2 < found.score.value < 1


def test_selection_outside_of_the_folds_would_look_better(global_random_seed):
    """Noise: a list that saw all samples predicts them. Here it must not: the mean of four scores
    of noise is 0.5 with a standard error of 0.035 (one has 0.07)."""
    settings = {"max_trees": 20, "n_features": 8, "pairs": "off"}
    inside, outside = [], []
    for at in range(4):
        rng = np.random.default_rng([global_random_seed, at])
        X, y = rng.normal(size=(80, 200)), rng.permutation(np.arange(80) % 2)
        found = srs.evaluate(X, y, folds=2, **settings)
        assert (found.folds["n_relevant"] == 8).all()
        inside.append(found.score.value)
        leaked = srs.select(X, y, **settings).relevant_ids
        forest = RandomForestClassifier(60, random_state=at)
        outside.append(cross_val_score(forest, X[:, leaked], y, cv=2, scoring="roc_auc").mean())
    assert np.mean(inside) < 0.65
    assert np.mean(outside) > 0.7


def test_nothing_selected_is_a_half():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 12)), rng.permutation(np.arange(80) % 2)
    found = srs.evaluate(X, y, folds=2, max_trees=40, fdr=0.001)
    assert found.score.value == 0.5
    assert found.stability is None


def test_subjects_are_whole_and_strata_even(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    subjects = np.repeat(np.arange(40), 4)
    classes = rng.integers(0, 2, 40)[subjects]
    strata = rng.integers(0, 2, 160)
    folds = make_folds(join_labels(classes, True, strata), subjects, 4, global_random_seed, 0)
    for subject in range(40):
        assert len(set(folds[subjects == subject])) == 1
    assert np.bincount(folds).tolist() == [40] * 4
    alone = make_folds(join_labels(classes, True, strata), None, 4, global_random_seed, 0)
    for fold in range(4):
        for one in range(2):
            here = ((alone == fold) & (classes == one) & (strata == 1)).sum()
            assert abs(here - ((classes == one) & (strata == 1)).sum() / 4) <= 2
    with pytest.raises(srs.SRSError, match="5 folds need at least as many subjects"):
        make_folds(classes, np.arange(160) % 3, 5, 0, 0)


def test_samples_of_a_subject_do_not_leak():
    """Each subject has a fingerprint in all features: folds of samples would recognise it."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(30), 6)
    X = rng.normal(size=(30, 40))[who] + 0.1 * rng.normal(size=(180, 40))
    y = rng.permutation(np.arange(30) % 2)[who]
    frame = pd.DataFrame(X).add_prefix("g").assign(y=y, who=who)
    plain = {"folds": 3, "max_trees": 20, "n_features": 10, "pairs": "off"}
    leaky = srs.evaluate(frame.drop(columns="who"), "y", **plain)
    honest = srs.evaluate(frame, "y", subjects="who", **plain)
    assert leaky.score.value > 0.95
    assert honest.score.low < 0.5 < honest.score.high + 0.2
    assert honest.score.n_independent == 30


def test_what_a_confounder_predicts_does_not_count():
    rng = np.random.default_rng(2)
    site = np.arange(200) % 2
    X = rng.normal(size=(200, 10)) + 2.0 * site[:, None]
    y = (rng.random(200) < 0.2 + 0.6 * site).astype(int)
    frame = pd.DataFrame(X).add_prefix("g").assign(y=y, site=site)
    few = {"folds": 2, "max_trees": 40, "n_features": 4, "pairs": "off"}
    assert srs.evaluate(frame.drop(columns="site"), "y", **few).score.value > 0.65
    within = srs.evaluate(frame, "y", confounders=["site"], **few).score
    assert within.low < 0.5 < within.high


def test_scores_are_those_of_scikit_learn(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    classes, score = rng.integers(0, 2, 50), rng.normal(size=50).round(1)
    shares = np.stack([1 - score, score], axis=1)
    one_fold = np.zeros(50, np.int64)
    assert auc(shares, classes, one_fold, np.arange(50)).value == pytest.approx(
        roc_auc_score(classes, score)
    )
    truth, guess = rng.normal(size=50), rng.normal(size=50)
    found = r2(guess, truth, np.full(50, truth.mean()), np.arange(50))
    assert found.value == pytest.approx(r2_score(truth, guess))
    assert jaccard([{1, 2, 3}, {2, 3, 4}]) == 0.5


@pytest.mark.parametrize("kind", ["auc", "auc in pairs", "r2"])
def test_intervals_hold(kind, global_random_seed):
    """Fixed predictions of known quality: 95 % intervals cover it in at least about 92 %."""
    rng = np.random.default_rng(global_random_seed)
    n, n_times, covered = 120, 300, 0
    for _ in range(n_times):
        if kind == "r2":  # truth has variance 2, the prediction takes away half
            guess = rng.normal(size=n)
            found = r2(guess, guess + rng.normal(size=n), np.zeros(n), np.arange(n))
            true = 0.5
        else:
            units = np.arange(n) if kind == "auc" else np.arange(n) // 2
            of_units = (rng.random(n) < 0.5).astype(int)
            classes = of_units[units]
            score = (of_units + rng.normal(size=n))[units]  # both samples of a unit are alike
            found = auc(np.stack([-score, score], 1), classes, np.zeros(n, np.int64), units)
            true = 0.7602499389065233  # normal distribution of 1 / sqrt(2)
        covered += found.low <= true <= found.high
    # A true coverage of 0.92 gives fewer than this in one of 10,000 tests.
    assert covered >= binom.ppf(1e-4, n_times, 0.92)


def test_wrong_settings_are_refused():
    X, y = planted()
    for given, said in (
        ({"folds": 1}, "folds must be a whole number at least 2"),
        ({"repeats": 0}, "repeats must be a whole number at least 1"),
        ({"holdout": 0.2}, "holdout is not a setting of an evaluation"),
        ({"fdrr": 0.2}, "fdrr is not a setting"),
    ):
        with pytest.raises(srs.SRSError, match=said):
            srs.evaluate(X, y, **given)
    with pytest.raises(srs.SRSError, match="has no evaluation"):
        load_evaluation("nowhere")
