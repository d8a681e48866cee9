"""Randomised trees on blocks of uint8 codes: arrays in, arrays out.

`kernel` grows one tree from `cuts` and their `criterion`; `forest` wraps it, applies, saves and
loads trees; `random` makes its random numbers. Nothing here knows of files, features or verdicts.
"""

from srs.tree.cuts import MISSING
from srs.tree.forest import (
    Importances,
    Tree,
    TreeSettings,
    TreeTarget,
    apply_tree,
    grow,
    load_trees,
    predict_tree,
    save_trees,
)

__all__ = [
    "MISSING",
    "Importances",
    "Tree",
    "TreeSettings",
    "TreeTarget",
    "apply_tree",
    "grow",
    "load_trees",
    "predict_tree",
    "save_trees",
]
