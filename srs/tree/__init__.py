"""Randomised trees on blocks of uint8 codes: arrays in, arrays out.

`kernel` grows one tree for a `target` from `cuts` and their `criterion`; `forest` wraps it,
applies, saves and loads trees; `ensemble` grows many in one call; `random` makes their random
numbers. Nothing here knows of files, features or verdicts.
"""

from srs.tree.cuts import MISSING
from srs.tree.ensemble import Trees, grow_trees, join_trees
from srs.tree.forest import (
    Importances,
    Tree,
    TreeSettings,
    apply_tree,
    grow,
    load_trees,
    predict_tree,
    save_trees,
)
from srs.tree.target import TreeTarget

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
