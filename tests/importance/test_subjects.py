"""Samples of one subject in `srs.explain`: in or out of a bag together, permuted as wholes."""

import numpy as np
import pytest

import srs
from srs.exchange import permute_subjects
from srs.importance import open_matrix
from srs.importance.forest import draw_bags
from srs.importance.score import oob_score


def of_subjects(seed, m=40, k=4):
    """Samples of subjects that are nearly copies; the target of a subject is a coin."""
    rng = np.random.default_rng(seed)
    who, status = np.repeat(np.arange(m), k), rng.permutation(m) % 2
    X = rng.normal(size=(m, 4))[who] + 0.1 * rng.normal(size=(m * k, 4))
    return srs.ingest(X, target={"y": status[who], "who": who.astype(str)}), who


def test_subjects_are_out_of_bag_together(global_random_seed):
    """Guards bootstraps: with a copy of each sample in the bag, noise predicts."""
    store, who = of_subjects(global_random_seed)
    kept = srs.explain(store, analyses=["mda"], n_trees=100, subjects="who")
    plain = srs.explain(store, analyses=["mda"], n_trees=100)
    largest = plain["mda"].column("value").max()
    assert largest > 0.05
    assert kept["mda"].column("value").max() < largest / 2
    matrix = open_matrix(store)
    given = (matrix.codes, matrix.is_categorical, matrix.tree_target, 100, (0, 99))
    assert oob_score(*given) > 0.3
    assert oob_score(*given, subjects=who) < 0.2
    for bag in draw_bags(0, (1,), 0, 5, len(who), who)[1]:
        counts = np.bincount(bag, minlength=len(who)).reshape(-1, 4)
        assert ((counts > 0).all(axis=1) | (counts == 0).all(axis=1)).all()


def test_subjects_are_permuted_as_wholes():
    """Guards p-values of permuted labels: copies of a subject are one observation."""
    subjects = np.repeat(np.arange(9), [3, 3, 3, 3, 2, 2, 2, 2, 5])
    order = permute_subjects(subjects, np.random.default_rng(0))
    assert sorted(order) == list(range(len(subjects)))
    for subject in range(9):
        assert len(np.unique(subjects[order[subjects == subject]])) == 1
    assert (subjects[order] != subjects).any()
    store, _ = of_subjects(0)
    requests = [("label-permutation", {"n_trees": 10, "n_permutations": 19}), "mci"]
    found = srs.explain(store, analyses=requests, subjects="who")
    assert found.settings["subjects"] == "who"
    assert found["label-permutation"].column("p_value").min() >= 0.05
    with pytest.raises(srs.SRSError, match="one-probe does not keep"):
        srs.explain(store, analyses=["one-probe"], subjects="who")
