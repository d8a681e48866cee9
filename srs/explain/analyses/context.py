"""Context-dependent importance: which features matter more, or less, in a context.

Sutera et al. (2016), with totally randomised trees that do not see the context. Ours, beyond the
paper: numeric features (split at one random cut, and usable again below; trees then end at nodes of
ten samples a context), a numeric context (cut into thirds of equal size, or samples weighted by how
close they are to some points), and the tests behind the words (`srs.explain.context_words`).

Columns of the table:

value      Imp^|xc| (equation 11): how much the context changes what the feature tells
error      its standard error over trees
null       its mean over permutations of the context
p_value    share of permutations that reach it
signed     Imp_s^xc (equation 12): negative where the feature tells more in the context
p_signed   two-sided
ratio      |signed| / (value - null): 1 if all changes have one direction, 0 if they cancel
p_mixed    of changes against the direction of `signed`
imp        Imp: importance over all samples, with imp_error
given      Imp given the context: of a forest on its samples alone
shared     the same by the nodes of the forest over all samples (in Table 4)
p_given    of `given`, against permutations of the target within the context
p_equivalent  of `given` being `margin` x imp or more
overall    Imp^Xc: effect of knowing the context, p_overall two-sided
difference, p_difference  imp - given of separate forests (equation 9), if `separate`
label      "independent": p_value >= 0.05, so no dependence was shown. Else "complementary" (tells
           more) or "redundant" (less) where p_signed < 0.05, ratio >= 0.5 and p_mixed >= 0.05;
           "irrelevant": redundant, and p_equivalent < 0.05; "dependent": all others
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from srs.catalogue import MOST, Analysis, Option, Section
from srs.explain.context_forests import (
    ContextSums,
    Within,
    context_sums,
    grow_within,
    separate_differences,
)
from srs.explain.context_words import SIGNIFICANT, Tests, equivalence, make_tests, unit_of, words
from srs.explain.contexts import Contexts, described, open_context
from srs.explain.forest import OnProgress
from srs.explain.matrix import Matrix
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table, rank_p_values

EMPTY = ("skip", "zero")


def context(
    data: Any,
    target: Any = None,
    *,
    context: Any,
    features: Any = None,
    n_trees: int = 1000,
    n_permutations: int = 1000,
    points: int | None = None,
    empty: str = "skip",
    margin: float = 0.1,
    separate: bool = False,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """How the importance of each feature depends on a context, one row per feature and context.

    context   name of a feature (which then is none of those explained) or of a target of the
              store, or one value a sample; a number of more than ten values is cut into thirds
    points    at so many points of a numeric context instead, each with the samples close to it
    empty     nodes that no sample of a context reaches: "skip" leaves them out (the paper's
              definition); "zero" takes it that the feature tells nothing there (its Tables 3, 4)
    margin    what counts as nothing in "irrelevant": this share of `imp`
    separate  whether to test the difference of separate forests as well

    The head of this module says what the columns are.

    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.integers(0, 2, (400, 3)), np.repeat(["f", "m"], 200)
    >>> y = np.where(sex == "f", X[:, 0], X[:, 1])
    >>> found = context(X, y, context=sex, n_trees=100, n_permutations=99)
    >>> found.frame.query("part == 'f'")["label"].tolist()
    ['complementary', 'irrelevant', 'independent']
    """
    counts = {"n_trees": n_trees, "n_permutations": n_permutations}
    check_counts(seed=seed, threads=threads, points=points, **counts)
    own = {"empty": empty, "margin": margin, "separate": separate}
    CONTEXT_ANALYSIS.check({"context": context, **own})
    matrix, contexts = open_context(data, target, features, context, points=points)
    grown = _grow(matrix, contexts, {**counts, **own}, (seed, threads, on_progress))
    relevance = float(rank_p_values(grown.sums.context[:1], grown.sums.context[1:, None])[0])
    settings = {**described(context, contexts.labels), **counts, **own, "points": points}
    settings = {**settings, "seed": seed, "context_p_value": relevance}
    notes = (_of_context(relevance), *NOTES, *matrix.notices)
    return AnalysisResult("context", _table(matrix, contexts, grown), settings, notes)


@dataclass(frozen=True)
class _Grown:
    """The forests of an analysis: over all samples, within contexts, and separate ones if asked."""

    sums: ContextSums
    within: list[Within]
    tests: Tests
    differences: np.ndarray | None


def _grow(
    matrix: Matrix,
    contexts: Contexts,
    options: Mapping[str, Any],
    how: tuple[int, int | None, OnProgress | None],
) -> _Grown:
    """Grow what the options ask for; `how` is seed, threads and what shows progress."""
    seed, threads, on_progress = how
    show = on_progress or (lambda _: None)
    after = 0.4 if options["separate"] else 0.6
    sums = context_sums(
        matrix,
        contexts.weights,
        n_trees=options["n_trees"],
        n_permutations=options["n_permutations"],
        seed=seed,
        threads=threads,
        skip=options["empty"] == "skip",
        on_progress=lambda share: show(after * share),
    )
    within, p_equivalent = [], []
    for c in range(len(contexts)):
        rows = contexts.rows(c)
        within.append(grow_within(matrix, rows, options["n_trees"], threads, place=(seed, c)))
        smallest = options["margin"] * sums.imp
        p_equivalent.append(equivalence(within[-1], smallest, unit_of(matrix, rows)))
        show(after + (0.8 - after) * (c + 1) / len(contexts))
    differences = None
    if options["separate"]:
        differences = separate_differences(
            matrix,
            contexts.groups,
            sums.imp,
            n_permutations=options["n_permutations"],
            seed=seed,
            threads=threads,
            on_progress=lambda share: show(0.8 + 0.2 * share),
        )
    return _Grown(sums, within, make_tests(sums, np.array(p_equivalent)), differences)


def _table(matrix: Matrix, contexts: Contexts, grown: _Grown) -> pa.Table:
    """One row a context and feature, with what permutations say of it."""
    sums, within, tests, differences = grown.sums, grown.within, grown.tests, grown.differences
    p, n_contexts = matrix.n_features, len(contexts)
    absolute, signed = sums.absolute[..., 0], sums.signed[..., 0]
    overall = np.full(sums.overall.shape, np.nan) if contexts.smooth else sums.overall
    p_overall = rank_p_values(np.abs(overall[:, 0]), np.abs(overall[:, 1:].T))
    if contexts.smooth:  # weights of points do not share out the samples
        p_overall = overall[:, 0]
    repeated = np.tile(np.arange(p), n_contexts)
    difference = p_difference = np.full(absolute.shape, np.nan)
    if differences is not None:
        difference, null = differences[..., 0], np.moveaxis(differences[..., 1:], -1, 0)
        p_difference = rank_p_values(np.abs(difference), np.abs(null))
    return make_table(
        [matrix.names[j] for j in repeated],
        absolute.ravel(),
        part=[label for label in contexts.labels for _ in range(p)],
        error=sums.absolute_error.ravel(),
        null=sums.absolute[..., 1:].mean(axis=-1).ravel(),
        p_value=tests.p_absolute.ravel(),
        q_value=np.concatenate([correct(row) for row in tests.p_absolute]),
        label=words(tests, signed),
        signed=signed.ravel(),
        p_signed=tests.p_signed.ravel(),
        ratio=tests.ratio.ravel(),
        p_mixed=tests.p_mixed.ravel(),
        imp=sums.imp[repeated],
        imp_error=sums.imp_error[repeated],
        given=np.concatenate([w.given for w in within]),
        p_given=np.concatenate([w.p_given for w in within]),
        p_equivalent=tests.p_equivalent.ravel(),
        shared=(sums.reached - signed).ravel(),
        overall=overall[repeated, 0],
        p_overall=p_overall[repeated],
        difference=difference.ravel(),
        p_difference=p_difference.ravel(),
    )


NOTES = (
    "Labels follow p-values of single features, as in the paper; q-values correct for their "
    "number. A feature labelled independent was not shown to depend on the context.",
)


def _of_context(p_value: float) -> str:
    """What to know of the context itself (Theorem 1)."""
    if p_value < SIGNIFICANT:
        return (
            "The context itself carries information about the target, alone or together with "
            f"features (p = {p_value:.2g})."
        )
    return (
        "The context itself was not shown to carry information about the target, alone or "
        f"together with features (p = {p_value:.2g}). No feature can depend on a context that "
        "carries none, so read labels other than independent with care."
    )


CONTEXT_ANALYSIS = Analysis(
    name="context",
    title="Dependence on the context",
    question="Does a feature carry more, or less, information about the target in a context",
    run=context,
    value="context",
    options=(
        Option("context", "column", "the context: a feature or a target", required=True),
        Option("n_trees", "int", "trees of each forest", 1000, low=1, high=MOST),
        Option("n_permutations", "int", "permutations of the context", 1000, low=1, high=MOST),
        Option(
            "points",
            "int",
            "points of a numeric context, each with the samples close to it",
            None,
            low=2,
            high=30,
            none="numbers are cut into thirds",
        ),
        Option(
            "empty",
            "str",
            "nodes that no sample of a context reaches: left out, or counted as telling nothing",
            "skip",
            choices=EMPTY,
            label="Empty nodes",
        ),
        Option(
            "margin",
            "float",
            "share of the importance over all samples that counts as nothing in a context",
            0.1,
            low=0.001,
            high=1,
        ),
        Option(
            "separate",
            "bool",
            "also test the difference between separate forests",
            False,
            label="Separate forests",
        ),
    ),
    section=Section(
        "How much the context changes the information that a feature carries about the target. "
        "The thin line is the value by chance, from permuting the context. A star marks "
        "p-values below 0.05. Complementary: more information in this context; redundant: less; "
        "irrelevant: practically none; dependent: changed, but not in one direction throughout.",
        chart="groups",
        columns=(
            *("signed", "p_signed", "ratio", "p_mixed", "imp", "imp_error", "given", "p_given"),
            *("p_equivalent", "shared", "overall", "p_overall", "difference", "p_difference"),
        ),
    ),
)
