"""The loop: plan a round, execute, merge, decide, checkpoint, stop.

This is the only place where verdicts steer the next draw. Everything random follows from the seed
and the number of the batch, so the outcome depends on data, settings and seed alone: not on
threads, interruptions or the order of columns.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from srs import seeds
from srs.engine import batch, subspace
from srs.engine.batch import BatchSpec, PaperSpec
from srs.engine.carry import choose_pool
from srs.engine.checkpoint import has_checkpoint, read_checkpoint, write_checkpoint
from srs.engine.context import RunContext
from srs.engine.state import ENDED, Outcome, Progress, Stage, State
from srs.engine.stopping import least_trees
from srs.engine.subspace import Pool
from srs.errors import CheckpointError, RunInterrupted, SRSError
from srs.evidence.arrays import BatchEvidence, Evidence
from srs.evidence.collecting import collect_evidence
from srs.evidence.pairs.kind import PAIRS
from srs.evidence.registry import evidence_kind, kinds_held
from srs.executors import Executor
from srs.inference.interim import find_relevant
from srs.inference.paper import decide_paper
from srs.inference.sampled import log_p_values
from srs.trees import Tree, save_trees

ROUND_TREES = 16  # fewest trees between two interim decisions where nothing is said
PAPER_TREES = 1_000  # iterations of paper mode where no limit is given
STABLE_SHARE = 0.005  # of the relevant set, that may change in a round that counts as unchanged
CHECKPOINT_SECONDS = 5.0  # between two checkpoints within a round
SYNC_SHARE = 0.05  # of the time may be spent on syncing them to the disk

log = logging.getLogger("srs")


class Run:
    """One run of the loop, on one executor, with or without a folder for checkpoints.

    task: what the executor applies to specs, if it is remote (`srs.engine.worker`); None: here
    """

    def __init__(
        self,
        context: RunContext,
        executor: Executor,
        folder: Path | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        task: Callable[[Any], tuple[BatchEvidence, list[Tree]]] | None = None,
    ) -> None:
        self.task = partial(batch.run_spec, context) if task is None else task
        self.context = context
        self.settings = context.settings
        self.executor = executor
        self.folder = folder
        self.on_progress = on_progress
        self.paper = context.settings.mode == "paper"
        n_features, n_outputs = context.shape.n_features, context.target.n_classes
        held = [kind.name for kind in kinds_held(context.kinds)]
        self.state = State(
            Evidence.empty(n_features, context.shape.n_roles, held),
            Pool.of_pinned(context.pinned),
            np.empty(0, np.int64),
            np.zeros((len(context.held_out), n_outputs)),
        )
        self.seconds = {"read": 0.0, "fill": 0.0, "grow": 0.0}
        self._started = self._saved = self._synced = monotonic()
        self._n_restored = self._n_restored_trees = 0
        self._n_specs = 0
        self._sync_seconds = 0.0
        self._newest_synced = True
        self._stage: Stage | None = None
        self._changing = False  # while the state is between two states that can be continued
        self.trees_per_pass = self._count_trees_per_pass()
        self.round_batches = self._count_round_batches()
        self.least_trees = least_trees(
            context.shape, self.trees_per_pass, pairs_are_seen=PAIRS.name in context.kinds
        )

    def _count_trees_per_pass(self) -> int:
        shape = self.context.shape
        if self.paper:
            return -(-shape.n_features // shape.subspace_size)
        slabs = subspace.deal_chunks(
            self.context.store.n_chunks, shape.slab_chunks, np.random.default_rng(0)
        )
        n_trees = 0
        for slab in slabs:
            n_strips = len(subspace.slab_strips(slab, shape.n_features, shape.chunk_features))
            n_trees += min(
                n_strips,
                subspace.count_subspaces(
                    len(slab), shape.chunk_features, shape.subspace_size, shape.n_features
                ),
            )
        return n_trees

    def _count_round_batches(self) -> int:
        """Batches of a round: whole passes, or as few as have `round_size` trees."""
        n_slabs = self._n_slabs()
        size = self.settings.round_size
        if size is None:
            return n_slabs * max(1, -(-ROUND_TREES // self.trees_per_pass))
        n_batches = -(-size * n_slabs // self.trees_per_pass)
        return n_batches if n_batches < n_slabs else -(-n_batches // n_slabs) * n_slabs

    def _n_slabs(self) -> int:
        return -(-self.context.store.n_chunks // self.context.shape.slab_chunks)

    # -- the loop ---------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run to the end.

        Ctrl-C and errors leave a checkpoint, if the run has a folder; Ctrl-C is a RunInterrupted.
        """
        try:
            if not self.paper:
                self._run_steps()
            while (reason := self._stop_reason()) is None:
                self._run_round()
        except KeyboardInterrupt:
            folder = None if self.folder is None else str(self.folder)
            raise RunInterrupted(f"the run was interrupted: {self._keep()}", folder) from None
        except SRSError as error:
            error.args = (f"{error} {self._keep().capitalize()}", *error.args[1:])
            raise
        except Exception:
            self._keep()
            raise
        self.seconds["total"] = monotonic() - self._started
        self.context.scratch.clear()  # its memory is needed for the final decision
        return Outcome(self.state, reason, self._n_passes(), self.seconds)

    def _run_steps(self) -> None:
        """Have the evidence of the kinds that make it in steps (`srs.evidence.kinds.Steps`)."""
        state = self.state
        for kind in map(evidence_kind, self.context.kinds):
            if kind.steps is None or state.n_steps.get(kind.name) == ENDED:
                continue
            steps = kind.steps(self.context)
            if kind.name not in state.n_steps:
                state.n_steps[kind.name], state.steps = 0, steps.found
            specs = steps.specs[state.n_steps[kind.name] :]
            for outcome in self.executor.map(self.task, specs):
                self._changing = True
                steps.merge(state.steps, outcome)
                state.n_steps[kind.name] += 1
                self._changing = False
                self._stage = Stage(kind.name, state.n_steps[kind.name], len(steps.specs))
                self._report()
                if monotonic() - self._saved > CHECKPOINT_SECONDS:
                    self._try_to_save()
            self._changing = True
            found = steps.finish(state.steps)
            if "statistic" in found:
                sample = {name: found.pop(name) for name in ("statistic", "null", "null_places")}
                classes = self.context.feature_classes
                found["values"] = log_p_values(**sample, feature_classes=classes)[None]
            state.evidence.by_kind[kind.name][...] = found.pop("values")
            state.evidence.told |= found
            state.n_steps[kind.name], state.steps = ENDED, {}
            self._changing = False
            self._stage = None
            self.context.kept.clear()
            self._try_to_save()

    def _run_round(self) -> None:
        state = self.state
        specs = list(self._specs())
        self._n_specs = len(specs)
        for evidence, trees in self.executor.map(self.task, specs[state.n_batches :]):
            self._merge(evidence, trees)
        run_specs = partial(self.executor.map, self.task)
        collected = collect_evidence(self.context, run_specs, state.n_rounds)
        self._changing = True
        for kind, values in collected.items():
            state.evidence.add(kind, values)
        state.n_rounds += 1
        state.n_batches = 0
        self._decide()
        self._changing = False
        self._report(round_ended=True)
        self._try_to_save()

    def _specs(self) -> Iterator[BatchSpec | PaperSpec]:
        """The batches of the present round."""
        state, shape, seed = self.state, self.context.shape, self.settings.seed
        if self.paper:
            rng = seeds.make_rng(seed, seeds.ITERATION, state.n_rounds, 0)
            carried, explored = subspace.draw_paper(
                shape.n_features,
                shape.subspace_size,
                self.settings.carry_fraction,
                state.relevant,
                rng,
            )
            yield PaperSpec(state.n_rounds, carried, explored)
            return
        n_slabs = self._n_slabs()
        first = state.n_rounds * self.round_batches
        specs = []
        slabs: list[np.ndarray] = []
        for at in range(first, first + self.round_batches):
            p, b = divmod(at, n_slabs)
            if b == 0 or not slabs:
                rng = seeds.make_rng(seed, seeds.PASS_ORDER, p)
                slabs = subspace.deal_chunks(self.context.store.n_chunks, shape.slab_chunks, rng)
            specs.append(BatchSpec(p, b, slabs[b], state.pool))
        # The largest first: at the end of a round, workers then wait for a small one at most.
        yield from sorted(specs, key=lambda spec: -len(spec.chunk_ids))

    def _merge(self, evidence: BatchEvidence, trees: list[Tree]) -> None:
        state = self.state
        self._changing = True
        state.evidence.update(evidence, state.pool.places, state.pool.roles)
        state.votes += evidence.votes
        state.n_trees += evidence.n_trees
        state.n_batches += 1
        for part, seconds in evidence.seconds.items():
            self.seconds[part] += seconds
        if trees and self.folder is not None:
            folder = self.folder / "trees"
            folder.mkdir(parents=True, exist_ok=True)
            save_trees(trees, folder / f"{state.n_rounds:06d}-{state.n_batches:06d}.npz")
        if state.n_batches < self._n_specs:
            self._changing = False
            self._report()
            if monotonic() - self._saved > CHECKPOINT_SECONDS:
                self._try_to_save()

    def _decide(self) -> None:
        """Decide, note what changed, and choose what the next round carries."""
        state, settings = self.state, self.settings
        relevant = self._find_relevant()
        if self.paper:
            relevant = np.union1d(relevant, state.relevant)  # F never shrinks
        n_changed = len(np.setxor1d(relevant, state.relevant, assume_unique=True))
        changed = n_changed > STABLE_SHARE * len(relevant)
        state.unchanged = 0 if changed else state.unchanged + 1
        state.relevant = relevant
        if changed or not self.paper or state.n_trees % 100 == 0:
            state.history.append((state.n_trees, len(relevant)))
        if not self.paper:
            state.pool = choose_pool(
                state.evidence,
                self.context.kinds,
                settings.max_carried,
                self.context.pinned,
                self.context.feature_classes,
            )

    def _find_relevant(self) -> np.ndarray:
        settings, evidence = self.settings, self.state.evidence
        if self.paper:
            return decide_paper(evidence, settings.probe_draws, settings.probe_share).relevant
        return find_relevant(
            evidence,
            self.context.kinds,
            settings.fdr,
            feature_classes=self.context.feature_classes,
            excluded=self.context.pinned,
            rule=settings.rule,
            confident=settings.guarantee == "confident",
            n_features=settings.n_features,
        )

    # -- when to stop -----------------------------------------------------------------------

    @property
    def round_trees(self) -> int:
        """Trees between two interim decisions."""
        return 1 if self.paper else -(-self.round_batches * self.trees_per_pass // self._n_slabs())

    def _n_passes(self) -> float:
        return self.state.n_trees / self.trees_per_pass

    def _stop_reason(self) -> str | None:
        state, settings = self.state, self.settings
        max_trees = settings.max_trees
        if self.paper and max_trees is None and settings.max_passes is None:
            max_trees = PAPER_TREES
        over = max_trees is not None and state.n_trees + self.round_trees > max_trees
        if over and state.n_trees:
            return f"another round would exceed the limit of {max_trees} trees"
        if settings.max_passes is not None and self._n_passes() >= settings.max_passes:
            return f"the limit of {settings.max_passes} passes was reached"
        if settings.max_seconds is not None and self._elapsed() >= settings.max_seconds:
            return f"the limit of {settings.max_seconds:g} seconds was reached"
        enough = state.n_trees >= self.least_trees
        if not self.paper and enough and state.unchanged >= settings.patience:
            return f"the relevant set did not change in {settings.patience} rounds"
        return None

    def _elapsed(self) -> float:
        return monotonic() - self._started

    def _remaining_seconds(self) -> float | None:
        """From the trees left until a limit, or until the relevant set could be called stable."""
        state, settings = self.state, self.settings
        if state.n_trees == 0:
            return None
        limits = [float("inf")]
        if settings.max_trees is not None or self.paper:
            limits.append(settings.max_trees or PAPER_TREES)
        if settings.max_passes is not None:
            limits.append(settings.max_passes * self.trees_per_pass)
        if not self.paper:
            stable = state.n_trees + (settings.patience - state.unchanged) * self.round_trees
            limits.append(max(self.least_trees, stable))
        left = max(0.0, min(limits) - state.n_trees)
        seconds = left * self._elapsed() / max(1, state.n_trees - self._n_restored_trees)
        if settings.max_seconds is not None:
            seconds = min(seconds, max(0.0, settings.max_seconds - self._elapsed()))
        return seconds

    def _report(self, round_ended: bool = False) -> None:
        if self.on_progress is not None:
            state = self.state
            self.on_progress(
                Progress(
                    n_trees=state.n_trees,
                    n_passes=self._n_passes(),
                    n_relevant=len(state.relevant),
                    n_rounds=state.n_rounds,
                    round_ended=round_ended,
                    seconds=self._elapsed(),
                    remaining_seconds=self._remaining_seconds(),
                    figures=self.executor.figures(),
                    histograms=partial(state.evidence.histograms, self.context.kinds),
                    stage=self._stage,
                )
            )

    # -- checkpoints ------------------------------------------------------------------------

    def _identity(self) -> dict[str, Any]:
        """What must be equal for a checkpoint to be continued."""
        settings = self.settings.to_json()
        for name in ("allowed_mem", "max_trees", "max_passes", "max_seconds"):
            settings.pop(name)  # a run may be continued with more of these
        settings["subspace_size"] = self.context.shape.subspace_size
        return {"settings": settings, "fingerprint": self.context.store.fingerprint}

    def save(self, sync: bool = True) -> None:
        """Write a checkpoint into the folder of the run."""
        assert self.folder is not None
        header, arrays = self.state.pack()
        header["identity"] = self._identity()
        started = monotonic()
        write_checkpoint(self.folder, header, arrays, sync=sync, keep_newest=self._newest_synced)
        self._saved, self._newest_synced = monotonic(), sync
        if sync:
            self._synced, self._sync_seconds = self._saved, self._saved - started

    def _try_to_save(self) -> None:
        """Write a checkpoint, if the run has a folder; it is synced where that is not too dear.

        One that cannot be written does not end the run: the one before stays.
        """
        if self.folder is None:
            return
        try:
            self.save(sync=monotonic() - self._synced >= self._sync_seconds / SYNC_SHARE)
        except OSError as error:
            self._saved = monotonic()
            log.warning("%s", self._not_saved(error))

    def _not_saved(self, error: OSError) -> str:
        assert self.folder is not None
        kept = "the one before it is kept" if has_checkpoint(self.folder) else "there is none yet"
        return f"the checkpoint in {self.folder} could not be written ({error.strerror}); {kept}."

    def restore(self) -> None:
        """Continue from the checkpoint in the folder of the run."""
        assert self.folder is not None
        header, arrays, notice = read_checkpoint(self.folder)
        if notice is not None:
            log.warning("%s", notice)
        mine, its = self._identity(), header["identity"]
        if mine != its:
            names = [k for k in mine["settings"] if mine["settings"][k] != its["settings"].get(k)]
            what = "the data" if mine["fingerprint"] != its["fingerprint"] else ", ".join(names)
            raise CheckpointError(
                f"the checkpoint in {self.folder} belongs to another run: {what} changed. Use the "
                f"same settings and data, or start without --resume."
            )
        self.state = State.unpack(header, arrays)
        self._n_restored, self._n_restored_trees = self._n_done(), self.state.n_trees

    def _n_done(self) -> int:
        """Trees, and steps of kinds of evidence: what is worth a checkpoint."""
        steps = self.state.n_steps.values()
        return self.state.n_trees + sum(1 if n == ENDED else n for n in steps)

    def _keep(self) -> str:
        """Save what was gathered, if it can be continued; a sentence that says where it is."""
        if self.folder is None:
            return "it had no folder for a checkpoint."
        trouble = ""
        if not self._changing and self._n_done() > self._n_restored:
            try:
                self.save()
            except OSError as error:
                trouble = self._not_saved(error) + " "
        if not has_checkpoint(self.folder):
            return trouble + "it had not yet reached its first checkpoint."
        return trouble + (
            f"the work so far is in the checkpoint in {self.folder} ({self.state.n_trees} trees "
            "were grown): repeat the command with --resume to continue."
        )
