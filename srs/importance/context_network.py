"""Context x network: which links between features depend on a context (the paper's problem 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from srs.errors import InputError
from srs.importance.analysis import Analysis, check_counts, correct, make_table, rank_p_values
from srs.importance.context import context_sums, named, open_context
from srs.importance.forest import OnProgress
from srs.importance.network import normalised_target
from srs.importance.umfi import filled
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
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Analysis:
    """The context analysis with every feature in turn as the target: one row a link and context.

    Missing values of a target are taken as its median.

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
    check_counts(seed=seed, n_trees=n_trees, n_permutations=n_permutations, threads=threads)
    matrix, groups, labels = open_context(data, None, features, context, needs_target=False)
    names, p = matrix.names, matrix.n_features
    if p < 2:
        raise InputError(f"links need two features, and {names[0]!r} is the only one: name more.")
    rows: dict[str, list[Any]] = {key: [] for key in ("source", "target", "context")}
    parts: dict[str, list[np.ndarray]] = {
        key: [] for key in ("value", "signed", "p", "error", "null")
    }
    values = filled(matrix)
    for target in range(p):
        learned, _ = normalised_target(values[:, target], bool(matrix.is_categorical[target]))
        inputs = np.delete(np.arange(p), target)
        taken = matrix.take(inputs, _as_target(matrix.names[target], learned))
        own_seed = int(make_rng(seed, CONTEXT_NETWORK, target).integers(1 << 62))
        sums = context_sums(taken, groups, len(labels), n_trees, n_permutations, own_seed, threads)
        null = np.moveaxis(sums.absolute[..., 1:], -1, 0)
        for c, label in enumerate(labels):
            rows["source"] += [names[i] for i in inputs.tolist()]
            rows["target"] += [names[target]] * (p - 1)
            rows["context"] += [label] * (p - 1)
            parts["value"].append(sums.absolute[c, :, 0])
            parts["signed"].append(sums.signed[c, :, 0])
            parts["error"].append(sums.absolute_error[c])
            parts["null"].append(null[:, c].mean(axis=0))
            parts["p"].append(rank_p_values(sums.absolute[c, :, 0], null[:, c]))
        if on_progress:
            on_progress((target + 1) / p)
    joined = {key: np.concatenate(arrays) for key, arrays in parts.items()}
    words = [
        None if p_value >= 0.05 else "stronger" if signed < 0 else "weaker"
        for p_value, signed in zip(joined["p"], joined["signed"], strict=True)
    ]
    table = make_table(
        rows["source"], joined["value"],
        part=[f"{t} | {c}" for t, c in zip(rows["target"], rows["context"], strict=True)],
        error=joined["error"], null=joined["null"], p_value=joined["p"],
        q_value=correct(joined["p"]), label=words, signed=joined["signed"],
        target=rows["target"], context=rows["context"],
    )  # fmt: skip
    settings = {**named(context), "contexts": list(labels), "n_trees": n_trees,
                "n_permutations": n_permutations, "seed": seed}  # fmt: skip
    below, tested = int((joined["p"] < 0.05).sum()), len(joined["p"])
    note = (
        f"{below:,} of {tested:,} p-values are below 0.05, and chance alone would give "
        f"{0.05 * tested:,.0f}: q-values account for their number."
    )
    return Analysis("context-network", table, settings, (note,))


def _as_target(name: str, learned: Any) -> Target:
    """A feature as a target; its trees see the same numbers."""
    if len(learned.values):
        return Target(name, "regression", learned.values * learned.unit + learned.offset)
    labels = tuple(str(i) for i in range(learned.n_classes))
    return Target(name, "classification", learned.classes, labels)
