"""Groups of stand-ins, and few features that are enough: what is found, and at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import srs
from benchmarks.madelon_data import load_madelon
from srs.ingest.encode.codes import encode_numeric
from srs.selection.groups import associations, choose_minimal, find_groups, find_signals
from srs.selection.groups.grouping import CLOSE, differ_usefully
from srs.trees import TreeTarget
from tests.planted import comparable, make_planted, make_store


def encode(X):
    return np.ascontiguousarray(encode_numeric(np.ascontiguousarray(X.T, np.float32))[0].T)


def ordered(n):
    return np.zeros(n, np.bool_)


def make_copies(n, seed, noise=0):
    """Five signals (columns 0..4) with three copies each (column k tells of k % 5), rho = 0.9."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, 5))
    copies = [0.9 * S + np.sqrt(1 - 0.81) * rng.normal(size=S.shape) for _ in range(3)]
    y = S @ np.array([1, 0.9, 0.8, 1, 0.7]) + 0.5 * rng.normal(size=n) > 0
    return np.hstack([S, *copies, rng.normal(size=(n, noise))]), y.astype(int)


class TestAssociation:
    @given(st.integers(0, 10_000), st.integers(5, 80), st.integers(2, 255))
    def test_is_the_rank_correlation_of_ordered_features(self, seed, n, levels):
        codes = np.random.default_rng(seed).integers(0, levels, (n, 4)).astype(np.uint8)
        codes[:2] = [[0] * 4, [1] * 4]  # none is constant
        expected = np.abs(spearmanr(codes).statistic)
        np.testing.assert_allclose(associations(codes, ordered(4)), expected, atol=2e-4)

    @given(st.integers(0, 10_000), st.integers(0, 60))
    def test_is_symmetric_and_within_bounds(self, seed, n):
        """Whatever the mixture of kinds, levels and missing values."""
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, rng.integers(1, 12, 6), (n, 6)).astype(np.uint8)
        codes[rng.uniform(size=codes.shape) < rng.uniform()] = 255
        table = associations(codes, rng.uniform(size=6) < 0.5)
        assert ((table >= 0) & (table <= 1)).all()
        np.testing.assert_allclose(table, table.T, atol=2e-4)

    def test_many_columns_go_through_several_blocks(self):
        codes = np.random.default_rng(0).integers(0, 255, (60, 1_500)).astype(np.uint8)
        expected = np.abs(spearmanr(codes[:, [0, 700, 1_499]]).statistic)
        found = associations(codes, ordered(1_500))[np.ix_([0, 700, 1_499], [0, 700, 1_499])]
        np.testing.assert_allclose(found, expected, atol=2e-4)

    def test_categorical_copies_are_close_whatever_their_codes(self):
        """Levels renamed: no order is left, and the association is whole."""
        rng = np.random.default_rng(0)
        a = rng.integers(0, 5, 500).astype(np.uint8)
        renamed = np.array([3, 0, 4, 1, 2], np.uint8)[a]
        coarse = (a > 2).astype(np.uint8)
        other = rng.integers(0, 5, 500).astype(np.uint8)
        codes = np.stack([a, renamed, coarse, other], axis=1)
        table = associations(codes, np.array([True, True, False, True]))
        assert table[0, 1] == 1
        assert table[0, 2] < CLOSE  # two levels do not stand in for five
        assert table[0, 3] < 0.3

    def test_missing_values_are_left_out_of_pairs(self):
        rng = np.random.default_rng(0)
        x = rng.integers(0, 255, 1_000).astype(np.uint8)
        gaps, sparse = x.copy(), x.copy()
        gaps[rng.uniform(size=1_000) < 0.3] = 255
        sparse[rng.uniform(size=1_000) < 0.7] = 255
        table = associations(np.stack([x, gaps, sparse], axis=1), ordered(3))
        assert table[0, 1] > 0.99
        assert table[0, 2] == 0  # known too throttle to stand in


class TestGroups:
    def test_copies_come_together(self, global_random_seed):
        sizes = []
        for seed in range(10 * global_random_seed, 10 * global_random_seed + 10):
            X, y = make_copies(500, seed)
            groups = find_groups(
                encode(X), ordered(20), TreeTarget.of_classes(y, 2), np.arange(20)[::-1]
            )
            assert all(len(set(group % 5)) == 1 for group in groups)
            sizes.append(len(groups))
        assert np.median(sizes) == 5
        assert max(sizes) <= 6

    def test_madelon_has_ten_groups(self):
        """20 features: ten columns that differ, of which eight come two or three times."""
        data = load_madelon()
        if data is None:
            pytest.skip("the reference data are not here")
        X, y, relevant = data
        groups = find_groups(
            encode(X[:, relevant]), ordered(20), TreeTarget.of_classes(y, 2), np.ones(20)
        )
        found = sorted(sorted((relevant[g] + 1).tolist()) for g in groups)
        assert sorted(len(g) for g in found) == [1, 1, 2, 2, 2, 2, 2, 2, 3, 3]
        assert [29, 319, 452] in found
        assert [154, 282, 434] in found

    @pytest.mark.parametrize("task", ["classes", "values"])
    def test_close_features_whose_difference_matters_stay_apart(self, global_random_seed, task):
        rng = np.random.default_rng(global_random_seed)
        base, difference = rng.normal(size=(2, 500))
        codes = encode(np.stack([base, base + 0.3 * difference], axis=1))
        target = (
            TreeTarget.of_classes(difference > 0, 2)
            if task == "classes"
            else TreeTarget.of_values(difference)
        )
        assert associations(codes, ordered(2))[0, 1] > 0.9
        assert len(find_groups(codes, ordered(2), target, np.ones(2))) == 2
        # The same two are stand-ins for a target that depends on what they share.
        shared = TreeTarget.of_classes(base > 0, 2)
        assert len(find_groups(codes, ordered(2), shared, np.ones(2))) == 1

    def test_categories_that_matter_where_they_differ_stay_apart(self):
        rng = np.random.default_rng(0)
        a = rng.integers(0, 4, 800).astype(np.uint8)
        b = np.where(rng.uniform(size=800) < 0.1, (a + 1) % 4, a).astype(np.uint8)
        codes, both = np.stack([a, b], axis=1), np.ones(2, np.bool_)
        assert associations(codes, both)[0, 1] > CLOSE
        for classes, n_groups in (((a != b), 2), ((a > 1), 1)):
            target = TreeTarget.of_classes(classes, 2)
            assert len(find_groups(codes, both, target, np.ones(2))) == n_groups

    def test_a_pair_that_matters_only_together(self, global_random_seed):
        """And the copy of each is put to its own side, though neither tells anything alone."""
        rng = np.random.default_rng(global_random_seed)
        A, B = rng.normal(size=(2, 400))
        X = np.stack([A, B, A + 0.3 * rng.normal(size=400), B + 0.3 * rng.normal(size=400)], axis=1)
        target = TreeTarget.of_classes((A > 0) ^ (B > 0), 2)
        groups = find_groups(encode(X), ordered(4), target, np.array([4, 3, 2, 1]))
        assert [g.tolist() for g in groups] == [[0, 2], [1, 3]]
        leaders = encode(X)[:, :2]
        assert choose_minimal(leaders, ordered(2), target, "entropy", 0).tolist() == [0, 1]

    def test_redundant_features_are_seldom_called_synergistic(self):
        wrong = 0
        for seed in range(100):
            rng = np.random.default_rng(seed)
            x = rng.normal(size=200)
            codes = encode(np.stack([x, x + 0.4 * rng.normal(size=200)], axis=1))
            y = rng.normal(size=200) if seed % 2 else x + rng.normal(size=200)
            outputs = ((y - y.mean()) / np.sqrt(((y - y.mean()) ** 2).sum()))[:, None]
            wrong += differ_usefully(codes[:, 0], codes[:, 1], outputs)
        assert wrong <= 3

    def test_few_samples_do_not_make_groups_by_chance(self):
        rng = np.random.default_rng(0)
        codes = encode(rng.normal(size=(20, 100)))
        target = TreeTarget.of_classes(np.arange(20) % 2, 2)
        assert len(find_groups(codes, ordered(100), target, np.ones(100))) >= 99

    def test_duplicates_and_constants(self):
        x = np.arange(100, dtype=np.uint8)
        constant, missing = np.zeros(100, np.uint8), np.full(100, 255, np.uint8)
        codes = np.stack([x, x, 99 - x, constant, constant, missing], axis=1)
        target = TreeTarget.of_classes(x > 50, 2)
        groups = find_groups(codes, ordered(6), target, np.array([1, 2, 3, 0, 0, 0]))
        assert [g.tolist() for g in groups] == [[2, 1, 0], [3], [4], [5]]

    @pytest.mark.parametrize("n_columns", [0, 1])
    def test_none_and_one(self, n_columns):
        codes = np.arange(30, dtype=np.uint8)[:, None][:, :n_columns]
        target = TreeTarget.of_classes(np.arange(30) % 2, 2)
        groups = find_groups(codes, ordered(n_columns), target, np.ones(n_columns))
        assert [g.tolist() for g in groups] == [[0]][:n_columns]
        minimal = choose_minimal(codes, ordered(n_columns), target, "entropy", 0)
        assert minimal.tolist() == [0][:n_columns]


class TestMinimal:
    @pytest.mark.parametrize("task", ["classes", "values"])
    def test_keeps_what_is_needed_and_drops_what_is_not(self, global_random_seed, task):
        """Three signals of equal weight, their sum of two, and columns of noise."""
        rng = np.random.default_rng(global_random_seed)
        X = rng.normal(size=(600, 8))
        score = X[:, 0] + X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=600)
        target = (
            TreeTarget.of_classes(score > 0, 2)
            if task == "classes"
            else TreeTarget.of_values(score)
        )
        criterion = "entropy" if task == "classes" else "variance"
        minimal = choose_minimal(encode(X), ordered(8), target, criterion, global_random_seed)
        assert minimal.tolist() == [0, 1, 2]

    def test_a_masked_copy_goes(self, global_random_seed):
        X, y = make_copies(1_000, global_random_seed)
        target = TreeTarget.of_classes(y, 2)
        minimal = choose_minimal(encode(X[:, :10]), ordered(10), target, "entropy", 0)
        assert sorted(set((minimal % 5).tolist())) == [0, 1, 2, 3, 4]
        assert len(minimal) <= 6

    def test_many_columns(self, global_random_seed):
        """Two that matter among three hundred: ranked by a few trees, then chosen."""
        rng = np.random.default_rng(global_random_seed)
        X = rng.normal(size=(400, 300))
        target = TreeTarget.of_classes(X[:, 7] + X[:, 200] > 0, 2)
        minimal = choose_minimal(encode(X), ordered(300), target, "entropy", 0)
        assert minimal.tolist() == [7, 200]

    def test_seed_decides(self):
        X, y = make_copies(200, 0)
        target = TreeTarget.of_classes(y, 2)
        a, b = (choose_minimal(encode(X), ordered(20), target, "gini", 5) for _ in range(2))
        assert a.tolist() == b.tolist()


class TestRuns:
    def test_result_has_groups_and_minimal(self, global_random_seed, tmp_path):
        X, y = make_copies(500, global_random_seed, noise=180)
        result = srs.select(make_store(X, y), seed=global_random_seed)
        listed = [i for group in result.groups for i in group["feature_ids"]]
        assert sorted(listed) == result.relevant_ids.tolist()
        assert [g["group"] for g in result.groups] == list(range(1, len(result.groups) + 1))
        strong = [g for g in result.groups if g["representative"] < 20]
        assert len(strong) in (5, 6)
        importance = result.features.importance
        leading = [importance[g["representative"]] for g in result.groups]
        assert leading == sorted(leading, reverse=True)
        for group in result.groups:
            assert group["feature_ids"][0] == group["representative"]
            assert group["names"] == [f"f{i}" for i in group["feature_ids"]]
            assert importance[group["feature_ids"]].idxmax() == group["representative"]
            assert set(result.features.group[group["feature_ids"]]) == {group["group"]}
        outside = result.features.query("verdict != 'RELEVANT'")
        assert outside.group.isna().all()
        minimal = result.minimal_ids
        assert minimal.dtype == np.int64
        assert minimal.tolist() == sorted(minimal)
        assert set(minimal) <= {g["representative"] for g in result.groups}
        assert set(minimal % 5) == {0, 1, 2, 3, 4}
        loaded = srs.load_result(result.save(tmp_path))
        assert loaded.groups == result.groups
        np.testing.assert_array_equal(loaded.minimal_ids, minimal)

    def test_threads_and_order_of_columns_do_not_matter(self):
        X, y = make_copies(300, 1, noise=100)
        plain = srs.select(make_store(X, y), seed=2, threads=1, max_trees=300)
        assert comparable(
            srs.select(make_store(X, y), seed=2, threads=2, max_trees=300)
        ) == comparable(plain)
        order = np.random.default_rng(1).permutation(X.shape[1])
        permuted = srs.select(make_store(X[:, order], y), seed=2, max_trees=300)
        moved = [order[g["feature_ids"]].tolist() for g in permuted.groups]
        assert moved == [g["feature_ids"] for g in plain.groups]
        assert sorted(order[permuted.minimal_ids]) == plain.minimal_ids.tolist()

    def test_nothing_relevant(self):
        X, _ = make_planted(n=100, p=50)
        result = srs.select(make_store(X, np.arange(100) % 2), fdr=1e-9, max_trees=100)
        assert result.groups == []
        assert result.minimal_ids.tolist() == []
        assert result.features.group.isna().all()

    def test_held_out_samples_are_not_looked_at(self):
        """Guards the honesty of predictions by the minimal set: two features that are copies of
        each other in most samples, but not in those that may be looked at."""
        codes = np.random.default_rng(0).integers(0, 200, (1000, 4)).astype(np.uint8)
        codes[100:, 1] = codes[100:, 0]
        target = TreeTarget.of_classes(codes[:, 2] > 99, 2)
        some, every = (
            find_signals(
                lambda p: codes[:, p],
                np.arange(4),
                importance=np.ones(4),
                is_categorical=None,
                target=target,
                samples=np.arange(n),
                criterion="entropy",
                seed=0,
            )
            for n in (100, 1000)
        )
        assert [g.tolist() for g in some.groups] == [[0], [1], [2], [3]]
        assert [g.tolist() for g in every.groups] == [[0, 1], [2], [3]]
        assert some.minimal.tolist() == [2]

    def test_more_than_can_be_grouped(self, monkeypatch):
        """The most important ones are grouped, and the others counted."""
        monkeypatch.setattr("srs.selection.groups.signals.MAX_FEATURES", 3)
        X, y = make_copies(300, 1)
        result = srs.select(make_store(X, y), seed=2)
        listed = [i for group in result.groups for i in group["feature_ids"]]
        assert len(listed) == 3
        assert result.document["outcome"]["ungrouped"] == len(result.relevant_ids) - 3
        least = result.features.importance[listed].min()
        others = np.setdiff1d(result.relevant_ids, listed)
        assert len(others) > 5
        assert (result.features.importance[others] <= least).all()
