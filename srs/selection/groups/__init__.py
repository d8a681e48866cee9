"""Relevant features as signals: which stand in for one another, and which few are enough.

Two questions that are asked after a run, of the codes of its relevant features alone.
`find_groups` puts features that tell the same into groups, each around its most important one.
`choose_minimal` looks for few features that together predict nearly as well as all of them: the
minimal-optimal problem (thesis 2.4.4), where the run itself answers the all-relevant one.
`find_signals` asks both of a store.
"""

from srs.selection.groups.association import associations
from srs.selection.groups.grouping import find_groups
from srs.selection.groups.minimal import choose_minimal
from srs.selection.groups.signals import Signals, find_signals, signal_seconds

__all__ = [
    "Signals",
    "associations",
    "choose_minimal",
    "find_groups",
    "find_signals",
    "signal_seconds",
]
