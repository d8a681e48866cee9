"""Select features for many targets of one store: one run each, with what they can share.

Each result is that of `srs.select` on its target, to the byte. Runs share the process, its compiled
kernels, workers and, where there is room, the codes in memory. Results go to their folders one by
one, so that memory does not grow with the number of targets, and what is there is not done again.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srs.engine.checkpoint import has_checkpoint
from srs.engine.state import Progress
from srs.errors import CheckpointError, InputError, MemoryBudgetError, SettingsError, SourceError
from srs.memory import release_memory
from srs.results.many import ManyResults, folders_of, write_overview
from srs.results.result import JSON_NAME, Result, load_result
from srs.selection.request import Request, read_request
from srs.selection.select import Shared, open_run_executor, run_selection, select
from srs.settings import Settings
from srs.store import FeatureStore, open_store

log = logging.getLogger("srs")

ALL = "all"
MORE_ALLOWED = ("allowed_mem", "max_trees", "max_passes", "max_seconds")
OF_ONE_TARGET = (InputError, SettingsError, SourceError)  # the others can still be done


@dataclass(frozen=True)
class ManyProgress:
    """How far runs on many targets are.

    target     the present one
    n_done     targets that are done
    n_targets  all
    run        progress of the present run; None: it has just been done
    """

    target: str
    n_done: int
    n_targets: int
    run: Progress | None


def select_many(
    store: FeatureStore | str | os.PathLike[str],
    targets: Sequence[str] | str = ALL,
    *,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[ManyProgress], None] | None = None,
    on_result: Callable[[Result], Result] | None = None,
    **settings: Any,
) -> ManyResults:
    """Find the relevant features of each of many targets of a store.

    targets      names of targets of the store, or "all": all except those that `confounders`,
                 `subjects` and `sample_weight` name
    folder       where results are saved as they are made, one folder per target, with an overview;
                 None: they are kept in memory
    resume       leave out targets whose result is in the folder, and continue the one that was
                 interrupted
    on_progress  function that is called with a `ManyProgress`
    on_result    function that is called with each result; what it returns is kept
    settings     all others of `srs.select`, for every target; max_seconds is of one target

    The result of a target is that of `srs.select(store, target=..., **settings)`, to the byte, and
    so is its error rate. A target that cannot be learned is told in `failed`.

    >>> import numpy as np, srs
    >>> X = np.random.default_rng(2).normal(size=(200, 30))
    >>> store = srs.ingest(X, target={"a": X[:, 3] > 0, "b": X[:, 7]})
    >>> {name: result.relevant_names for name, result in srs.select_many(store).items()}
    {'a': ['f3'], 'b': ['f7']}
    """
    opened = store if isinstance(store, FeatureStore) else open_store(store)
    given = _with_defaults(settings)
    names = choose_targets(opened, targets, given)
    if resume and folder is None:
        raise SettingsError("resume needs the folder of the runs.")
    many = _Many(opened, given, names, None if folder is None else Path(folder))
    many.on_progress, many.on_result = on_progress, on_result
    return many.run(resume)


def _with_defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of `srs.select` except the store and the target."""
    known = inspect.signature(select).parameters
    own = ("store", "target", "folder", "resume", "on_progress")
    for name in settings:
        if name not in known or name in own:
            raise SettingsError(f"srs.select_many has no argument {name!r}.")
    return {
        name: settings.get(name, parameter.default)
        for name, parameter in known.items()
        if name not in own
    }


def choose_targets(
    store: FeatureStore, targets: Sequence[str] | str, given: Mapping[str, Any]
) -> list[str]:
    """The names of the targets, each once; an InputError names one that there is not."""
    used = {given.get("subjects"), given.get("sample_weight")}
    for several in ("covariates", "confounders"):
        used |= {*(given.get(several) or ())}
    if isinstance(targets, str):
        if targets != ALL:
            raise SettingsError(f'targets must be a list of names or "all", not {targets!r}.')
        names = [name for name in store.target_names if name not in used]
    else:
        names = list(dict.fromkeys(targets))
        for name in names:
            if name not in store.target_names:
                known = ", ".join(store.target_names) or "none"
                raise InputError(f"there is no target {name!r}; the store has {known}.")
    if not names:
        raise InputError("there are no targets to select features for: add some (srs targets add).")
    return names


class _Many:
    """Runs on the targets of a store, one after the other."""

    def __init__(
        self,
        store: FeatureStore,
        given: Mapping[str, Any],
        names: Sequence[str],
        folder: Path | None,
    ) -> None:
        self.store, self.given, self.names, self.folder = store, given, names, folder
        self.on_progress: Callable[[ManyProgress], None] | None = None
        self.on_result: Callable[[Result], Result] | None = None
        self._places = folders_of(names)
        self._n_done = 0
        self._found: dict[str, Result | Path] = {}
        self._failed: dict[str, str] = {}

    def run(self, resume: bool) -> ManyResults:
        """Run all."""
        shared = Shared(sharing=len(self.names) > 1)
        finish = self.given["finish"]
        with ExitStack() as stack:
            for name in self.names:
                if finish is not None and finish.is_set():
                    self._failed[name] = "the run was ended before its turn."
                    continue
                try:
                    self._found[name] = self._run_one(name, resume, shared, stack)
                except MemoryBudgetError:
                    raise
                except OF_ONE_TARGET as error:
                    self._failed[name] = str(error)
                    log.warning("the target %r has no result: %s", name, error)
                    if len(self.names) == 1:
                        raise
                self._n_done += 1
                self._tell(name, None)
                release_memory()
        results = ManyResults(self._found, self._failed, self.folder)
        if self.folder is not None:
            write_overview(results, self.folder)
        return results

    def _run_one(self, name: str, resume: bool, shared: Shared, stack: ExitStack) -> Result | Path:
        folder = None if self.folder is None else self.folder / self._places[name]
        asked = {
            **self.given,
            "store": self.store,
            "target": name,
            "folder": folder,
            "resume": resume and folder is not None and has_checkpoint(folder),
            "on_progress": lambda now: self._tell(name, now),
        }
        request = read_request(asked)
        if folder is not None and resume and (folder / JSON_NAME).exists():
            _check_same(folder, request)
            return folder
        if request.run.executor is not None and shared.executor is None:
            shared.executor = stack.enter_context(open_run_executor(request))
        result = run_selection(request, shared)
        if self.on_result is not None:
            result = self.on_result(result)
        return result if folder is None else result.save(folder)

    def _tell(self, name: str, now: Progress | None) -> None:
        if self.on_progress is not None:
            self.on_progress(ManyProgress(name, self._n_done, len(self.names), now))


def _check_same(folder: Path, request: Request) -> None:
    """Refuse a result of other settings or data."""
    document = load_result(folder).document
    same = _decisive(document["settings"]) == _decisive(request.settings.to_json())
    if not same or document["data"]["fingerprint"] != request.store.fingerprint:
        raise CheckpointError(
            f"the result in {folder} belongs to another run: its settings or data are others. Use "
            "the same settings and data, or start without --resume."
        )


def _decisive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that a run may be continued with more of."""
    whole = Settings.from_json(settings).to_json()
    return {name: value for name, value in whole.items() if name not in MORE_ALLOWED}
