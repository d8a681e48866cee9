"""Samples that are not alike: confounders, subjects, weights, classes.

Each is shown on simulated data where leaving it out gives the wrong answer and having it gives the
right one, over some seeds. What permutations do is in `test_exchange`, what weights do in a tree in
`tests/tree/test_kernel_twin.py`.
"""

import numpy as np
import pytest
from scipy.stats import binom

import srs
from srs.engine.samples import overlap_weights, plan_samples
from srs.errors import InputError
from srs.selection.groups.minimal import _Forest
from srs.settings import Settings
from srs.trees import TreeTarget

TREES = 100


def found(store, seed, **settings):
    return srs.select(store, seed=seed, max_trees=TREES, **settings).relevant_ids


def in_batches(seed, n_true, numeric=False, n=300, p=300):
    """Half of the features follow the batch, and so does the target; the last few matter."""
    rng = np.random.default_rng((seed, n_true))
    batch = rng.integers(0, 3, n)
    X = rng.normal(size=(n, p))
    X[:, : p // 2] += rng.normal(size=(3, p // 2))[batch]
    score = np.array([-2.0, 0.0, 2.0])[batch] + rng.logistic(size=n)
    score += 1.2 * X[:, p - n_true :].sum(axis=1)
    y = score if numeric else (score > 0).astype(int)
    return srs.ingest(X, target={"y": y, "batch": batch.astype(str)})


@pytest.mark.slow
@pytest.mark.parametrize("numeric", [False, True], ids=["classes", "numbers"])
def test_a_confounder_does_not_make_features_relevant(numeric, global_random_seed):
    """Guards probes within strata: features that follow the batch are false without them. And
    the balance of the target: with it, those features do not drown the ones that matter."""
    false_without, shares, power = [], [], []
    for seed in range(3 * global_random_seed, 3 * global_random_seed + 3):
        store = in_batches(seed, 5, numeric)
        false_without.append((found(store, seed) < 295).sum())
        relevant = found(store, seed, confounders=("batch",))
        shares.append((relevant < 295).sum() / max(len(relevant), 1))
        power.append((relevant >= 295).sum() / 5)
    assert min(false_without) >= 10
    assert np.mean(shares) <= 0.25  # 0.1 promised, three runs
    assert np.mean(power) >= 0.4


@pytest.mark.slow
def test_confounded_noise_is_rarely_selected(global_random_seed):
    """Guards the rate given the confounder: nothing but the batch tells of the target."""
    n_runs = 10
    seeds = range(n_runs * global_random_seed, n_runs * (global_random_seed + 1))
    hits = [len(found(in_batches(s, 0), s, confounders=("batch",))) > 0 for s in seeds]
    assert sum(hits) <= binom(n_runs, 0.1).ppf(0.99)


def test_whole_numbers_that_samples_share_are_not_cut():
    """Plates and pairs are numbered as often as named: cut into tenths, most of what they tell is
    left within a class."""
    rng = np.random.default_rng(4)
    plate = rng.integers(1, 37, 900)
    age = rng.normal(50, 12, 900)
    rare = np.where(rng.random(900) < 0.8, np.arange(900), plate)  # most have their own
    columns = {"y": rng.integers(0, 2, 900), "plate": plate, "age": age, "rare": rare}
    store = srs.ingest(rng.normal(size=(900, 20)), target=columns)
    strata = {
        name: plan_samples(store, Settings(confounders=(name,)), 2).strata
        for name in ("plate", "age", "rare")
    }
    np.testing.assert_array_equal(strata["plate"], plate - 1)
    assert len(np.unique(strata["age"])) == len(np.unique(strata["rare"])) == 10
    result = srs.select(store, max_trees=4, confounders=("plate", "age"))
    notices = " ".join(result.document["data"]["notices"])
    assert "'plate' is used as it is: 36 whole numbers" in notices
    assert "'age' is a number and was cut into 10 bins" in notices


@pytest.mark.slow
def test_numbered_plates_do_not_make_features_relevant():
    """Guards the rate where a confounder has more numbers than classes of a target may have."""
    n_false = []
    for seed in range(3):
        rng = np.random.default_rng((seed, 8))
        plate = rng.integers(1, 37, 900)
        X = rng.normal(size=(900, 100))
        X[:, :50] += 1.5 * rng.normal(size=(37, 50))[plate]
        y = (1.5 * rng.normal(size=37)[plate] + rng.logistic(size=900) > 0).astype(int)
        store = srs.ingest(X, target={"y": y, "plate": plate})
        n_false.append((len(found(store, seed, confounders=("plate",))), len(found(store, seed))))
    given, without = np.array(n_false).T
    assert given.sum() <= 3
    assert without.min() >= 10


@pytest.mark.slow
def test_matched_pairs(global_random_seed):
    """Guards small strata: what pairs of a case and a control have in common is no noise."""
    with_pairs, without = 0, 0
    for seed in range(3 * global_random_seed, 3 * global_random_seed + 3):
        rng = np.random.default_rng((seed, 1))
        pair, y = np.repeat(np.arange(150), 2), np.tile([0, 1], 150)
        X = rng.normal(size=(300, 200)) + 1.5 * rng.normal(size=(150, 200))[pair]
        X[:, :5] += 0.8 * y[:, None]
        store = srs.ingest(X, target={"y": y, "pair": pair})  # 150 whole numbers
        relevant = found(store, seed, confounders=("pair",))
        assert (relevant >= 5).sum() <= 1
        with_pairs += (relevant < 5).sum()
        without += (found(store, seed) < 5).sum()
    assert with_pairs > without


def repeated(seed, unequal=False, m=60, p=200):
    """Samples of subjects that are alike in all features; the target is a subject's."""
    rng = np.random.default_rng((seed, 2))
    sizes = rng.integers(2, 9, m) if unequal else np.full(m, 5)
    who, status = np.repeat(np.arange(m), sizes), rng.permutation(m) % 2
    X = 0.5 * rng.normal(size=(len(who), p)) + rng.normal(size=(m, p))[who]
    X[:, :4] += 1.8 * status[who, None]
    return srs.ingest(X, target={"y": status[who], "who": who.astype(str)}), who


@pytest.mark.slow
@pytest.mark.parametrize("unequal", [False, True], ids=["equal", "unequal"])
def test_repeated_samples_are_no_new_evidence(unequal, global_random_seed):
    """Guards probes of whole subjects: without them most features are false."""
    shares, power = [], []
    for seed in range(2 * global_random_seed, 2 * global_random_seed + 2):
        store, _ = repeated(seed, unequal)
        assert (found(store, seed) >= 4).sum() > 50
        relevant = found(store, seed, subjects="who")
        shares.append((relevant >= 4).sum() / max(len(relevant), 1))
        power.append((relevant < 4).sum() / 4)
    assert np.mean(shares) <= 0.25
    assert np.mean(power) >= 0.5


def test_subjects_are_held_out_as_wholes():
    store, who = repeated(0, unequal=True)
    samples = plan_samples(store, Settings(subjects="who", holdout=0.3), 2)
    assert not set(who[samples.train]) & set(who[samples.held_out])
    assert len(samples.held_out) == pytest.approx(0.3 * len(who), abs=9)
    codes = np.zeros((len(who), 2), np.uint8)
    forest = _Forest(
        codes=codes,
        splits_by_subset=np.zeros(2, bool),
        target=TreeTarget.of_classes(who % 2, 2),
        criterion="gini",
        seed=0,
        rows=np.arange(len(who)),
        subjects=who,
    )
    inside, outside = forest._part(np.random.default_rng(0))
    assert not set(who[inside]) & set(who[outside])
    assert len(inside) + len(outside) == len(who)
    assert len(outside) == pytest.approx(len(who) / 3, abs=20)


@pytest.mark.slow
def test_weights_of_unreliable_samples(global_random_seed):
    """Guards sample weights: three of four samples have a target that tells nothing."""
    n_found = {None: 0, "w": 0}
    for seed in range(2 * global_random_seed, 2 * global_random_seed + 2):
        rng = np.random.default_rng((seed, 3))
        X, good = rng.normal(size=(600, 100)), rng.random(600) < 0.25
        y = np.where(good, X[:, :3].sum(axis=1) > 0, rng.random(600) < 0.5).astype(int)
        store = srs.ingest(X, target={"y": y, "w": np.where(good, 1.0, 0.05)})
        for weight in n_found:
            relevant = found(store, seed, sample_weight=weight)
            assert (relevant >= 3).sum() <= 1
            n_found[weight] += (relevant < 3).sum()
    assert n_found["w"] == 6
    assert n_found[None] < 6


@pytest.mark.slow
def test_weights_of_samples_that_were_taken_more_often(global_random_seed):
    """Guards inverse sampling rates: features 0 and 1 tell only how samples were taken."""
    n_false, n_true = {None: 0, "w": 0}, 0
    for seed in range(2 * global_random_seed, 2 * global_random_seed + 2):
        rng = np.random.default_rng((seed, 4))
        X = np.hstack([rng.random((4000, 40)) < 0.5, rng.normal(size=(4000, 20))]).astype(float)
        y = X[:, 45] + X[:, 46] + rng.logistic(size=4000) > 0
        rate = np.where((X[:, 0] == 1) & y, 0.4, np.where((X[:, 1] == 1) & ~y, 0.3, 0.12))
        taken = rng.random(4000) < rate
        store = srs.ingest(X[taken], target={"y": y[taken].astype(int), "w": 1 / rate[taken]})
        for weight in n_false:
            relevant = found(store, seed, sample_weight=weight)
            n_false[weight] += (relevant < 2).sum()
        n_true += np.isin(relevant, [45, 46]).sum()
    assert n_false[None] == 4
    assert n_false["w"] == 0
    assert n_true == 4


@pytest.mark.slow
def test_rare_classes_count_when_balanced(global_random_seed):
    """Guards class balance: without it the rare class is never predicted, and the feature that
    tells it seems less important than a weak one of the large classes."""
    recall = {None: [], "balanced": []}
    for seed in range(2 * global_random_seed, 2 * global_random_seed + 2):
        rng = np.random.default_rng((seed, 5))
        y = np.r_[np.zeros(485), np.ones(485), np.full(30, 2)].astype(int)
        X = rng.normal(size=(1000, 60))
        X[:, 0] += 0.9 * (y == 1)
        X[:, 2] += 2.5 * (y == 2)
        store = srs.ingest(X, target=y)
        for weight, recalled in recall.items():
            result = srs.select(
                store,
                seed=seed,
                max_trees=TREES,
                class_weight=weight,
                holdout=0.3,
                min_samples_leaf=20,
            )
            importance = result.features["importance"]
            assert (importance[2] > importance[0]) == (weight == "balanced")
            rare = result.prediction.query("truth == '2'")
            recalled.append((rare["prediction"] == "2").mean())
    assert max(recall[None]) == 0.0
    assert min(recall["balanced"]) > 0.3


def test_overlap_weights_make_the_target_independent_of_strata():
    rng = np.random.default_rng(0)
    strata, given = rng.integers(0, 6, 500), rng.random(500)
    classes = (rng.random(500) < strata / 5).astype(int)  # strata 0 and 5 have one class
    weights = given * overlap_weights(classes, given, strata, np.arange(500))
    assert weights.max() <= given.max()
    for stratum in range(6):
        masses = [weights[(strata == stratum) & (classes == c)].sum() for c in (0, 1)]
        assert masses[0] == pytest.approx(masses[1])
        assert (masses[0] == 0) == (stratum in (0, 5))


def test_equal_weights_are_no_weights():
    """Guards the plain path: balanced classes that are balanced already change nothing."""
    X = np.random.default_rng(0).normal(size=(100, 40))
    store = srs.ingest(X, target=np.arange(100) % 2)
    plain = srs.select(store, max_trees=50)
    balanced = srs.select(store, max_trees=50, class_weight="balanced")
    assert plain.table.equals(balanced.table)
    assert "class_weight" not in plain.document["settings"]
    assert Settings.from_json(balanced.document["settings"]).class_weight == "balanced"


def test_predictions_of_a_number_given_a_confounder():
    """Guards what was taken off the target: predictions have it again."""
    rng = np.random.default_rng(0)
    site = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 30))
    y = 100.0 * site + 5.0 * X[:, 3] + rng.normal(size=300)
    store = srs.ingest(X, target={"y": y, "site": site.astype(str)})
    result = srs.select(store, max_trees=50, holdout=0.3, confounders=("site",))
    assert result.relevant_ids.tolist() == [3]
    error = result.prediction["truth"] - result.prediction["prediction"]
    assert error.abs().max() < 30


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confounders": ("copy",)}, "predict the target 'y' almost completely"),
        ({"confounders": ("each",)}, "for all but 2 of 60 training samples"),
        ({"confounders": ("each",), "target": "number"}, "probes can be made of 2 of 60"),
        ({"confounders": ("nothing",)}, "no sample column 'nothing'.*ingest again"),
        ({"subjects": "f1"}, "no sample column 'f1'.*a feature cannot be used for this"),
        ({"sample_weight": "nothing"}, "no sample column 'nothing'"),
        ({"subjects": "sizes"}, "subjects of about as many samples"),
        ({"sample_weight": "negative"}, "must not be negative"),
        ({"sample_weight": "text"}, "are not numbers"),
        ({"target": "number", "class_weight": "balanced"}, "class_weight is for classes"),
        ({"class_weight": "equal"}, "class_weight must be one of balanced"),
        ({"mode": "paper", "subjects": "copy"}, "paper mode has no weights"),
    ],
)
def test_what_cannot_be_is_refused(settings, message):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    store = srs.ingest(
        rng.normal(size=(60, 5)),
        target={
            "y": y,
            "number": rng.normal(size=60),
            "copy": y,
            "each": [f"s{i // 2 if i < 2 else i}" for i in range(60)],
            "sizes": np.repeat(["a", "b", "c"], [4, 14, 42]),
            "negative": -rng.random(60),
            "text": np.where(y == 1, "x", "z"),
        },
    )
    with pytest.raises(srs.SRSError, match=message):
        srs.select(store, max_trees=20, **settings)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_too_few_samples_are_refused_in_a_sentence(n: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 20)), np.arange(n) % 2
    store = srs.ingest(X, target=y)
    said = f"only {n} samples to learn from: with fewer than 6, .* add samples"
    for run in (
        lambda: srs.select(store),
        lambda: srs.plan(store),
        lambda: srs.check(store),
        lambda: srs.SRSSelector().fit(X, y),
        lambda: srs.explain(X, y),
    ):
        with pytest.raises(InputError, match=said):
            run()
    many = srs.ingest(rng.normal(size=(20, 20)), target=np.arange(20) % 2)
    with pytest.raises(InputError, match=r"besides the 16 that are held out.* hold out fewer"):
        srs.check(many, holdout=0.8)
    srs.check(many, samples=range(6))
