"""The stage after selection: `explain` runs analyses of `srs.importance` on few features.

Which analysis exists, what it needs and what its value means is `srs.analyses`; a new analysis is
one new file of `srs.importance`, an entry there, and a line of `CALLS` here.
"""

from __future__ import annotations

import inspect
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow.parquet as pq

from srs import importance
from srs.analyses import ANALYSES, USUAL
from srs.errors import SettingsError
from srs.executors import available_cores
from srs.importance import Analysis, Forest, ForestSettings, Matrix, grow_forest, open_matrix
from srs.report import render_explanation
from srs.result import (
    EXPLANATION_NAME,
    JSON_NAME,
    Result,
    load_result,
    read_explanation,
    write_report,
    write_text,
)
from srs.samples import levels_of

FORMAT = "srs-explanation"
SCHEMA_VERSION = 1
PAGE_NAME = "explain.html"

OnShare = Callable[[float, str], None]


@dataclass(frozen=True)
class Call:
    """How `explain` calls an analysis.

    function  the analysis
    forest    whether it uses the forest that analyses share
    remote    whether it can run on an executor
    """

    function: Callable[..., Analysis]
    forest: bool = False
    remote: bool = False


CALLS: dict[str, Call] = {
    "mdi": Call(importance.mdi, forest=True),
    "mda": Call(importance.mda, forest=True),
    "label-permutation": Call(importance.label_permutation),
    "conditional-error-rate": Call(importance.conditional_error_rate),
    "context": Call(importance.context),
    "vote-shift": Call(importance.vote_shift, forest=True),
    "one-probe": Call(importance.one_probe),
    "per-class": Call(importance.per_class, forest=True),
    "umfi": Call(importance.umfi),
    "mci": Call(importance.mci),
    "network": Call(importance.network, remote=True),
    "connectome": Call(importance.connectome),
    "context-network": Call(importance.context_network),
}
WHOLE_SUBJECTS = (
    "mdi", "mda", "label-permutation", "conditional-error-rate", "vote-shift", "per-class", "umfi",
    "mci",
)  # fmt: skip

GIVEN = {"data", "target", "features", "seed", "threads", "executor", "on_progress"}

Request = str | tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Explanation:
    """What the analyses said. Made by `srs.explain`.

    analyses  name -> Analysis, in the order of the request
    data      n_samples, n_features, names, target, task, labels and notices
    settings  seed and requests
    measured  seconds, versions: what differs between equal runs
    run       digest of the result whose features are explained; None if they are of none
    """

    analyses: Mapping[str, Analysis]
    data: Mapping[str, Any]
    settings: Mapping[str, Any]
    measured: Mapping[str, Any]
    run: str | None = None

    def __repr__(self) -> str:
        return f"<Explanation of {self.data['n_features']} features: {', '.join(self.analyses)}>"

    def __getitem__(self, name: str) -> Analysis:
        return self.analyses[name]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values; equal data, settings and seed differ in "measured" only."""
        return {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "run": self.run,
            "settings": dict(self.settings),
            "data": dict(self.data),
            "analyses": [analysis.to_json() for analysis in self.analyses.values()],
            "measured": dict(self.measured),
        }

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write explain.json, a Parquet table an analysis, and a page, whose path is returned.

        In the folder of the run whose features are explained, the page is its report.html, which
        gains a section an analysis; analyses of that run that are there already stay. Elsewhere
        the page is explain.html.
        """
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for name, analysis in self.analyses.items():
            pq.write_table(analysis.table, path / f"{name}.parquet")
        document = self.to_json()
        result = self._run_in(path)
        if result is not None:
            there = read_explanation(path, result) or {"analyses": []}
            kept = [a for a in there["analyses"] if a["name"] not in self.analyses]
            document["analyses"] = [*kept, *document["analyses"]]
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
        write_text(path / EXPLANATION_NAME, text)
        if result is not None:
            return write_report(path, result)
        write_text(path / PAGE_NAME, render_explanation(document))
        return path / PAGE_NAME

    def _run_in(self, folder: Path) -> Result | None:
        """The result in a folder, if it is the one whose features are explained."""
        if self.run is None or not (folder / JSON_NAME).is_file():
            return None
        result = load_result(folder)
        return result if result.digest == self.run else None


def explain(
    data: Any,
    target: Any = None,
    features: Any = None,
    analyses: Sequence[Request] = USUAL,
    seed: int = 0,
    *,
    n_trees: int = 1000,
    threads: int | None = None,
    subjects: str | None = None,
    executor: Any = None,
    on_progress: OnShare | None = None,
) -> Explanation:
    """Why features matter: run analyses on the features of a store, an array or a data frame.

    data         feature store or its path, array (samples x features), or data frame
    target       values, or the name of a target of the store or of a column of the frame; None:
                 the first target of the store
    features     names or ids of features, a `srs.Result` or the folder of one (its relevant
                 features); None: all
    analyses     names, "name=value" (as "context=sex"), or (name, options) for any options of
                 the function of that name in `srs.importance`
    seed         the same seed gives the same answer, on any number of threads
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
    if isinstance(analyses, str):
        analyses = [analyses]
    requests = [_parse(request) for request in analyses or ()]
    if not requests:
        raise SettingsError("there is no analysis to run: name some, as in analyses=['mdi'].")
    twice = [name for name, times in Counter(name for name, _ in requests).items() if times > 1]
    if twice:
        raise SettingsError(f"the analysis {twice[0]} is named twice: run it once a call.")
    needs_target = any(ANALYSES[name].target for name, _ in requests)
    if isinstance(features, (str, os.PathLike)):
        features = load_result(features)
    matrix = open_matrix(data, target, features, needs_target=needs_target)
    if subjects is not None:
        matrix = _with_subjects(matrix, subjects, [name for name, _ in requests])
    started = perf_counter()
    found: dict[str, Analysis] = {}
    seconds: dict[str, float] = {}
    forest: Forest | None = None
    for number, (name, options) in enumerate(requests):
        since = perf_counter()

        def show(share: float, number: int = number, name: str = name) -> None:
            if on_progress:
                on_progress((number + share) / len(requests), name)

        show(0.0)
        call = CALLS[name]
        if call.forest:
            forest = forest or grow_forest(
                matrix, ForestSettings(n_trees), seed=seed, threads=threads, on_progress=show
            )
            found[name] = call.function(forest, **options)
        else:
            where = {"executor": executor} if call.remote else {}
            found[name] = call.function(
                matrix, seed=seed, threads=threads, on_progress=show, **where, **options
            )
        seconds[name] = round(perf_counter() - since, 3)
        show(1.0)
    measured = {
        "seconds": round(perf_counter() - started, 3),
        "seconds_by_analysis": seconds,
        "threads": threads or available_cores(),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("srs"),
    }
    shown = {name: {k: _shown(v) for k, v in options.items()} for name, options in requests}
    settings = {"seed": seed, "n_trees": n_trees, "analyses": shown}
    if subjects is not None:
        settings["subjects"] = subjects
    run = features.digest if isinstance(features, Result) else None
    return Explanation(found, _describe(matrix), settings, measured, run)


def _with_subjects(matrix: Matrix, subjects: str, names: Sequence[str]) -> Matrix:
    apart = [name for name in names if name not in WHOLE_SUBJECTS]
    if apart:
        raise SettingsError(f"the analysis {apart[0]} does not keep samples of a subject together.")
    return replace(matrix, subjects=levels_of(matrix.store, subjects))


def _describe(matrix: Matrix) -> dict[str, Any]:
    target = matrix.target
    return {
        "fingerprint": matrix.store.fingerprint,
        "n_samples": matrix.n_samples,
        "n_features": matrix.n_features,
        "features": list(matrix.names),
        "target": None if target is None else target.name,
        "task": None if target is None else target.task,
        "labels": [] if target is None else list(target.labels),
        "notices": list(matrix.notices),
    }


def _shown(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else "given as values"


def _parse(request: Request) -> tuple[str, dict[str, Any]]:
    """ "name", "name=value" or (name, options) as name and options."""
    options: dict[str, Any] = {}
    if isinstance(request, str):
        name, _, value = request.partition("=")
    elif isinstance(request, tuple) and len(request) == 2:
        name, value = request[0], ""
        options = dict(request[1])
    else:
        raise SettingsError(f"an analysis is a name or (name, options), not {request!r}.")
    name = name.strip().replace("_", "-")
    if name not in ANALYSES:
        raise SettingsError(f"there is no analysis {name!r}; there are {', '.join(ANALYSES)}.")
    kind = ANALYSES[name]
    if value:
        if kind.value is None:
            raise SettingsError(f"the analysis {name} takes no value, and was given {value!r}.")
        options[kind.value] = value
    _check_options(name, options)
    if kind.required and kind.value not in options:
        raise SettingsError(f"the analysis {name} needs a {kind.value}: write {name}=NAME.")
    return name, options


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    call = CALLS[name]
    known = set(inspect.signature(call.function).parameters) - GIVEN
    if call.forest:
        known.discard("n_trees")
    for option in options:
        if option == "n_trees" and call.forest:
            raise SettingsError(
                f"{name} shares its forest with other analyses: give n_trees to explain itself."
            )
        if option not in known:
            offered = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise SettingsError(f"the analysis {name} has no option {option!r}; {offered}.")
