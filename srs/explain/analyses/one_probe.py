"""1Probe (Huynh-Thu et al. 2012): how often is a random feature ranked above a feature?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from srs.catalogue import MOST, Analysis, Option, Section
from srs.executors import LocalExecutor
from srs.explain.analyses.mda import accuracy_decrease
from srs.explain.forest import ForestSettings, OnProgress, grow_forest
from srs.explain.matrix import Matrix, open_matrix
from srs.explain.permuting.permuted import permute_features
from srs.ingest.encode.codes import encode_numeric
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table
from srs.seeds import EXPLAIN, make_rng

PROBE = EXPLAIN + 6
SIGNIFICANT = 0.05


def one_probe(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    n_forests: int = 100,
    n_trees: int = 100,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """p-values of features against one standard normal feature, fresh in each of many forests.

    value    mean decrease of accuracy, mean over forests
    error    its standard error over forests
    null     that of the random feature
    p_value  share of forests in which the random feature is ranked no lower
    label    "significant" where q_value < 0.05; "too few forests" where the random feature was
             always lower, and so few forests cannot show more

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> found = one_probe(X, X[:, 3] > 0, n_forests=49, n_trees=20)
    >>> found.frame.query("p_value < 0.05")["feature"].tolist()
    ['f3']
    """
    check_counts(seed=seed, n_forests=n_forests, n_trees=n_trees, threads=threads)
    matrix = open_matrix(data, target, features)
    settings = ForestSettings(n_trees)

    def grow(number: int) -> np.ndarray:
        wider = _with_probe(matrix, make_rng(seed, PROBE, number))
        own_seed = int(make_rng(seed, PROBE, number, 1).integers(1 << 62))
        forest = grow_forest(wider, settings, seed=own_seed, threads=1)
        return accuracy_decrease(forest, permute_features(forest))[0]

    found = []
    for values in LocalExecutor(threads).map(grow, range(n_forests)):
        found.append(values)
        if on_progress:
            on_progress(len(found) / n_forests)
    values = np.array(found)
    beaten = (values[:, -1:] >= values[:, :-1]).sum(axis=0)
    p_value = (beaten + 1.0) / (n_forests + 1.0)
    q_value = correct(p_value)
    mean = values.mean(axis=0)
    table = make_table(
        matrix.names,
        mean[:-1],
        error=values[:, :-1].std(axis=0) / np.sqrt(n_forests),
        null=np.full(matrix.n_features, mean[-1]),
        p_value=p_value,
        q_value=q_value,
        label=[_word(q, b) for q, b in zip(q_value.tolist(), beaten.tolist(), strict=True)],
    )
    used = {"n_forests": n_forests, "n_trees": n_trees, "seed": seed}
    notes = (*NOTES, *_of_number(n_forests, matrix.n_features), *matrix.notices)
    return AnalysisResult("one-probe", table, used, notes)


def _word(q_value: float, n_beaten: int) -> str | None:
    if q_value < SIGNIFICANT:
        return "significant"
    return None if n_beaten else "too few forests"


def _of_number(n_forests: int, n_features: int) -> list[str]:
    """What to know of the number of forests: which p-values it allows at all."""
    enough = math.floor(n_features / SIGNIFICANT)  # 1 / (1 + enough) x n_features is below
    if n_forests >= enough:
        return []
    return [
        f"{n_forests:,} forests give no p-value below {1 / (n_forests + 1):.2g}: a feature that is "
        f"the only relevant one of {n_features:,} needs {enough:,} forests to be significant after "
        'correction. Features labelled "too few forests" were always above the random one.'
    ]


def _with_probe(matrix: Matrix, rng: np.random.Generator) -> Matrix:
    """The matrix with one standard normal feature more, the last."""
    probe = encode_numeric(rng.normal(size=(1, matrix.n_samples)))[0].T
    return replace(
        matrix,
        codes=np.ascontiguousarray(np.hstack([matrix.codes, probe])),
        is_categorical=np.append(matrix.is_categorical, False),
        names=(*matrix.names, "probe"),
        feature_ids=np.append(matrix.feature_ids, -1),
    )


NOTES = (
    "Each forest gets a new random feature, but always the same samples: an irrelevant feature "
    "with a chance association in this sample beats it every time.",
)


ONE_PROBE_ANALYSIS = Analysis(
    name="one-probe",
    title="Against one random feature",
    question="Is a feature ranked above a random feature",
    run=one_probe,
    options=(
        Option(
            "n_forests", "int", "forests, each with a new random feature", 100, low=1, high=MOST
        ),
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
    ),
    section=Section(
        "The p-value is the share of forests in which a random feature was ranked at least as "
        "high; diamonds are its mean importance. A star marks p-values below 0.05."
    ),
)
