"""A target as plain columns, for files that other programs read."""

from __future__ import annotations

import numpy as np

from srs.targets.registry import target_kinds
from srs.targets.target import Target


def target_columns(target: Target) -> dict[str, np.ndarray]:
    """Values by the name of a column: one, or several of kinds that need more.

    >>> target_columns(Target("t", "survival", np.array([[2.0, 1.0], [3.0, 0.0]])))["t_event"]
    array([1., 0.])
    """
    if target.values.ndim == 1:
        return {target.name: target.values}
    kind = target_kinds().get(target.kind)
    beside = () if kind is None else kind.beside
    names = [*beside, *map(str, range(1, target.values.shape[1]))]
    more = {f"{target.name}_{names[at]}": one for at, one in enumerate(target.values.T[1:])}
    return {target.name: target.values[:, 0], **more}
