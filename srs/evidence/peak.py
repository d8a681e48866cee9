"""The largest gain that a column offered at any node."""

from __future__ import annotations

from srs.evidence.kinds import EvidenceKind

PEAK = EvidenceKind(
    name="peak",
    sees="the largest gain that the feature offered at any node of any tree",
    title="Peak: the most it offered at any node",
    share=0.1,
    merge="maximum",
    mean=False,
    of_trees=lambda importances: importances.peak,
    usual=True,
)
