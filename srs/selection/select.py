"""Select the relevant features of a store: settings in, `Result` out."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from srs.engine.checkpoint import remove_checkpoint
from srs.engine.context import RunContext, make_context, require_samples, with_resident_codes
from srs.engine.kernels import ensure_compiled
from srs.engine.loop import Run
from srs.engine.memory import coordinator_mem, projected_mem, threads_that_fit
from srs.engine.state import Progress
from srs.engine.worker import make_task
from srs.executors import Executor, open_executor
from srs.memory import release_memory
from srs.results.result import Result
from srs.selection.document import make_result, run_notices, run_projected_mem
from srs.selection.expected import seconds_after
from srs.selection.feature_sets import choose_sets
from srs.selection.request import Request, read_request
from srs.settings import RunArguments
from srs.store import Chosen, FeatureStore

log = logging.getLogger("srs")


def select(
    store: FeatureStore | str | os.PathLike[str],
    *,
    # generated: settings
    fdr: float = 0.1,
    memory: str | int | None = None,
    seed: int = 0,
    mode: str = "default",
    target: str | None = None,
    pinned: Sequence[str | int] | None = None,
    subspace_size: int | None = None,
    max_trees: int | None = None,
    max_passes: int | None = None,
    max_seconds: float | None = None,
    carry_fraction: float = 0.5,
    max_carried: int = 40,
    round_size: int | None = None,
    root_share: float = 0.25,
    random_recall: bool = True,
    n_probes: int | None = None,
    evidence: Sequence[str] | None = None,
    rule: str = "tail",
    pairs: str = "auto",
    n_features: int | None = None,
    guarantee: str = "fdr",
    criterion: str | None = None,
    max_features: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    patience: int | None = None,
    paper_rule: str = "probe",
    probe_draws: int = 10,
    probe_share: float = 0.95,
    holdout: float = 0.0,
    keep_trees: bool = False,
    sample_weight: str | None = None,
    class_weight: str | None = None,
    confounders: Sequence[str] | None = None,
    subjects: str | None = None,
    covariates: Sequence[str] | None = None,
    samples: Chosen | None = None,
    features: Chosen | None = None,
    feature_sets: Any = None,
    threads: int | None = None,
    executor: Any = None,
    tls: str | os.PathLike[str] | None = None,
    task_timeout: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    finish: Any = None,
    # end generated
) -> Result:
    """Find the relevant features of a feature store, given open or by its path.

    Settings, written by `make generate`; the letter is that of the paper:
    fdr               False discovery rate of the relevant set: between 0 and 1
    memory            Memory limit of the process (with workers: of each worker), e.g. "512MB";
                      None: 2GB
    seed              Seed of all random numbers: the same seed gives the same result
    mode              "default", or "paper": Algorithm 7.1 of the thesis, unchanged
    target            Name of the target; None: the first of the store
    pinned            Names or ids of features that are in every subspace and reported separately;
                      trees may split on them, nothing is adjusted for them: see covariates; None:
                      none
    subspace_size     Features that a tree explores (q); None: from memory and data
    max_trees         Maximum number of trees; None: no limit; 1,000 in paper mode
    max_passes        Maximum number of passes over the features; None: no limit
    max_seconds       Maximum wall time, in seconds; None: a day; no limit in paper mode
    carry_fraction    Share of a subspace for carried features (alpha): between 0 and 1
    max_carried       Maximum number of carried columns of a tree in default mode
    round_size        Trees between two interim decisions, in whole batches; more trees keep more
                      workers busy; None: one pass, or 16 trees if a pass has fewer
    root_share        Share of trees whose root splits an outstanding carried column: between 0 and
                      1
    random_recall     Carry a random number of columns instead of the maximum
    n_probes          Number of probes per feature: 1, 3, 7; None: 7; 3 from 500 features, 1 from
                      3,000
    evidence          Kinds of evidence that count for the verdict: used, screened, peak,
                      univariate, pairs; None: the built-in ones; with sample_weight without used
    rule              "tail": p-values from the tail of the probes; "knockoff": the knockoff+ filter
    pairs             "all": look at all pairs of features for those that matter only together;
                      "auto": if that takes minutes at most; "off": leave them to the trees
    n_features        Select this many features, those with the smallest p-values, whatever their
                      error rate; None: as many as the false discovery rate allows
    guarantee         "fdr": the rate holds in the mean over lists; "confident": it also holds for
                      this list with 95 % confidence, if features are not strongly dependent
    criterion         Impurity that splits decrease: entropy, gini, variance; None: entropy;
                      variance for numbers
    max_features      Number of columns tried at a node (K); None: all
    max_depth         Maximum depth of a tree; None: no limit
    min_samples_leaf  Minimum number of samples in a leaf
    patience          Stop after this many rounds without a change of the relevant set; None: when
                      more trees would hardly change it
    paper_rule        Paper mode: "probe": what beats a random probe (7.C.1); "importance": whatever
                      gets an importance above 0 in a tree (step 2(c))
    probe_draws       Paper mode: a feature needs more draws than this (L)
    probe_share       Paper mode: a feature must beat the probe in more than this share of its draws
                      (beta): between 0 and 1
    holdout           Share of samples that are held out from the trees and predicted at the end:
                      between 0 and 0.9
    keep_trees        Write all trees to the folder of the run
    sample_weight     Column of the store: how much each sample counts; None: all alike
    class_weight      "balanced": all classes get the same total weight, including rare ones; None:
                      each sample counts once
    confounders       Columns of the store to adjust for by comparing only samples that are equal in
                      all of them, e.g. batch or pair; many columns or numbers: covariates; None:
                      none
    subjects          Column of the store: samples that belong together, e.g. those of one person;
                      None: every sample is its own subject
    covariates        Columns of the store to adjust for by a model of the target, e.g. age, sex and
                      principal components; numbers or categories; None: none
    samples           Ids or numbers of the samples to use; None: all
    features          Names or ids of the features to use, in addition to the pinned ones; None: all
    feature_sets      Features that are also tested together: a mapping from names of sets to
                      features, or a file (two columns, feature and set; or .gmt); None: none
    threads           Threads of this process, or of each started worker; the result does not depend
                      on it; None: all cores; 1 per worker
    executor          Where trees are grown: a number of worker processes to start, the address of a
                      Dask scheduler, or a distributed.Client; None: threads of this process
    tls               Folder with ca.pem, cert.pem and key.pem: workers and scheduler use TLS; None:
                      no TLS
    task_timeout      Seconds after which the worker of a task counts as hung and others take over;
                      None: ten times the slowest task so far, at least a minute
    folder            Folder for checkpoints and kept trees; None: nowhere
    resume            Continue from the checkpoint in the folder
    on_progress       Function that is called with a Progress while trees are grown
    finish            A threading.Event: once it is set, the run ends with what it has found; None:
                      it runs to its end

    >>> import numpy as np, srs
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(300, 40))
    >>> store = srs.ingest(X, target=(X[:, 3] + X[:, 7] > 0).astype(int))
    >>> srs.select(store, seed=1).relevant_names
    ['f3', 'f7']
    """
    return run_selection(read_request(locals()))


@dataclass
class Shared:
    """What runs on many targets of a store share.

    sharing   whether other runs follow
    executor  workers; None: each run has threads of its own
    codes     fingerprint of a store or view, and all its codes, if there was room for them
    """

    sharing: bool = False
    executor: Executor | None = None
    codes: tuple[str, np.ndarray] | None = None

    def codes_of(self, context: RunContext) -> np.ndarray | None:
        """The codes of a run, if they are here; others make room."""
        if self.codes is not None and self.codes[0] != context.store.fingerprint:
            self.codes = None
        return None if self.codes is None else self.codes[1]

    def keep(self, context: RunContext, n_parallel: int) -> None:
        """Keep the codes of a run, if they fit beside all that a run holds of its own."""
        allowed, shape = context.settings.allowed_mem, context.shape
        needed = projected_mem(shape, n_parallel, resident=True) + context.kept_mem
        if context.resident is not None and needed + coordinator_mem(shape) <= allowed:
            self.codes = (context.store.fingerprint, context.resident)


def run_selection(request: Request, shared: Shared | None = None) -> Result:
    """Run the loop on a request, and make its result."""
    settings, given = request.settings, request.run
    context = make_context(request.store, settings)
    release_memory()  # what ids and feature_classes were made from
    ensure_compiled()
    require_samples(context)
    for notice in run_notices(context):
        log.warning("%s", notice)
    sets = None
    if given.feature_sets is not None:
        sets = choose_sets(given.feature_sets, request.store, settings)
    folder = None if given.folder is None else Path(given.folder)
    shared = shared or Shared()
    with open_run_executor(request, shared.executor) as executor:
        run = _make_run(context, executor, folder, given, shared)
        if given.resume:
            run.restore()
        outcome = run.run()
        projected = run_projected_mem(run.context, executor)
        task = None if sets is None else run.task
        del run  # and the codes that it keeps: their memory is needed for the final decision
        release_memory()
        result = make_result(context, outcome, executor, projected, sets=sets, task=task)
    for caution in result.cautions:
        log.warning("%s", caution["sentence"])
    if folder is None:
        return result
    remove_checkpoint(folder)
    return replace(result, folder=folder)


def open_run_executor(
    request: Request, opened: Executor | None = None
) -> AbstractContextManager[Executor]:
    """What the trees of a request are grown on; one that is open already stays open."""
    if opened is not None:
        return nullcontext(opened)
    given = request.run
    return open_executor(
        given.executor,
        given.threads,
        request.settings.allowed_mem,
        tls=None if given.tls is None else Path(given.tls),
        task_timeout=given.task_timeout,
    )


def _make_run(
    context: RunContext,
    executor: Executor,
    folder: Path | None,
    given: RunArguments,
    shared: Shared,
) -> Run:
    asked = {
        "on_progress": given.on_progress,
        "finish": given.finish,
        "seconds_after": seconds_after(context, executor.n_parallel),
    }
    if executor.remote:
        task = make_task(context, executor.n_parallel)
        return Run(context, executor, folder, task=task, **asked)
    executor.n_parallel = threads_that_fit(
        context.shape, executor.n_parallel, context.settings.allowed_mem
    )
    context = with_resident_codes(context, executor.n_parallel, shared.codes_of(context))
    if shared.sharing:
        shared.keep(context, executor.n_parallel)
    return Run(context, executor, folder, **asked)
