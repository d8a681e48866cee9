"""What trees learn of a target, as their kernel wants it."""

from __future__ import annotations

import numpy as np

from srs.targets.registry import target_kind
from srs.targets.target import Target
from srs.trees import TreeTarget


def tree_target(
    target: Target, offsets: np.ndarray | None = None, residuals: np.ndarray | None = None
) -> TreeTarget:
    """A target for trees.

    offsets    what is taken off the numbers before
    residuals  of a null model, where these are learned
    """
    if residuals is not None:
        return TreeTarget.of_values(residuals)
    learned = target_kind(target.kind).learned(target)
    if target.has_classes:
        return TreeTarget.of_classes(learned, target.n_classes)
    return TreeTarget.of_values(learned if offsets is None else learned - offsets)
