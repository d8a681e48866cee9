"""Context x network: which links between features depend on a context (the paper's problem 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.explain.analyses.network import normalised_target
from srs.explain.analyses.umfi import filled
from srs.explain.context_forests import ContextSums, context_sums
from srs.explain.contexts import described, open_context
from srs.explain.forest import OnProgress
from srs.results.analysis import AnalysisResult, check_counts, correct, make_table, rank_p_values
from srs.seeds import EXPLAIN, make_rng
from srs.store import Target

CONTEXT_NETWORK = EXPLAIN + 10


def context_network(
    data: Any,
    *,
    context: Any,
    features: Any = None,
    n_trees: int = 1000,
    n_permutations: int = 1000,
    empty: str = "skip",
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """The context analysis with every feature in turn as the target: one row a link and context.

    Missing values of a target are its median. `empty` is that of the context analysis.
    feature, part  the link's source, and "target | context"
    value          Imp^|xc| of the source for the target, of unit variance
    p_value        share of permutations of the context that reach it; q_value over all links
    signed         negative where the link is stronger in the context
    target, context  the two halves of `part`
    label          "stronger" or "weaker" in the context where p_value < 0.05

    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 240))
    >>> day = np.repeat(["on", "off"], 120)
    >>> X = np.column_stack([a, b, np.where(day == "on", 2 * a, 2 * b) + 0.2 * c])
    >>> found = context_network(X, context=day, n_trees=50, n_permutations=99).frame
    >>> found.query("target == 'f2' and context == 'on'")["label"].tolist()
    ['stronger', 'weaker']
    """
    counts = {"n_trees": n_trees, "n_permutations": n_permutations}
    check_counts(seed=seed, threads=threads, **counts)
    CONTEXT_NETWORK_ANALYSIS.check({"context": context, "empty": empty})
    matrix, contexts = open_context(data, None, features, context, needs_target=False)
    names, p = matrix.names, matrix.n_features
    if p < 2:
        raise InputError(f"links need two features, and {names[0]!r} is the only one: name more.")
    rows = _Rows()
    values = filled(matrix)
    for target in range(p):
        learned, _ = normalised_target(values[:, target], bool(matrix.is_categorical[target]))
        inputs = np.delete(np.arange(p), target)
        taken = matrix.take(inputs, _as_target(matrix.names[target], learned))
        own_seed = int(make_rng(seed, CONTEXT_NETWORK, target).integers(1 << 62))
        sums = context_sums(
            taken,
            contexts.weights,
            seed=own_seed,
            threads=threads,
            skip=empty == "skip",
            on_progress=None,
            **counts,
        )
        rows.add(taken.names, names[target], contexts.labels, sums)
        if on_progress:
            on_progress((target + 1) / p)
    table = rows.table()
    settings = {**described(context, contexts.labels), **counts, "empty": empty, "seed": seed}
    note = _of_chance(table["p_value"].to_numpy())
    return AnalysisResult("context-network", table, settings, (note,))


def _of_chance(p_values: np.ndarray) -> str:
    """What to know of the number of p-values."""
    below, tested = int((p_values < 0.05).sum()), len(p_values)
    return (
        f"{below:,} of {tested:,} p-values are below 0.05, and chance alone would give "
        f"{0.05 * tested:,.0f}; q-values correct for their number."
    )


class _Rows:
    """Rows of the table, as they come: those of one target after another."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {key: [] for key in ("source", "target", "context")}
        self._parts: dict[str, list[np.ndarray]] = {
            key: [] for key in ("value", "signed", "p", "error", "null")
        }

    def add(
        self, sources: Sequence[str], target: str, contexts: Sequence[str], sums: ContextSums
    ) -> None:
        """The links from all sources to one target, by context."""
        null = np.moveaxis(sums.absolute[..., 1:], -1, 0)
        for c, label in enumerate(contexts):
            self._texts["source"] += list(sources)
            self._texts["target"] += [target] * len(sources)
            self._texts["context"] += [label] * len(sources)
            self._parts["value"].append(sums.absolute[c, :, 0])
            self._parts["signed"].append(sums.signed[c, :, 0])
            self._parts["error"].append(sums.absolute_error[c])
            self._parts["null"].append(null[:, c].mean(axis=0))
            self._parts["p"].append(rank_p_values(sums.absolute[c, :, 0], null[:, c]))

    def table(self) -> pa.Table:
        joined = {key: np.concatenate(arrays) for key, arrays in self._parts.items()}
        texts = self._texts
        words = [
            None if p_value >= 0.05 else "stronger" if signed < 0 else "weaker"
            for p_value, signed in zip(joined["p"], joined["signed"], strict=True)
        ]
        return make_table(
            texts["source"],
            joined["value"],
            part=[f"{t} | {c}" for t, c in zip(texts["target"], texts["context"], strict=True)],
            error=joined["error"],
            null=joined["null"],
            p_value=joined["p"],
            q_value=correct(joined["p"]),
            label=words,
            signed=joined["signed"],
            target=texts["target"],
            context=texts["context"],
        )


def _as_target(name: str, learned: Any) -> Target:
    """A feature as a target; its trees see the same numbers."""
    if len(learned.values):
        return Target(name, "numbers", learned.values * learned.unit + learned.offset)
    labels = tuple(str(i) for i in range(learned.n_classes))
    return Target(name, "classes", learned.classes, labels)


CONTEXT_NETWORK_ANALYSIS = Analysis(
    name="context-network",
    title="Links that depend on the context",
    question="Which links between features depend on a context",
    run=context_network,
    value="context",
    options=(
        Option("context", "column", "the context: a feature or a target", required=True),
        Option("n_trees", "int", "trees of each forest", 1000, low=1, high=MOST),
        Option("n_permutations", "int", "permutations of the context", 1000, low=1, high=MOST),
        Option(
            "empty",
            "str",
            "nodes that no sample of a context reaches: left out, or counted as telling nothing",
            "skip",
            choices=("skip", "zero"),
            label="Empty nodes",
        ),
    ),
    target=False,
    section=Section(
        "Links with p-values below 0.05, one drawing per context. Solid: stronger in this "
        "context; dashed: weaker.",
        chart="changed-links",
        columns=("signed", "target", "context"),
        nothing="No link has a p-value below 0.05 in any context.",
    ),
)
