"""Evidence that kinds gather apart from the trees of the loop (`EvidenceKind.collect`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from srs.errors import SettingsError
from srs.evidence.kinds import EvidenceKind
from srs.evidence.registry import evidence_kind

if TYPE_CHECKING:
    from srs.engine.context import RunContext


def collect_evidence(
    context: RunContext,
    run_specs: Callable[[Iterable[Any]], Iterator[Any]],
    n_rounds: int,
) -> dict[str, np.ndarray]:
    """What the kinds of a run gather after so many rounds, float32 (n_roles, n_features) each."""
    if context.settings.mode == "paper":  # has no evidence but that of its trees
        return {}
    found = {}
    for kind in map(evidence_kind, context.kinds):
        if kind.collect is not None and (n_rounds == 0 or kind.every_round):
            found[kind.name] = _checked(kind, context, kind.collect(context, run_specs, n_rounds))
    return found


def _checked(kind: EvidenceKind, context: RunContext, values: Any) -> np.ndarray:
    shape = (context.shape.n_roles, context.shape.n_features)
    array = np.asarray(values)
    if array.shape != shape or array.dtype != np.float32:
        raise SettingsError(
            f"the evidence {kind.name!r} is {array.dtype} of shape {array.shape}; it must be "
            f"float32 of shape {shape}."
        )
    if not (array >= 0).all() or np.isinf(array).any():
        raise SettingsError(f"the evidence {kind.name!r} has values that are missing or negative.")
    return array
