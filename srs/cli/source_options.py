"""Options that say how data are read: of `srs ingest`, and of `srs submit` for data that it sends.

Each is declared once. Which of them a format uses is in its descriptor (`srs.formats()`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from srs.cli.kinds import KindsCommand

SampleColumn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="File, or column of --table or of the data, to keep for `srs select` as covariate, "
        "confounder, subjects or weights; repeat for more.",
    ),
]
Orientation = Annotated[
    str, typer.Option(help='What a row of the data is: "samples" or "features".')
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Numeric feature to read as categories; repeat for more. Text is always read as "
        "categories.",
    ),
]
TargetKind = Annotated[
    str | None,
    typer.Option(help="Kind of the target. Default: decided by its values."),
]
Event = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of a time to event: file or column that is 1 where the event was seen, 0 where it "
        "is censored. The target is then the time.",
    ),
]
Exposure = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of a count: file or column of the time or amount that it was counted in.",
    ),
]
Ordinal = Annotated[
    str | None,
    typer.Option(
        metavar="LEVELS",
        help="Levels of the target from low to high, e.g. low,mid,high: its classes are ordered.",
    ),
]
Names = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the names of the features, one per line. Default: those of the data.",
    ),
]
SampleIds = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the ids of the samples, one per line. Default: those of the data.",
    ),
]
Table = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Table of the samples (.csv, .tsv, .txt, .parquet), joined by sample id.",
    ),
]
Covariate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Column of --table that becomes a feature, to be pinned; repeat for more. To adjust "
        "for it, give it as --sample-column.",
    ),
]
Array = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        metavar="NAME",
        help="Which array of the data, if there are several: layers/counts of AnnData, a path in "
        "HDF5 or zarr, a variable of MATLAB, DS of VCF.",
    ),
]
Mask = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Image; its voxels other than 0 are the features."),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of the data or of --table that holds the sample ids. Default: found by its "
        "name, e.g. sample_id; '' for none.",
    ),
]


class FormatsCommand(KindsCommand):
    """Its help ends with all formats; they are looked up only when the help is shown."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)
        formatter.write("\nFormats (those with * need pip install 'srs-select[formats]'):\n")
        formatter.write_dl(list_formats())


def list_formats() -> list[tuple[str, str]]:
    """Every format that is a file or a folder: how its names end, and its line of help."""
    from srs.ingest.formats.registry import stored_formats

    return [
        (
            one.describe_suffixes() + "*" * (one.extra is not None),
            f"{one.title}: {as_flags(one.help)}" + _beside(one.companions),
        )
        for one in stored_formats()
    ]


def as_flags(text: str) -> str:
    """A text with options as the shell writes them.

    >>> as_flags("`5:` is a feature; `id_column` names the ids")
    '`5:` is a feature; --id-column names the ids'
    """
    return re.sub("`([a-z_]+)`", lambda match: "--" + match[1].replace("_", "-"), text)


def _beside(companions: tuple[str, ...]) -> str:
    return f"; with {', '.join(companions)} next to it" if companions else ""
