"""What a column would have gained at large nodes, chosen or not."""

from __future__ import annotations

from srs.evidence.kinds import EvidenceKind

SCREENED = EvidenceKind(
    name="screened",
    sees="what the feature would have gained at large nodes, also where another one was "
    "chosen, as a mean over its draws",
    title="Screened: what it would have gained",
    share=0.1,
    merge="sum",
    mean=True,
    of_trees=lambda importances: importances.screened,
    usual=True,
)
