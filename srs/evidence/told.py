"""Names of what kinds of evidence tell of features besides their p-values (`EvidenceKind.tells`).

DIRECTION  float32: whether the target goes up (above 0) or down with the feature, from -1 to 1
PARTNER    int32: place of the feature that it tells most together with; below 0: none
"""

DIRECTION, PARTNER = "direction", "partner"
