"""Figures 5.2 to 5.5 of the thesis: candidate binary splits, and what they do to importances.

    python -m benchmarks.paper.figure_5_5

Exact values instead of 10,000 trees: top K = 1, bottom K = p; multiway, unordered and ordered
splits; |X1| = 2 and 4. The thesis prints no numbers in them; what it says of them is tested in
tests/theory/test_randomised.py.
"""

from __future__ import annotations

import json

import numpy as np

from benchmarks.measure import reference_folder
from benchmarks.output import new_figure, print_table, results_path, save_figure
from srs.theory import randomised_importances

NAME = "paper/figure_5_5"
KINDS = ("multiway", "unordered", "ordered")
KS = (1, 7)


def candidates(kind: str, n_levels: int = 4) -> list[tuple[int, ...]]:
    """The binary variables of a feature: one row a split, the side of each level (5.2b to 5.4b).

    Found from importances: a split is a candidate if trees of one split can tell its side.
    """
    levels = np.arange(n_levels)
    found = []
    for side in range(1, 1 << (n_levels - 1)):
        y = side >> levels & 1
        stump = randomised_importances(
            levels[:, None], y, splits=kind, max_depth=1, best_split=True
        )
        share = y.mean()
        whole = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
        if stump[0] > whole - 1e-9:
            found.append(tuple(y.tolist()))
    return found


def widened(digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The digits with both values of X1 parted into two, with equal probability."""
    X, y = np.repeat(digits, 2, axis=0), np.repeat(np.arange(10), 2)
    X[:, 0] = 2 * X[:, 0] + np.tile([0, 1], 10)
    return X, y


def importances(digits: np.ndarray, kind: str, K: int, levels: int = 4) -> np.ndarray:
    X, y = widened(digits) if levels == 4 else (digits, np.arange(10))
    return randomised_importances(X, y, splits=kind, max_features=K)


def draw(digits: np.ndarray) -> None:
    figure, axes = new_figure(len(KINDS) * len(KS), 3.0, 2.8)
    places = np.arange(7)
    for axis, (K, kind) in zip(axes, ((K, kind) for K in KS for kind in KINDS), strict=True):
        for offset, levels in ((-0.2, 2), (0.2, 4)):
            values = importances(digits, kind, K, levels)
            axis.bar(places + offset, values, 0.4, label=f"|X1| = {levels}")
        axis.set_xticks(places, [f"X{m + 1}" for m in range(7)], fontsize=7)
        axis.set_title(f"{kind}, K = {K}", fontsize=9)
        axis.legend(fontsize=6)
    save_figure(figure, NAME)


def main() -> None:
    folder = reference_folder()
    if folder is None:
        print("no reference data: set SRS_REFERENCE_DATA to their folder.")
        return
    tables = json.loads((folder / "reference" / "tables.json").read_text())
    digits = np.array(tables["mdi_digits_per_degree"]["segments_by_digit"])
    for K in KS:
        print_table(
            (f"K = {K}", *(f"X{m + 1}" for m in range(7))),
            [
                (f"{kind}, |X1| = {n}", *(f"{v:.3f}" for v in importances(digits, kind, K, n)))
                for kind in KINDS
                for n in (2, 4)
            ],
        )
    draw(digits)
    print(f"wrote {results_path(NAME)}.png and .svg")


if __name__ == "__main__":
    main()
