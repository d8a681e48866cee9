"""What the splits of a column gained: mean decrease of impurity."""

from __future__ import annotations

from srs.evidence.kinds import EvidenceKind

# Weights undo unequal sampling in large nodes; in small ones what was sampled decides. So *used*,
# which is made in nodes of all sizes, counts with `sample_weight` only if it is asked for.
USED = EvidenceKind(
    name="used",
    sees="the impurity decrease of the splits that the feature made, as a mean over its draws "
    "(mean decrease of impurity)",
    title="Used: what the splits of a feature gained",
    share=0.15,
    merge="sum",
    mean=True,
    of_trees=lambda importances: importances.used,
    weighted=False,
    usual=True,
)
