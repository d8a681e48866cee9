"""The loop: plan a round, execute, merge, decide, checkpoint, stop.

This is the only place where verdicts steer the next draw. Everything random follows from the seed
and the number of the batch, so the outcome depends on data, settings and seed alone: not on
threads, interruptions or the order of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import numpy as np

from srs import seeds
from srs.engine import batch, subspace
from srs.engine.batch import BatchSpec, PaperSpec
from srs.engine.carry import choose_pool
from srs.engine.context import RunContext
from srs.engine.run import settling
from srs.engine.run.keeper import Keeper
from srs.engine.run.remaining import Remaining
from srs.engine.run.steps import begin_steps, do_steps, end_steps, kinds_in_steps
from srs.engine.run.unsettled import expected_changes
from srs.engine.state import ENDED, Outcome, Progress, Stage, State
from srs.engine.stopping import least_trees, most_trees
from srs.engine.subspace import Pool
from srs.errors import RunInterrupted, SRSError
from srs.evidence.arrays import BatchEvidence, Evidence
from srs.evidence.collecting import collect_evidence
from srs.evidence.halves import Halves
from srs.evidence.kinds import EvidenceKind
from srs.evidence.pairs.kind import PAIRS
from srs.evidence.registry import has_halves, kinds_held
from srs.executors import Executor
from srs.inference.interim import Rule, find_relevant
from srs.inference.paper import decide_paper
from srs.trees import Tree, save_trees

ROUND_TREES = 16  # fewest trees between two interim decisions where nothing is said
PAPER_TREES = 1_000  # iterations of paper mode where no limit is given
STABLE_SHARE = 0.005  # of the relevant set, that may change in a round that counts as unchanged


class Run:
    """One run of the loop, on one executor, with or without a folder for checkpoints.

    task           what a remote executor applies to specs (`srs.engine.worker`); None: done here
    finish         once it is set, the run ends after the present batch with what it has found
    seconds_after  about how long it takes to make a result of so many relevant features
    """

    def __init__(
        self,
        context: RunContext,
        executor: Executor,
        folder: Path | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        task: Callable[[Any], tuple[BatchEvidence, list[Tree]]] | None = None,
        finish: Event | None = None,
        seconds_after: Callable[[int], float] | None = None,
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
        n_roles = context.shape.n_roles
        self.state = State(
            Evidence.empty(n_features, n_roles, held),
            Pool.of_pinned(context.pinned),
            np.empty(0, np.int64),
            np.zeros((len(context.held_out), n_outputs)),
            Halves.empty(n_features, n_roles, context.kinds)
            if has_halves(n_features, n_roles)
            else None,
        )
        self.keeper = Keeper(context, folder)
        self.finish = Event() if finish is None else finish
        self.seconds = {"read": 0.0, "fill": 0.0, "grow": 0.0}
        self._started = monotonic()
        self._n_specs = 0
        self._stage: Stage | None = None
        self._unfinished: str | None = None  # kind of evidence whose steps were broken off
        self.trees_per_pass = self._count_trees_per_pass()
        self.round_batches = self._count_round_batches()
        self.least_trees = least_trees(
            context.shape, self.trees_per_pass, pairs_are_seen=PAIRS.name in context.kinds
        )
        self.most_trees = most_trees(context.shape, self.least_trees)
        self.remaining = Remaining(context.shape, executor.n_parallel, seconds_after)

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
            for kind in kinds_in_steps(self.context):
                self._run_steps(kind)
            while (reason := self._stop_reason()) is None:
                self._run_round()
        except KeyboardInterrupt:
            folder = None if self.folder is None else str(self.folder)
            kept = self.keeper.keep(self.state)
            raise RunInterrupted(f"the run was interrupted: {kept}", folder) from None
        except SRSError as error:
            if self.folder is not None:
                kept = self.keeper.keep(self.state)
                error.args = (f"{error} {kept.capitalize()}", *error.args[1:])
            raise
        except Exception:
            self.keeper.keep(self.state)
            raise
        self.seconds["total"] = monotonic() - self._started
        self.context.scratch.clear()  # its memory is needed for the final decision
        return Outcome(self.state, reason, self._n_passes(), self.seconds)

    def restore(self) -> None:
        """Continue from the checkpoint in the folder of the run."""
        self.state = self.keeper.restore()

    def _run_steps(self, kind: EvidenceKind) -> None:
        """Have the evidence of a kind that makes it in steps (`srs.evidence.kinds.Steps`)."""
        state = self.state
        if state.n_steps.get(kind.name) == ENDED:
            return
        steps = begin_steps(self.context, kind, state)
        for stage in do_steps(kind, steps, state, partial(self.executor.map, self.task)):
            self._stage = stage
            self.remaining.note_step(stage, self._elapsed())
            self._report()
            self.keeper.save_if_due(state)
            if stage.n_done < stage.n_steps and self._cut_short() is not None:
                self._unfinished = kind.name
                break
        end_steps(self.context, kind, steps, state)
        self._stage = None
        self.keeper.try_to_save(state)

    def _run_round(self) -> None:
        state = self.state
        specs = list(self._specs())
        self._n_specs = len(specs)
        self.remaining.start_trees(state.n_trees, self._elapsed())
        left = specs[state.n_batches :]
        for spec, (evidence, trees) in zip(left, self.executor.map(self.task, left), strict=False):
            self._merge(spec, evidence, trees)
            if state.n_batches < len(specs) and self._cut_short() is not None:
                self._decide()
                return
        run_specs = partial(self.executor.map, self.task)
        collected = collect_evidence(self.context, run_specs, state.n_rounds)
        state.changing = True
        for kind, values in collected.items():
            state.evidence.add(kind, values)
        state.n_rounds += 1
        state.n_batches = 0
        self._decide()
        state.changing = False
        self._report(round_ended=True)
        self.keeper.try_to_save(state)

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

    def _merge(
        self, spec: BatchSpec | PaperSpec, evidence: BatchEvidence, trees: list[Tree]
    ) -> None:
        state = self.state
        state.changing = True
        state.evidence.update(evidence, state.pool.places, state.pool.roles)
        if state.halves is not None and isinstance(spec, BatchSpec):
            state.halves.update(evidence, spec.pass_index % 2)
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
            state.changing = False
            self._report()
            self.keeper.save_if_due(state)

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
        if self.paper:
            return
        self._settle()
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
            return decide_paper(evidence, settings).relevant
        return find_relevant(evidence, self._rule())

    def _rule(self) -> Rule:
        context = self.context
        return Rule.of(self.settings, context.kinds, context.feature_classes, context.pinned)

    def _settle(self) -> None:
        """Now and then, look what more trees could change, and so when the run may end."""
        state = self.state
        if self._patience is not None or state.enough_trees is not None:
            return
        assert state.halves is not None  # or there is a patience
        if not settling.is_due(state.noises, state.n_trees, self.least_trees):
            return
        n_changes = expected_changes(state.evidence, state.halves, self._rule())
        noise = settling.relative_noise(n_changes, len(state.relevant))
        state.noises.append((state.n_trees, noise))
        state.enough_trees = settling.decide_end(state.noises, self.most_trees)

    # -- when to stop -----------------------------------------------------------------------

    @property
    def round_trees(self) -> int:
        """Trees between two interim decisions."""
        return 1 if self.paper else -(-self.round_batches * self.trees_per_pass // self._n_slabs())

    @property
    def _patience(self) -> int | None:
        """Rounds without a change after which the run ends; None: the halves tell when."""
        if self.settings.patience is None and self.state.halves is None:
            return settling.PATIENCE
        return self.settings.patience

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
        if state.n_trees and (reason := self._cut_short()) is not None:
            return reason + self._what_is_missing()
        return None if self.paper else self._is_stable()

    def _is_stable(self) -> str | None:
        state, patience = self.state, self._patience
        if patience is not None:
            enough = state.n_trees >= self.least_trees
            if enough and state.unchanged >= patience:
                return f"the relevant set did not change in {patience} rounds"
        elif state.enough_trees is not None and state.n_trees >= state.enough_trees:
            return settling.describe_end(state.noises, self.most_trees)
        return None

    def _cut_short(self) -> str | None:
        """Why the run must end now, even within a round, with what it has found."""
        if self.finish.is_set():
            return "the run was asked to finish"
        limit = self.settings.seconds_limit
        if limit is not None and self._elapsed() >= limit:
            return f"the limit of {limit:g} seconds was reached"
        return None

    def _what_is_missing(self) -> str:
        if self._unfinished is None:
            return ""
        return f", before the evidence of the kind {self._unfinished} was complete"

    def _elapsed(self) -> float:
        return monotonic() - self._started

    def _last_tree(self) -> float:
        """Trees that the run is expected to have at its end."""
        state, settings = self.state, self.settings
        limits = []
        if settings.max_trees is not None or (self.paper and settings.max_passes is None):
            limits.append(settings.max_trees or PAPER_TREES)
        if settings.max_passes is not None:
            limits.append(settings.max_passes * self.trees_per_pass)
        if not self.paper and self._patience is not None:
            stable = state.n_trees + (self._patience - state.unchanged) * self.round_trees
            limits.append(max(self.least_trees, stable))
        elif not self.paper:
            known = state.enough_trees or settling.predict_end(
                state.noises, state.n_trees, self.least_trees, self.most_trees
            )
            rounds = -(-known // self.round_trees)
            limits.append(rounds * self.round_trees)
        return min(limits)

    def _remaining_seconds(self) -> float:
        n_left = max(0.0, self._last_tree() - self.state.n_trees)
        seconds = self.remaining.estimate(n_left, self.state.n_trees, self._elapsed())
        limit = self.settings.seconds_limit
        if limit is not None:
            seconds = min(seconds, max(0.0, limit - self._elapsed()))
        return seconds + self.remaining.after(len(self.state.relevant), self._elapsed())

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
