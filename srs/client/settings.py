"""Settings that a job of a service takes, by name; the service knows ranges and defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypedDict


class SelectSettings(TypedDict, total=False):
    """Settings of a selection, written from the description in `srs.settings`."""

    # generated: settings
    fdr: float
    memory: str
    seed: int
    mode: str
    target: str | None
    pinned: Sequence[str | int] | None
    subspace_size: int | None
    max_trees: int | None
    max_passes: int | None
    max_seconds: float | None
    carry_fraction: float
    max_carried: int
    round_size: int | None
    root_share: float
    random_recall: bool
    n_probes: int | None
    evidence: Sequence[str] | None
    rule: str
    pairs: str
    n_features: int | None
    guarantee: str
    criterion: str | None
    max_features: int | None
    max_depth: int | None
    min_samples_leaf: int
    patience: int | None
    paper_rule: str
    probe_draws: int
    probe_share: float
    holdout: float
    sample_weight: str | None
    class_weight: str | None
    confounders: Sequence[str] | None
    subjects: str | None
    covariates: Sequence[str] | None
    feature_sets: Any
    # end generated


class JobSettings(SelectSettings, total=False):
    """Settings of a selection, or of an explanation, which has two more."""

    analyses: Sequence[str | tuple[str, Mapping[str, Any]]]
    n_trees: int


def unknown_setting(given: Iterable[str]) -> str | None:
    """What to say of a name that no selection has; None if there is none.

    >>> unknown_setting(["seed", "max_tres"])
    "a selection has no setting 'max_tres'; did you mean max_trees?"
    """
    known = SelectSettings.__annotations__
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            return f"a selection has no setting {name!r}{hint}"
    return None
