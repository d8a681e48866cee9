"""The stage after selection: `explain` runs analyses of `srs.explain.analyses` on few features.

Which analyses exist, what they need and what their options are is `srs.catalogue`, how they are
asked for `srs.catalogue.requests`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import srs
from srs.catalogue import Analysis
from srs.catalogue.requests import Request, parse_requests
from srs.engine.adjusting.strata import levels_of, sample_column
from srs.engine.samples import require_enough
from srs.errors import InputError, SettingsError
from srs.executors import available_cores
from srs.explain.forest import Forest, ForestSettings, OnProgress, grow_forest
from srs.explain.matrix import Matrix, open_matrix
from srs.results.analysis import AnalysisResult
from srs.results.documents.explanation import (
    ExplanationData,
    ExplanationMeasured,
    ExplanationSettings,
)
from srs.results.explanation import Explanation
from srs.results.result import Result, load_result

OnShare = Callable[[float, str], None]


@dataclass
class _Stage:
    """What the analyses of one call share; the forest is grown when the first needs it."""

    matrix: Matrix
    n_trees: int
    seed: int
    threads: int | None
    executor: Any
    show: OnProgress = field(default=lambda _: None)  # of the analysis that runs

    @cached_property
    def forest(self) -> Forest:
        return grow_forest(
            self.matrix,
            ForestSettings(self.n_trees),
            seed=self.seed,
            threads=self.threads,
            on_progress=self.show,
        )

    def run(self, analysis: Analysis, options: Mapping[str, Any]) -> AnalysisResult:
        function = analysis.function
        found: AnalysisResult
        if analysis.forest:
            found = function(self.forest, **options)
        else:
            where = {"executor": self.executor} if analysis.remote else {}
            found = function(
                self.matrix,
                seed=self.seed,
                threads=self.threads,
                on_progress=self.show,
                **where,
                **options,
            )
        if found.name != analysis.name:
            raise ValueError(f"the analysis {analysis.name} calls its result {found.name!r}.")
        return found


def run_analyses(
    data: Any,
    target: Any,
    features: Any,
    analyses: Sequence[Request],
    *,
    seed: int,
    n_trees: int,
    threads: int | None,
    subjects: str | None,
    executor: Any,
    on_progress: OnShare | None,
) -> Explanation:
    """See `srs.explain`."""
    requests = parse_requests([analyses] if isinstance(analyses, str) else analyses)
    if isinstance(features, (str, os.PathLike)):
        if not Path(features).exists():
            raise InputError(
                f"there is no folder of a run {str(features)!r}: name features in a list, e.g. "
                f"[{str(features)!r}]."
            )
        features = load_result(features)
    needs_target = any(analysis.target for analysis, _ in requests)
    matrix = open_matrix(data, target, features, needs_target=needs_target)
    require_enough(matrix.n_samples)
    if subjects is not None:
        matrix = _with_subjects(matrix, subjects, [analysis for analysis, _ in requests])
    started = perf_counter()
    stage = _Stage(matrix, n_trees, seed, threads, executor=executor)
    found, seconds = _run_each(stage, requests, on_progress)
    measured: ExplanationMeasured = {
        "seconds": round(perf_counter() - started, 3),
        "seconds_by_analysis": seconds,
        "threads": threads or available_cores(),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": srs.__version__,
    }
    shown = {analysis.name: {k: _shown(v) for k, v in opts.items()} for analysis, opts in requests}
    asked: ExplanationSettings = {"seed": seed, "n_trees": n_trees, "analyses": shown}
    if subjects is not None:
        asked["subjects"] = subjects
    run = features.digest if isinstance(features, Result) else None
    return Explanation(found, _describe(matrix), asked, measured, run)


def _run_each(
    stage: _Stage,
    requests: Sequence[tuple[Analysis, Mapping[str, Any]]],
    on_progress: OnShare | None,
) -> tuple[dict[str, AnalysisResult], dict[str, float]]:
    """What each analysis found, and its seconds."""
    found: dict[str, AnalysisResult] = {}
    seconds: dict[str, float] = {}
    for number, (analysis, options) in enumerate(requests):
        since, name = perf_counter(), analysis.name

        def show(share: float, number: int = number, name: str = name) -> None:
            if on_progress:
                on_progress((number + share) / len(requests), name)

        stage.show = show
        show(0.0)
        found[name] = stage.run(analysis, options)
        seconds[name] = round(perf_counter() - since, 3)
        show(1.0)
    return found, seconds


def _with_subjects(matrix: Matrix, subjects: str, analyses: Sequence[Analysis]) -> Matrix:
    apart = [analysis.name for analysis in analyses if not analysis.whole_subjects]
    if apart:
        raise SettingsError(f"the analysis {apart[0]} does not keep samples of a subject together.")
    if missing := int(sample_column(matrix.store, subjects).missing.sum()):
        raise InputError(
            f"the column {subjects!r} is missing in {missing} samples: explain a part of the "
            "store without these (store.view)."
        )
    return replace(matrix, subjects=levels_of(matrix.store, subjects))


def _describe(matrix: Matrix) -> ExplanationData:
    target = matrix.target
    return {
        "fingerprint": matrix.store.fingerprint,
        "n_samples": matrix.n_samples,
        "n_features": matrix.n_features,
        "features": list(matrix.names),
        "target": None if target is None else target.name,
        "target_kind": None if target is None else target.kind,
        "labels": [] if target is None else list(target.labels),
        "notices": list(matrix.notices),
    }


def _shown(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else "given as values"
