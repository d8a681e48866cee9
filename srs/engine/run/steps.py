"""Evidence that is had in steps before the first tree (`srs.evidence.kinds.Steps`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from srs.engine.context import RunContext
from srs.engine.run.second_look import look_twice
from srs.engine.state import ENDED, Stage, State
from srs.evidence.kinds import EvidenceKind, Steps
from srs.evidence.registry import evidence_kind
from srs.evidence.told import PARTNER
from srs.inference.sampled import log_p_values

NOTHING = -1.0  # what a kind with p-values holds of features that it says nothing of


def kinds_in_steps(context: RunContext) -> tuple[EvidenceKind, ...]:
    """The kinds of a run that have steps."""
    if context.settings.mode == "paper":
        return ()
    kinds = map(evidence_kind, context.kinds)
    return tuple(kind for kind in kinds if kind.steps is not None)


def begin_steps(context: RunContext, kind: EvidenceKind, state: State) -> Steps:
    """The steps of a kind, and its place in the state."""
    assert kind.steps is not None
    steps = kind.steps(context)
    if kind.name not in state.n_steps:
        state.n_steps[kind.name], state.steps = 0, steps.found
    return steps


def do_steps(
    kind: EvidenceKind,
    steps: Steps,
    state: State,
    run_specs: Callable[[Iterable[Any]], Iterator[Any]],
) -> Iterator[Stage]:
    """Do the steps that are left; after each, how far the kind is."""
    for outcome in run_specs(steps.specs[state.n_steps[kind.name] :]):
        state.changing = True
        steps.merge(state.steps, outcome)
        state.n_steps[kind.name] += 1
        state.changing = False
        yield Stage(kind.name, state.n_steps[kind.name], len(steps.specs))


def end_steps(context: RunContext, kind: EvidenceKind, steps: Steps, state: State) -> None:
    """Make the evidence of a kind; if steps are left, it says nothing of any feature."""
    state.changing = True
    values = state.evidence.by_kind[kind.name]
    if state.n_steps[kind.name] < len(steps.specs):
        values[...] = NOTHING if kind.has_p_values else 0.0
    else:
        found = steps.finish(state.steps)
        if "statistic" in found:
            sample = {name: found.pop(name) for name in ("statistic", "null", "null_places")}
            classes = context.feature_classes
            found["values"] = log_p_values(**sample, feature_classes=classes)[None]
        if PARTNER in found:
            look_twice(context, found["values"][0], found[PARTNER])
        values[...] = found.pop("values")
        state.evidence.told |= found
    state.n_steps[kind.name], state.steps = ENDED, {}
    state.changing = False
    context.kept.clear()
