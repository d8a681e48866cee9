"""Samples of one subject in `srs.explain`: in or out of a bag together, permuted as wholes."""

import numpy as np
import pytest

import srs
from srs.engine.permutations import permute_subjects
from srs.explain.analyses import open_matrix
from srs.explain.forest import draw_bags
from srs.explain.score import oob_score


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
    bags = draw_bags(0, (1,), chunk=0, n_trees=5, n=len(who), subjects=who)[1]
    counts = np.array([np.bincount(bag, minlength=len(who)).reshape(-1, 4) for bag in bags])
    inside, outside = (counts > 0).all(axis=2), (counts == 0).all(axis=2)
    assert (inside | outside).all()
    assert outside.any(axis=1).tolist() == [True] * 5


def test_subjects_are_permuted_as_wholes():
    """Guards p-values of permuted labels: copies of a subject are one observation."""
    subjects = np.repeat(np.arange(9), [3, 3, 3, 3, 2, 2, 2, 2, 5])
    order = permute_subjects(subjects, np.random.default_rng(0))
    assert sorted(order) == list(range(len(subjects)))
    for subject in range(9):
        assert len(np.unique(subjects[order[subjects == subject]])) == 1
    assert (subjects[order] != subjects).any()


def test_labels_of_subjects_are_permuted_as_wholes():
    """Guards p-values: a feature and a target that subjects have by chance, in four samples each,
    seem to belong together where each sample is permuted by itself."""
    p_values = {"who": [], None: []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        who, status = np.repeat(np.arange(40), 4), rng.permutation(40) % 2
        X = rng.normal(size=(160, 4))
        X[:, 0] = rng.normal(size=40)[who]
        store = srs.ingest(X, target={"y": status[who], "who": who.astype(str)})
        request = ("label-permutation", {"n_trees": 10, "n_permutations": 49})
        for subjects, found in p_values.items():
            why = srs.explain(store, None, None, [request], seed, subjects=subjects)
            assert why.settings.get("subjects") == subjects
            found.append(why["label-permutation"].column("p_value")[0])
    assert max(p_values[None]) < 0.1
    assert np.mean(p_values["who"]) > 0.25
    assert srs.explain(store, analyses=["mci"], subjects="who")["mci"].table.num_rows == 4
    with pytest.raises(srs.SRSError, match="one-probe does not keep"):
        srs.explain(store, analyses=["one-probe"], subjects="who")
