"""Options that several commands take: each is declared once, so that all of them say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="Feature store: a folder, as wide.zarr, or an s3:// address."
    ),
]
Fdr = Annotated[float, typer.Option(help="False discovery rate of the list: between 0 and 1.")]
Seed = Annotated[int, typer.Option(help="Whole number; the same seed gives the same answer.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Threads; the answer does not depend on it. Default: all cores."),
]
Target = Annotated[
    str | None, typer.Option(metavar="NAME", help="Target. Default: the first of the store.")
]
Samples = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Ids of the samples to use, one a line. Default: all."),
]
Features = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Names of the features to use, one a line. Default: all."),
]
Subjects = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Column of the store: samples of one subject belong together."
    ),
]
Sets = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Feature sets to test, too: two columns, feature and set; or .gmt."
    ),
]
SubspaceSize = Annotated[
    int | None, typer.Option(help="Features explored by a tree. Default: from memory and data.")
]
