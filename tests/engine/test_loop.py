"""The loop: what it finds, that it is the same every time, and that it stops and goes on well."""

import json
import random
import signal
import subprocess
import sys
from itertools import pairwise
from time import sleep

import numpy as np
import pytest

import srs
from srs.engine.checkpoint import read_checkpoint
from srs.engine.loop import PAPER_TREES
from srs.errors import CheckpointError, InputError, MemoryBudgetError, RunInterrupted, SettingsError
from srs.report.text import promise
from srs.trees import load_trees
from tests.planted import comparable, make_planted, make_store


def test_finds_the_planted_features(global_random_seed):
    """Guards the whole: the two marginal features and the one that matters only given another."""
    X, y = make_planted(seed=global_random_seed)
    result = srs.select(make_store(X, y), seed=global_random_seed)
    assert {3, 11, 20} <= set(result.relevant_ids.tolist())
    assert len(result.relevant_ids) <= 4
    assert result.relevant_names == [f"f{i}" for i in result.relevant_ids]
    row = result.features.set_index("feature_id").loc[3]
    assert row.verdict == "RELEVANT"
    assert 0 < row.p_value <= row.q_value <= 0.1
    assert row.n_drawn == round(result.n_passes)
    assert row.effect > 0
    assert result.features.importance.idxmax() in (3, 11, 20)


@pytest.mark.parametrize("target", ["numbers", "classes"])
def test_regression_and_many_classes(target, global_random_seed):
    """What matters is in every list, and lists keep the rate of 0.1 in the mean: a share of false
    features has a standard deviation of at most 0.2 where two matter, so that the mean of five is
    above 0.3 by chance in 1 of 80 cases."""
    shares = []
    for seed in range(5 * global_random_seed, 5 * global_random_seed + 5):
        X, _ = make_planted(seed=seed)
        y = X[:, 3] + X[:, 11]
        if target == "classes":
            y = np.array(list("abcde"))[np.digitize(y, [-1.2, -0.3, 0.3, 1.2])]
        relevant = set(srs.select(make_store(X, y), seed=seed, max_trees=100).relevant_ids.tolist())
        assert {3, 11} <= relevant
        shares.append(len(relevant - {3, 11}) / len(relevant))
    assert np.mean(shares) <= 0.3


def test_threads_do_not_matter(tmp_path):
    """Guards byte-identical results for 1 and 2 threads, files included."""
    X, y = make_planted()
    store = srs.ingest(X, tmp_path / "s.zarr", target=y)
    texts = []
    for threads in (1, 2, 3):
        result = srs.select(store, seed=5, threads=threads, holdout=0.2, max_trees=400)
        folder = result.save(tmp_path / f"run{threads}")
        document = json.loads((folder / "result.json").read_text())
        del document["measured"]
        texts.append(json.dumps(document) + repr((folder / "features.parquet").read_bytes()))
    assert texts[0] == texts[1] == texts[2]


def test_order_of_columns_does_not_matter(global_random_seed):
    """Guards that places follow from content: permuted columns give the same features."""
    X, y = make_planted(seed=global_random_seed)
    order = np.random.default_rng(1).permutation(X.shape[1])
    plain = srs.select(make_store(X, y), seed=2, max_trees=400)
    permuted = srs.select(make_store(X[:, order], y), seed=2, max_trees=400)
    assert len(plain.relevant_ids) >= 2
    assert plain.document["data"]["fingerprint"] == permuted.document["data"]["fingerprint"]
    assert sorted(order[permuted.relevant_ids]) == sorted(plain.relevant_ids)
    for column in ("p_value", "importance", "n_used"):
        np.testing.assert_array_equal(
            permuted.features[column].to_numpy(), plain.features[column].to_numpy()[order]
        )


def test_seed_matters_and_is_enough():
    X, y = make_planted()
    store = make_store(X, y)
    first, again, other = (srs.select(store, seed=s, max_trees=40) for s in (1, 1, 2))
    assert comparable(first) == comparable(again)
    assert comparable(first)["outcome"] != comparable(other)["outcome"]


def test_every_feature_is_explored_once_a_pass():
    X, y = make_planted(p=701)
    result = srs.select(make_store(X, y), max_passes=8)
    assert set(result.features.n_drawn) == {round(result.n_passes)}


def test_pinned_features_are_reported_apart():
    """Guards covariates: in every subspace, without a verdict of their own."""
    X, y = make_planted()
    result = srs.select(make_store(X, y), seed=0, pinned=["f3"], max_trees=1000)
    assert [f["name"] for f in result.document["outcome"]["pinned"]] == ["f3"]
    assert 3 not in result.relevant_ids
    assert {11, 20} <= set(result.relevant_ids.tolist())
    assert result.features.pinned.sum() == 1
    settings = {"seed": 0, "carry_fraction": 0.0, "max_trees": 100, "subspace_size": 30}
    plain = srs.select(make_store(X, y), **settings)
    pinned = srs.select(make_store(X, y), pinned=[3], **settings)
    assert pinned.features.importance[3] > 1.5 * plain.features.importance[3]


@pytest.mark.parametrize("mode", ["default", "paper"])
def test_predictions_of_held_out_samples(mode):
    X, y = make_planted(n=600, p=40)
    labels = np.array(["no", "yes"])[y]
    result = srs.select(
        make_store(X, labels), mode=mode, holdout=0.25, seed=3, max_trees=400, subspace_size=20
    )
    table = result.prediction
    assert len(table) == 150
    np.testing.assert_allclose(table.share_no + table.share_yes, 1.0)
    assert (table.truth == table.prediction).mean() > 0.7
    assert (table.truth == labels[table["sample"].astype(int)]).all()


def test_prediction_of_a_numeric_target():
    X, _ = make_planted(n=600, p=40)
    result = srs.select(
        make_store(X, X[:, 3] + 100.0), holdout=0.25, seed=3, max_trees=200, subspace_size=20
    )
    assert np.corrcoef(result.prediction.truth, result.prediction.prediction)[0, 1] > 0.6
    assert abs(result.prediction.prediction.mean() - 100.0) < 1.0


def test_trees_are_kept_on_wish(tmp_path):
    X, y = make_planted(p=40)
    result = srs.select(make_store(X, y), keep_trees=True, folder=tmp_path, max_trees=60)
    trees = [t for f in sorted((tmp_path / "trees").iterdir()) for t in load_trees(f)]
    assert len(trees) == result.n_trees
    assert max(int(t.column.max()) for t in trees) < 40


class TestPaperMode:
    """Algorithm 7.1 to the letter."""

    def test_finds_marginal_features(self):
        X, y = make_planted(n=1000, p=200)
        result = srs.select(
            make_store(X, y), mode="paper", subspace_size=40, max_trees=1500, seed=1
        )
        assert {3, 11} <= set(result.relevant_ids.tolist())
        drawn = result.features.n_drawn
        assert (drawn[result.relevant_ids] > 10).all()

    def test_uniform_draws_without_carrying(self, global_random_seed):
        """alpha = 0 is the random subspace method: each feature is drawn with probability q / p."""
        X, y = make_planted(n=60, p=100)
        result = srs.select(
            make_store(X, y),
            mode="paper",
            subspace_size=25,
            carry_fraction=0.0,
            max_trees=400,
            seed=global_random_seed,
        )
        drawn = result.features.n_drawn.to_numpy()
        assert drawn.sum() == 400 * 25
        spread = ((drawn - 100) ** 2 / 75).sum()  # chi-square with about 99 degrees of freedom
        assert 50 < spread < 160

    def test_relevant_features_are_carried(self):
        """alpha = 1: features of F are in every later subspace, so they are drawn more often."""
        X, y = make_planted(n=1000, p=200)
        result = srs.select(
            make_store(X, y), mode="paper", subspace_size=40, carry_fraction=1.0, max_trees=600
        )
        drawn = result.features.n_drawn
        assert drawn[result.relevant_ids].min() > 2 * drawn.median()

    def test_the_relevant_set_never_shrinks(self):
        """Verdicts after two draws are often wrong: without the rule the set would shrink again."""
        X, y = make_planted(n=300, p=100)
        result = srs.select(
            make_store(X, y), mode="paper", subspace_size=20, max_trees=300, probe_draws=2
        )
        found = [h["n_relevant"] for h in result.document["outcome"]["history"]]
        assert found == sorted(found)
        assert found[-1] > found[0]

    def test_step_2c_adds_whatever_tells_something(self):
        """Without a probe: F are the features that had an importance above 0 in some tree."""
        X, y = make_planted(n=300, p=60)
        run = {"mode": "paper", "subspace_size": 20, "max_trees": 30, "paper_rule": "importance"}
        result = srs.select(make_store(X, y), **run)
        table = result.features
        assert set(result.relevant_ids) == set(table.feature_id[table.importance > 0])
        assert (table.verdict[table.n_drawn == 0] == "UNDECIDED").all()
        assert "importance above 0 in at least one tree" in promise(result.document)
        probes = srs.select(make_store(X, y), **{**run, "paper_rule": "probe"})
        assert "paper_rule" not in probes.document["settings"]
        with pytest.raises(SettingsError, match="paper_rule is a setting of paper mode"):
            srs.select(make_store(X, y), paper_rule="importance")

    def test_has_a_default_end(self):
        X, y = make_planted(n=40, p=10)
        assert srs.select(make_store(X, y), mode="paper").n_trees == PAPER_TREES


@pytest.mark.parametrize("mode", ["default", "paper"])
def test_memory_does_not_change_the_answer(tmp_path, monkeypatch, mode):
    """Guards the two ways of reading: the whole store once, or slabs again and again."""
    X, y = make_planted(n=200, p=900)
    store = srs.ingest(X, tmp_path / "s.zarr", target=y)
    settings = {"mode": mode, "subspace_size": 60, "max_trees": 60, "seed": 4}
    resident = srs.select(store, **settings)
    monkeypatch.setattr("srs.selection.select.with_resident_codes", lambda context, *_: context)
    read = srs.select(store, **settings)
    assert comparable(resident) == comparable(read)
    held, slabs = (r.document["measured"]["projected_mem"] for r in (resident, read))
    assert held != slabs, "both read in the same way"


class TestInterruption:
    """A run that was stopped goes on to the result of an undisturbed one."""

    @pytest.mark.parametrize("mode", ["default", "paper"])
    @pytest.mark.parametrize("after", [1, 30, 55])
    def test_resume_gives_the_same(self, tmp_path, mode, after):
        X, y = make_planted(p=900)
        store = srs.ingest(X, tmp_path / "s.zarr", target=y)
        settings = {"mode": mode, "seed": 1, "max_trees": 120, "subspace_size": 150, "holdout": 0.1}
        undisturbed = srs.select(store, **settings)

        def stop(progress):
            if progress.n_trees >= after:
                raise KeyboardInterrupt

        folder = tmp_path / "run"
        with pytest.raises(RunInterrupted, match="--resume"):
            srs.select(store, folder=folder, on_progress=stop, **settings)
        resumed = srs.select(store, folder=folder, resume=True, **settings)
        assert comparable(resumed) == comparable(undisturbed)
        assert resumed.table.equals(undisturbed.table)
        assert not list(folder.glob("checkpoint*"))

    @pytest.mark.fault
    def test_real_ctrl_c_at_random_moments(self, tmp_path):
        """Guards checkpoints against an interrupt anywhere, by real signals to a real process."""
        X, y = make_planted(p=2000)
        srs.ingest(X, tmp_path / "s.zarr", target=y)
        run, settings = tmp_path / "run", {"seed": 1, "max_trees": 4000, "patience": 10**6}
        code = (
            "import srs, sys\n"
            "def tell(now):\n"
            "    if now.round_ended:\n"
            "        print(now.n_trees, flush=True)\n"
            "try:\n"
            f"    r = srs.select({str(tmp_path / 's.zarr')!r}, folder={str(run)!r}, **{settings},"
            " resume='r' in sys.argv, on_progress=tell)\n"
            f"    r.save({str(run)!r})\n"
            "except srs.SRSError as error:\n"
            "    sys.exit(f'{type(error).__name__}')\n"
        )
        rng, kept = random.Random(0), 0
        for stop in range(3):
            child = subprocess.Popen(
                [sys.executable, "-c", code, *["r"] * (stop > 0)],
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            grown = [int(child.stdout.readline()) for _ in range(2)]  # the first round is kept
            sleep(rng.uniform(0.0, 0.06))  # of 62 rounds, some take 0.03 s each
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=120)
            assert (child.returncode, errors) == (1, "RunInterrupted\n")
            assert kept < grown[0], "it began again"
            kept = read_checkpoint(run)[0]["n_trees"]
            assert kept >= grown[0]
        subprocess.run([sys.executable, "-c", code, "r"], check=True, capture_output=True)
        undisturbed = srs.select(tmp_path / "s.zarr", **settings)
        assert comparable(srs.load_result(run)) == comparable(undisturbed)

    def test_checkpoint_of_another_run(self, tmp_path):
        X, y = make_planted(p=40)
        store = make_store(X, y)

        def stop(_):
            raise KeyboardInterrupt

        with pytest.raises(RunInterrupted):
            srs.select(store, folder=tmp_path, on_progress=stop, seed=1)
        with pytest.raises(CheckpointError, match="seed changed"):
            srs.select(store, folder=tmp_path, resume=True, seed=2)
        with pytest.raises(CheckpointError, match="the data changed"):
            srs.select(make_store(X + 1, 1 - y), folder=tmp_path, resume=True, seed=1)
        (tmp_path / "checkpoint.npz").write_bytes(b"PK broken")
        with pytest.raises(CheckpointError, match="damaged"):
            srs.select(store, folder=tmp_path, resume=True, seed=1)
        with pytest.raises(CheckpointError, match="no checkpoint"):
            srs.select(store, folder=tmp_path / "none", resume=True, seed=1)


class TestRefusals:
    """Bad input gets one clear sentence."""

    def test_memory_that_is_too_small_is_refused_before_reading(self, tmp_path):
        X, y = make_planted(p=2000)
        store = srs.ingest(X, tmp_path / "s.zarr", target=y)
        for chunk in (tmp_path / "s.zarr" / "codes" / "c").rglob("0"):
            if chunk.is_file():
                chunk.write_bytes(b"")  # reading anything would be a StoreError
        with pytest.raises(MemoryBudgetError, match="100MB are allowed") as caught:
            srs.select(store, memory="100MB")
        assert caught.value.needed_mem > caught.value.allowed_mem == 100_000_000
        enough = caught.value.needed_mem
        with pytest.raises(srs.SRSError, match="truncated"):
            srs.select(store, memory=enough)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"fdr": 0}, "fdr must be a number between 0 and 1"),
            ({"fdr": "x"}, "fdr must be a number"),
            ({"seed": -1}, "seed must be a whole number at least 0"),
            ({"seed": True}, "seed must be a whole number"),
            ({"mode": "fast"}, "mode must be one of default, paper"),
            ({"memory": "lots"}, "'lots' is not an amount of memory"),
            ({"fdr": None}, "fdr must be a number between 0 and 1, not None"),
            ({"random_recall": "no"}, "random_recall must be True or False, not 'no'"),
            ({"sample_weight": [1.0]}, "sample_weight must be a name"),
            ({"confounders": "site"}, "confounders must be a list"),
            ({"threads": 0}, "threads must be a whole number at least 1"),
            ({"n_probes": 2}, "n_probes must be one of 1, 3, 7"),
            ({"evidence": ()}, "evidence must name some of"),
            ({"criterion": "variance"}, "does not fit the target 'target'"),
            ({"target": "z"}, "there is no target 'z'"),
            ({"mode": "paper", "pinned": [1]}, "paper mode has no pinned"),
            ({"resume": True}, "resume needs the folder"),
        ],
    )
    def test_wrong_settings(self, settings, message):
        X, y = make_planted(n=30, p=5)
        with pytest.raises((SettingsError, InputError), match=message):
            srs.select(make_store(X, y), **settings)

    def test_unknown_pinned_feature(self):
        X, y = make_planted(n=30, p=5)
        with pytest.raises(InputError, match="no feature named 'q'"):
            srs.select(make_store(X, y), pinned=["q"])
        with pytest.raises(InputError, match=r"ids are 0\.\.4"):
            srs.select(make_store(X, y), pinned=[5])

    def test_no_target(self):
        with pytest.raises(InputError, match="has no target"):
            srs.select(srs.ingest(make_planted(n=30, p=5)[0]))


@pytest.mark.parametrize("p", [1, 2, 9, 64, 65])
def test_tiny_stores(p):
    """Guards padding and edges: any number of features from one on."""
    X, y = make_planted(n=50, p=64 + 1)
    result = srs.select(make_store(X[:, :p], y), max_trees=40)
    assert len(result.features) == p
    assert result.features.n_drawn.gt(0).all()


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr("srs.engine.run.remaining.Remaining.after", lambda *_: 0.0)  # the loop's
    X, y = make_planted()
    seen = []
    result = srs.select(make_store(X, y), seed=0, on_progress=seen.append, max_trees=90)
    trees = [s.n_trees for s in seen]
    assert trees == sorted(trees)
    assert trees[-1] == result.n_trees == 90
    assert seen[-1].n_relevant == len(result.relevant_ids) >= 2
    assert all(s.remaining_seconds > 0 for s in seen[:-1] if 0 < s.n_trees < 90)
    assert seen[-1].remaining_seconds == 0
    assert {s.stage.kind for s in seen if s.stage is not None} == {"univariate", "pairs"}


@pytest.mark.parametrize(("round_size", "a_round"), [(1, 1), (7, 8), (20, 24), (None, 24)])
def test_round_size_sets_the_looks_at_the_evidence(tmp_path, monkeypatch, round_size, a_round):
    """Guards rounds: so many trees in whole batches, whole passes where they are longer."""
    monkeypatch.setattr("srs.store.layout.CHUNK_BYTES", 1 << 14)
    X, y = make_planted(n=200, p=768)
    store = srs.ingest(X, tmp_path / "s.zarr", target=y)
    seen = []
    result = srs.select(
        store, subspace_size=64, round_size=round_size, max_passes=4, on_progress=seen.append
    )
    trees = [0, *(p.n_trees for p in seen if p.round_ended)]
    assert {b - a for a, b in pairwise(trees)} == {a_round}
    assert trees[-1] == result.n_trees
    assert set(result.features.n_drawn) <= {3, 4, 5}
