"""Randomised trees on blocks of uint8 codes: arrays in, arrays out.

`kernel` grows one tree for a `target` from `cuts` (or `best_cuts`) and their `criterion`; `records`
has what it is given and fills; `forest` wraps it, applies, saves and loads trees; `ensemble` grows
many in one call; `random` makes their random numbers. Nothing here knows of files, features or
verdicts.
"""

from srs.trees.cuts import MISSING
from srs.trees.ensemble import Trees, grow_trees, join_trees
from srs.trees.forest import (
    Tree,
    TreeSettings,
    apply_tree,
    grow,
    load_trees,
    predict_tree,
    save_trees,
)
from srs.trees.records import Importances
from srs.trees.target import TreeTarget

__all__ = [
    "MISSING",
    "Importances",
    "Tree",
    "TreeSettings",
    "TreeTarget",
    "Trees",
    "apply_tree",
    "grow",
    "grow_trees",
    "join_trees",
    "load_trees",
    "predict_tree",
    "save_trees",
]
