"""The part of the page on relevant voxels of images: clusters, and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.markup import Cell, Column, data_table, glossary, name, paragraph, section
from srs.report.text import count, number

Document = Mapping[str, Any]
MAX_ROWS = 100
FEW = 10


def clusters(document: Document) -> str:
    """Clusters of relevant voxels; "" if features are none, or nothing was found."""
    rows = document["outcome"].get("clusters")
    if not rows:
        return ""
    columns = [
        Column("peak", "voxel of the cluster with the smallest p-value", numeric=False),
        Column("voxels", "relevant voxels that touch, by a face, an edge or a corner"),
        Column("mm³", "their volume"),
        Column("voxel i, j, k", "indices of the peak in the image", numeric=False),
        Column("x, y, z in mm", "place of the peak, by the affine of the images", numeric=False),
        Column("−log₁₀ p", "of the peak; the map has it for each relevant voxel"),
    ]
    n_voxels = sum(row["n_voxels"] for row in rows)
    caption = count(len(rows), "cluster") + ", the largest first"
    if len(rows) > MAX_ROWS:
        caption = f"The {MAX_ROWS} largest of {count(len(rows), 'cluster')}"
    return section(
        "clusters",
        "Where the voxels are",
        paragraph(
            f"{count(n_voxels, 'relevant voxel')} in {count(len(rows), 'cluster')}. A map of them "
            "is written by srs export RUN --to nifti; all voxels with their places are in "
            "voxels.parquet."
        ),
        data_table(
            caption,
            columns,
            [_cells(row) for row in rows[:MAX_ROWS]],
            interactive=len(rows) > FEW,
        ),
        glossary(columns),
    )


def _cells(row: Mapping[str, Any]) -> list[Cell]:
    place = "–" if row["x"] is None else ", ".join(f"{row[axis]:.1f}" for axis in "xyz")
    return [
        Cell(name(row["name"])),
        Cell(f"{row['n_voxels']:,}", row["n_voxels"]),
        Cell("–") if row["volume"] is None else Cell(number(row["volume"]), row["volume"]),
        Cell(", ".join(str(row[axis]) for axis in "ijk")),
        Cell(place.replace("-", "−")),
        Cell(number(row["value"]), row["value"]),
    ]
