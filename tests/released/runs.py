"""The settings that the released files were written with: what is run again must give the same.

Stores are unpacked as `NAME.zarr` into the current folder, so that paths in results are relative.
Names are those of the released version. Where a later version renames a setting, change it here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
STORES = ("classes", "numbers", "genotypes", "levels", "schema-1", "schema-2")
COMMON = {"seed": 3, "memory": "1GB", "threads": 1}
CLASSES = {**COMMON, "target": "status", "max_trees": 96}


@dataclass(frozen=True)
class Run:
    """One released run: the store that it read, and the settings of `srs.select`."""

    store: str
    settings: dict[str, Any] = field(default_factory=dict)


RUNS = {
    "confounders": Run("classes", {**CLASSES, "confounders": ("site",)}),
    "number-confounder": Run("classes", {**CLASSES, "confounders": ("age",)}),
    "subjects": Run("classes", {**CLASSES, "subjects": "patient"}),
    "weights": Run("classes", {**CLASSES, "sample_weight": "weight", "class_weight": "balanced"}),
    "sets": Run(
        "classes",
        {**CLASSES, "feature_sets": {"signal": ["G03", "G07", "G08"], "noise": ["G30", "G31"]}},
    ),
    "pinned": Run("classes", {**CLASSES, "pinned": ("sex", "age"), "holdout": 0.25}),
    "together": Run(
        "classes",
        {
            **CLASSES,
            "confounders": ("site",),
            "subjects": "patient",
            "sample_weight": "weight",
            "pinned": ("sex",),
            "holdout": 0.25,
            "feature_sets": {"signal": ["G03", "G07"], "noise": ["G30", "G31"]},
        },
    ),
    "view": Run(
        "classes",
        {
            **CLASSES,
            "samples": [f"s{i:03}" for i in range(100)],
            "features": [f"G{i:02}" for i in range(30)],
            "pinned": ("age",),
        },
    ),
    "knockoff": Run("classes", {**CLASSES, "rule": "knockoff", "fdr": 0.3}),
    "paper": Run("classes", {**CLASSES, "mode": "paper", "max_trees": 400, "subspace_size": 12}),
    "number": Run("numbers", {**COMMON, "max_trees": 96, "holdout": 0.2}),
    "number-plates": Run(
        "numbers", {**COMMON, "max_trees": 96, "confounders": ("plate",), "holdout": 0.2}
    ),
    "three-classes": Run("numbers", {**COMMON, "max_trees": 96, "target": "response"}),
    "genotypes": Run("genotypes", {**COMMON, "max_trees": 96, "pinned": ("age", "ancestry")}),
    "levels": Run("levels", {**COMMON, "max_trees": 96}),
    "schema-1": Run("schema-1", {**COMMON, "max_trees": 64}),
    "schema-2": Run("schema-2", {**COMMON, "max_trees": 64}),
}
# Interrupted runs: their checkpoint is beside the result of the same run without a break.
CHECKPOINTS = {
    "classes": RUNS["together"],
    "number": RUNS["number"],
    "paper": RUNS["paper"],
}
# What analyses are asked with, so that all of them take seconds.
ANALYSIS_OPTIONS: dict[str, dict[str, Any]] = {
    "label-permutation": {"n_trees": 5, "n_permutations": 9},
    "conditional-error-rate": {"n_trees": 5, "n_permutations": 9, "max_ranks": 2},
    "context": {"context": "sex", "n_trees": 10, "n_permutations": 9, "empty": "zero"},
    "one-probe": {"n_forests": 5, "n_trees": 5},
    "umfi": {"n_trees": 10},
    "mci": {"method": "sampled", "n_orders": 2, "n_trees": 5},
    "network": {"n_trees": 5},
    "context-network": {"context": "sex", "n_trees": 5, "n_permutations": 9, "empty": "zero"},
}
EXPLAINED_FEATURES = ("G03", "G08", "G09", "G30", "smoker", "sex")
