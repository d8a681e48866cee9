"""Why selected features matter: `explain` runs analyses of the `catalogue` on few features.

One file an analysis in `analyses`, which holds its function and its descriptor; others read the
descriptors in `srs.catalogue`. `forest`, `matrix`, `permuted`, `score` and `independence` are what
analyses share. What they return is in `srs.results`, how it is shown in `srs.report`. The entry
stands here as a thin door, so that `import srs` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srs.results.explanation import Explanation

__all__ = ["explain"]


def explain(
    data: Any,
    target: Any = None,
    features: Any = None,
    analyses: Sequence[str | tuple[str, Mapping[str, Any]]] = (
        "mdi",
        "mda",
        "label-permutation",
    ),
    seed: int = 0,
    *,
    n_trees: int = 1000,
    threads: int | None = None,
    subjects: str | None = None,
    executor: Any = None,
    on_progress: Callable[[float, str], None] | None = None,
) -> Explanation:
    """Why features matter: run analyses on the features of a store, an array or a data frame.

    data         feature store or its path, array (samples x features), or data frame
    target       values, or the name of a target of the store or of a column of the frame; None:
                 the first target of the store
    features     names or ids of features, a `srs.Result` or the folder of one (its relevant
                 features); None: all
    analyses     names, "name=value" (e.g. "context=sex"), or (name, options), e.g.
                 ("label-permutation", {"n_permutations": 500}); what there are, and their options
                 with types, defaults and ranges: `srs.ANALYSES`
    seed         the same seed gives the same result, on any number of threads
    n_trees      trees of the forest that mdi, mda, vote-shift and per-class share
    threads      None: all cores
    subjects     column of the store: samples that belong together are in or out of the bag of a
                 tree together, and are permuted as wholes
    executor     where the targets of a network are learned, as in `srs.select`: a
                 `distributed.Client`, the address of a scheduler, a number of worker processes;
                 None: threads of this process
    on_progress  called with the share done and what is being done

    >>> import numpy as np, srs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> found = srs.explain(X, X[:, 2] > 0, analyses=["mdi", "per-class"], n_trees=50)
    >>> found["mdi"].frame.nlargest(1, "value")["feature"].tolist()
    ['f2']
    """
    from srs.explain.run import run_analyses

    return run_analyses(
        data,
        target,
        features,
        analyses,
        seed=seed,
        n_trees=n_trees,
        threads=threads,
        subjects=subjects,
        executor=executor,
        on_progress=on_progress,
    )
