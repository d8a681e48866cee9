"""Mean decrease of accuracy (MDA), or permutation importance, with its z-score.

Options make it what others proposed: the mean of several permutations (thesis, equation 4.4),
permutation within cells of associated features (Strobl et al. 2008), the area under the curve as
accuracy (Janitza et al. 2013), folds instead of bags and the test with mirrored importances
(Janitza et al. 2018). Intervals are `mda_intervals`, a test of each feature `feature_permutation`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from srs.catalogue import Analysis, Option, Section
from srs.errors import InputError, SettingsError
from srs.explain.forest import Forest, forest_of, grow_forest
from srs.explain.matrix import Matrix
from srs.explain.permuting.mirrored import few_mirrored, mirrored_p_values
from srs.explain.permuting.permuted import Permuted, permute_features
from srs.explain.permuting.shuffles import Scheme, associations, shuffle_features
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

FOLDS = EXPLAIN + 12
ERROR, AUC = "error", "auc"
Z_SCORE, MIRRORED = "z-score", "mirrored"
USUAL = {"n_repeats": 1, "loss": ERROR, "conditional": False, "n_folds": None, "test": Z_SCORE}
ASSOCIATED = 0.2  # Strobl's threshold, for the size of an association


def mda(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_repeats: int = 1,
    loss: str = ERROR,
    conditional: bool = False,
    associated: float = ASSOCIATED,
    n_folds: int | None = None,
    test: str = Z_SCORE,
    n_trees: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> AnalysisResult:
    """Mean decrease of accuracy of each feature (thesis 4.2.2, equation 4.5).

    n_repeats    permutations of each feature in each tree, whose mean is taken (equation 4.4)
    loss         "error": share of wrong classes, or mean squared error; "auc": 1 less the area
                 under the ROC curve, of each class against the others (classes only)
    conditional  permute a feature only among samples that a tree does not tell apart by the
                 features it is associated with: what it adds to them
    associated   association from which on features count as associated, 0 to 1
    n_folds      parts of the samples, each predicted by forests of the others; None: samples that a
                 tree did not draw
    test         "z-score", or "mirrored": p-values from the importances that are not positive

    value    mean over trees of what shuffling the feature adds to the loss on the samples that the
             tree did not see
    error    standard error over trees
    z_score  value / error (equation 4.20)
    p_value  of the z-score, one-sided, under the normal law; or of the mirrored null

    data may be a `Forest`, which is then used as it is; else see `srs.explain`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> found = mda(X, X[:, 1] + X[:, 2] > 0, n_trees=100)
    >>> sorted(found.frame.nlargest(2, "value")["feature"])
    ['f1', 'f2']
    """
    given = {
        "n_repeats": n_repeats,
        "loss": loss,
        "conditional": conditional,
        "n_folds": n_folds,
        "test": test,
    }
    chosen = {name: value for name, value in given.items() if value != USUAL[name]}
    check_counts(n_repeats=n_repeats, n_folds=n_folds)
    if loss not in (ERROR, AUC) or test not in (Z_SCORE, MIRRORED):
        raise SettingsError(
            f"loss must be {ERROR} or {AUC}, and test {Z_SCORE} or {MIRRORED}, not {loss!r} and "
            f"{test!r}."
        )
    forest = forest_of(data, target, features, n_trees, seed, threads=threads)
    if conditional:
        chosen["associated"] = associated
    scheme = _scheme(forest.matrix, n_repeats, loss, associated if conditional else None)
    return _result(forest, _decrease(forest, scheme, n_folds), chosen)


def _result(
    forest: Forest, found: tuple[np.ndarray, np.ndarray, np.ndarray], chosen: dict[str, Any]
) -> AnalysisResult:
    """The table of values, errors and numbers of trees; chosen are the options beyond the usual."""
    value, error, n_used = found
    z_score = np.divide(value, error, out=np.zeros_like(value), where=error > 0)
    p_value = np.maximum(ndtr(-z_score), np.finfo(float).tiny)
    notes: tuple[str, ...] = (Z_NOTE,)
    if "test" in chosen:
        p_value, notes = mirrored_p_values(value), (MIRRORED_NOTE, *few_mirrored(value))
    table = make_table(
        forest.matrix.names,
        value,
        error=error,
        null=np.zeros_like(value),
        p_value=p_value,
        q_value=correct(p_value),
        z_score=z_score,
        n_trees_used=n_used,
    )
    settings = {"n_trees": forest.n_trees, "seed": forest.seed, **chosen}
    if "conditional" in chosen:
        notes = (CONDITIONAL_NOTE, *notes)
    return AnalysisResult("mda", table, settings, (*notes, *forest.matrix.notices))


Z_NOTE = (
    "The z-score treats trees as independent observations. They see the same samples, so it "
    "grows without bound with the number of trees (Strobl and Zeileis 2008). It shows "
    "whether this forest uses the feature, not whether the feature matters in the "
    "population."
)
MIRRORED_NOTE = (
    "p-values compare an importance with those that are not positive and their mirror images: what "
    "features have that do not matter (Janitza et al. 2018)."
)
CONDITIONAL_NOTE = (
    "A feature was permuted only among samples that are alike in the features it is associated "
    "with, so its importance is what it adds to those. A feature that others can replace has none."
)


def _scheme(matrix: Matrix, n_repeats: int, loss: str, associated: float | None) -> Scheme | None:
    """How features are shuffled; None: in Breiman's way."""
    if loss == AUC and not matrix.is_classification:
        raise InputError("the area under the curve needs classes, and the target has numbers.")
    if n_repeats == 1 and loss == ERROR and associated is None:
        return None
    if associated is None:
        return Scheme(n_repeats, auc=loss == AUC)
    return Scheme(n_repeats, auc=loss == AUC, given=associations(matrix) >= max(associated, 1e-12))


def _decrease(
    forest: Forest, scheme: Scheme | None, n_folds: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean rise of the loss by feature, its standard error, and how many trees use the feature."""
    parts = []
    for number, held_out in enumerate([None] if n_folds is None else _folds(forest, n_folds)):
        grown = forest if held_out is None else _without(forest, held_out, number)
        found = permute_features(grown) if scheme is None else shuffle_features(grown, scheme)
        parts.append(found._replace(tree=found.tree + number * forest.n_trees))
    joined = parts[0]._replace(
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("tree", "column", "rise", "base")
        }
    )
    value, error = accuracy_decrease(forest, joined)
    return value, error, np.bincount(joined.column, minlength=forest.matrix.n_features)


def _folds(forest: Forest, n_folds: int) -> list[np.ndarray]:
    """The samples of each fold; those of a subject are in one."""
    matrix = forest.matrix
    units = np.arange(matrix.n_samples) if matrix.subjects is None else matrix.subjects
    names, unit = np.unique(units, return_inverse=True)
    if not 2 <= n_folds <= len(names):
        raise SettingsError(
            f"n_folds must be a whole number from 2 to {len(names)}, the number of samples or "
            f"subjects, not {n_folds}."
        )
    fold = make_rng(forest.seed, FOLDS).permutation(len(names)) % n_folds
    return [np.flatnonzero(fold[unit] == number) for number in range(n_folds)]


def _without(forest: Forest, held_out: np.ndarray, number: int) -> Forest:
    """A forest of the same kind that saw all samples but those held out."""
    matrix = forest.matrix
    seen = np.setdiff1d(np.arange(matrix.n_samples), held_out)
    own_seed = int(make_rng(forest.seed, FOLDS, number).integers(1 << 62))
    grown = grow_forest(
        matrix, forest.settings, seed=own_seed, threads=forest.threads, samples=seen
    )
    in_bag = grown.in_bag.copy()
    in_bag[:, seen] = np.maximum(in_bag[:, seen], 1)
    return replace(grown, in_bag=in_bag)


def accuracy_decrease(forest: Forest, permuted: Permuted) -> tuple[np.ndarray, np.ndarray]:
    """Mean rise of the loss by feature, and its standard error over trees."""
    n = max(int(np.isfinite(permuted.base).sum()), 1)
    p = forest.matrix.n_features
    value = np.bincount(permuted.column, permuted.rise, p) / n
    squares = np.bincount(permuted.column, permuted.rise**2, p) / n
    return value, np.sqrt(np.maximum(squares - value**2, 0.0) / max(n - 1, 1))


MDA_ANALYSIS = Analysis(
    name="mda",
    title="Mean decrease of accuracy",
    question="How much worse a forest predicts unseen samples without a feature",
    run=mda,
    forest=True,
    whole_subjects=True,
    options=(
        Option("n_repeats", "int", "permutations of a feature in each tree", 1, low=1, high=1000),
        Option(
            "loss",
            "str",
            "error, or auc: 1 less the area under the ROC curve, for unequal classes",
            ERROR,
            choices=(ERROR, AUC),
        ),
        Option(
            "conditional",
            "bool",
            "permute only among samples alike in associated features",
            False,
        ),
        Option(
            "associated",
            "float",
            "association from which on features count as associated",
            ASSOCIATED,
            low=0,
            high=1,
        ),
        Option(
            "n_folds",
            "int",
            "parts of the samples, each predicted by forests of the others",
            low=2,
            high=1000,
            none="samples that a tree did not draw",
        ),
        Option(
            "test",
            "str",
            "z-score over trees, or mirrored: against importances that are not positive",
            Z_SCORE,
            choices=(Z_SCORE, MIRRORED),
        ),
    ),
    section=Section(
        "How much worse the forest predicts samples it has not seen when the values of the "
        "feature are shuffled. Whiskers are two standard errors over trees; a star marks p-values "
        "below 0.05.",
        columns=("z_score", "n_trees_used"),
    ),
)
