"""Bad input of every analysis: one clear sentence, or a notice and numbers; never a NaN."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import srs
from srs.errors import InputError
from srs.explain import analyses as importance
from tests.cli.conftest import invoke, run_srs

N = 40
SEX = np.where(np.arange(N) % 2, "f", "m")
SIZES = {
    "label_permutation": {"n_trees": 5, "n_permutations": 9},
    "conditional_error_rate": {"n_trees": 5, "n_permutations": 9},
    "context": {"context": SEX, "n_trees": 5, "n_permutations": 9},
    "one_probe": {"n_forests": 5, "n_trees": 5},
    "context_network": {"context": SEX, "n_trees": 5, "n_permutations": 9},
    "connectome": {},
}
OF_TARGET = (
    "mdi",
    "mda",
    "label_permutation",
    "conditional_error_rate",
    "context",
    "vote_shift",
    "one_probe",
    "per_class",
    "umfi",
    "mci",
)
OF_NONE = ("network", "connectome", "context_network")
NEEDS_PAIRS = ("vote_shift", "per_class", "umfi", "mci")
BY_VALUE = ("umfi", *OF_NONE)


def sample() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(N, 4))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "ill", "well").astype(object)


def run(name: str, X, y, **options) -> importance.AnalysisResult:
    given = (X,) if name in OF_NONE else (X, y)
    options = {**SIZES.get(name, {"n_trees": 5}), **options}
    return getattr(importance, name)(*given, **options)


def has_numbers(found: importance.AnalysisResult) -> bool:
    return bool(np.isfinite(found.column("value").astype(float)).all())


@pytest.mark.parametrize("name", OF_TARGET)
def test_a_class_of_one_sample(name: str) -> None:
    """Refused where it would need two samples, else a notice: Table 4 has such classes."""
    X, y = sample()
    y[0] = "odd"
    if name in NEEDS_PAIRS:
        with pytest.raises(InputError, match=r"the class 'odd' has 1 sample, .* merge it with"):
            run(name, X, y)
    else:
        found = run(name, X, y)
        assert has_numbers(found)
        (note,) = [n for n in found.notes if n.startswith("The class 'odd' has only one sample")]
        assert "merge it with another" in note
        assert not [n for n in run(name, *sample()).notes if "only one sample" in n]


@pytest.mark.parametrize("name", [*OF_TARGET, *OF_NONE])
def test_constant_and_infinite_features(name: str) -> None:
    X, y = sample()
    X[3, 2] = np.inf
    if name in BY_VALUE:
        with pytest.raises(InputError, match=r"'f2' has infinite values, .* leave the feature out"):
            run(name, X, y)
    else:
        assert has_numbers(run(name, X, y))
    X[:, 2] = 1.0
    with pytest.raises(InputError, match="1 of the features is constant, the first is 'f2'"):
        run(name, X, y)


@pytest.mark.parametrize("name", OF_TARGET)
def test_targets(name: str) -> None:
    X, y = sample()
    with pytest.raises(InputError, match="'f1' is the target itself"):
        run(name, X, X[:, 1].copy())
    for value in (None, np.nan):
        y[3] = value
        with pytest.raises(InputError, match="is missing in 1 samples, the first is row 3"):
            run(name, X, y)
    with pytest.raises(InputError, match="there is no target to explain: give target="):
        run(name, X, None)


@pytest.mark.parametrize("name", [*OF_TARGET, *OF_NONE])
def test_one_feature_and_few_samples(name: str) -> None:
    X, y = sample()
    if name in OF_NONE:
        with pytest.raises(InputError, match=r"(two features|three neurons), .*: name more\."):
            run(name, X[:, :1], y)
    else:
        assert run(name, X[:, :1], y).table["feature"].to_pylist()[0] == "f0"
    few = {"context": ["f", "f", "m", "m"]} if "context" in name else {}
    four = np.array([[0, 1], [1, 0], [2, 2], [0, 2]])
    for target in (["a", "b", "a", "b"], [0.1, 0.7, 0.2, 0.4]):
        numeric = isinstance(target[0], float)
        refused = name == "connectome" or (numeric and name in ("vote_shift", "per_class"))
        with pytest.raises(InputError) if refused else nullcontext():
            assert has_numbers(run(name, four, target, **few))


@pytest.mark.parametrize("name", ["context", "context_network"])
def test_contexts(name: str) -> None:
    X, y = sample()
    missing = SEX.astype(object)
    missing[2] = None
    for wrong, message in (
        (["a"] * N, r"only one value \(a\), .*: give a context with at least two"),
        ([f"s{i}" for i in range(N)], "40 values for 40 samples: give a context with several"),
        ([f"s{i % 35}" for i in range(N)], "35 values for 40 samples: .* at most 30"),
        ([f"s{i % 8}" for i in range(N)], "40 samples are too few for 8 contexts: .* 80 in all"),
        (["z", *SEX[1:]], "'z' has only one sample"),
        (missing, "^the context is missing in 1 samples, the first is row 2"),
        (SEX[:9], "^the context has 9 values and the source has 40 samples"),
    ):
        with pytest.raises(InputError, match=message):
            run(name, X, y, context=wrong)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(who=[f"s{i}" for i in range(N)], sex=SEX)
    with pytest.raises(InputError, match="40 values for 40 samples"):
        run(name, frame, y, context="who")
    with pytest.raises(InputError, match="there is none except 'sex'"):
        run(name, frame, y, context="sex", features=["sex"])
    with pytest.raises(InputError, match="'sex' is the context and there is no other feature"):
        srs.explain(frame, y, ["sex"], [(name, {**SIZES[name], "context": "sex"})])


@pytest.mark.parametrize("name", ["context", "context_network"])
def test_numbers_of_more_than_ten_values_are_cut(name: str) -> None:
    """Whole numbers, too, whether a few repeat or none."""
    X, y = sample()
    for age in (np.arange(N) % 13, np.arange(N)):
        contexts = run(name, X, y, context=age).settings["contexts"]
        assert contexts == ["low", "middle", "high"]


def test_counts_and_seeds() -> None:
    X, y = sample()
    counts = {
        "label_permutation": ("n_trees", "n_permutations"),
        "context": ("n_trees", "n_permutations"),
        "conditional_error_rate": ("n_trees", "n_permutations", "max_ranks"),
        "one_probe": ("n_trees", "n_forests"),
        "umfi": ("n_trees", "n_repeats"),
        "mci": ("n_trees", "max_size", "n_orders"),
        "network": ("n_trees", "max_links", "max_depth"),
        "context_network": ("n_trees", "n_permutations"),
    }
    for name in (*OF_TARGET, *OF_NONE):
        named = counts.get(name, () if name == "connectome" else ("n_trees",))
        for option, least in (*((option, 1) for option in (*named, "threads")), ("seed", 0)):
            with pytest.raises(InputError, match=f"{option} must be at least {least}, not"):
                run(name, X, y, **{option: least - 1})
        with pytest.raises(InputError, match="seed must be a whole number, not 'x'"):
            run(name, X, y, seed="x")


def test_requests_and_features() -> None:
    X, y = sample()
    for wrong, message in (
        ([("umfi", {"trees": 5})], "umfi has no option 'trees'; it has method, n_repeats, n_trees"),
        ([("mdi", {"n_trees": 5})], "mdi shares its forest .* give n_trees to explain"),
        (["umfi", "umfi=linear"], "the analysis umfi is named twice"),
        (["vote-shift=best"], "method of the analysis vote-shift must be one of .*, not 'best'"),
        ([3], "is a name or .name, options., not 3"),
        (None, "no analysis to run"),
    ):
        with pytest.raises(InputError, match=message):
            srs.explain(X, y, analyses=wrong)
    assert list(srs.explain(X, y, analyses="mdi", n_trees=5).analyses) == ["mdi"]
    for features, message in (
        ("f0", r"no folder of a run 'f0': name features in a list, e.g. \['f0'\]"),
        (["f0", "f1", "f0"], "'f0' is named 2 times"),
        ([1.5], "by whole numbers, not by 1.5"),
        ([], "the list of features is empty; name some"),
    ):
        with pytest.raises(InputError, match=message):
            srs.explain(X, y, features)
    with pytest.raises(InputError, match="rows of the list have different lengths"):
        srs.explain([[1.0, 2.0], [3.0]], [0, 1])


def test_command(tmp_path) -> None:
    """What a user of the command sees: one line, or the notice above the numbers."""
    X, y = sample()
    y[0] = "odd"
    frame = pd.DataFrame(X, columns=["a", "b" * 60, "c", "d"])
    frame.assign(who=[f"s{i}" for i in range(N)], y=y).to_csv(tmp_path / "t.csv", index=False)
    store = tmp_path / "t.zarr"
    invoke("ingest", tmp_path / "t.csv", store, "--target", "y")
    told = invoke(
        *[
            "explain",
            store,
            "--analysis",
            "mdi",
            "--trees",
            5,
            "--features",
            f"a,{'b' * 60}",
            "--out",
            tmp_path / "why",
        ],
    )
    assert "\nThe class 'odd' has only one sample" in told
    assert len({len(line) for line in told.splitlines() if line.startswith("  ")}) == 1
    done = run_srs("explain", store, "--analysis", "context=who", code=2)
    assert done.stderr.splitlines()[-1].startswith("srs: the context has 40 values for 40 samples")
    noise = srs.ingest(X, tmp_path / "n.zarr", target=np.random.default_rng(1).permutation(N) % 2)
    srs.select(noise, max_trees=20).save(tmp_path / "run")
    done = run_srs("explain", tmp_path / "n.zarr", "--features", tmp_path / "run", code=2)
    assert "the run found no relevant feature; name features instead" in done.stderr
