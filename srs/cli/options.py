"""Options of commands that are no settings, or that take a setting in another form (a file).

Settings themselves are in `srs.cli.setting_options`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from srs.cli.setting_options import RUN, SAMPLES

Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="Feature store: a folder, e.g. wide.zarr, or an s3:// address."
    ),
]
Seed = Annotated[int, typer.Option(help="Whole number; the same seed gives the same result.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of threads; the result does not depend on it. Default: all cores."
    ),
]
Target = Annotated[
    str | None, typer.Option(metavar="NAME", help="Target. Default: the first of the store.")
]
Samples = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the ids of the samples to use, one per line. Default: all.",
        rich_help_panel=SAMPLES,
    ),
]
Features = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the names of the features to use, one per line. Default: all.",
        rich_help_panel=SAMPLES,
    ),
]
Subjects = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Column of the store: samples of one subject belong together."
    ),
]
Targets = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Select for many targets: names with commas between them, all, or a table of the "
        "samples whose columns are added to the store as by `srs targets add`.",
        rich_help_panel=SAMPLES,
    ),
]
Sets = Annotated[
    Path | None,
    typer.Option(
        "--feature-sets",
        "--sets",
        metavar="FILE",
        help="File with feature sets to test as well: two columns, feature and set; or .gmt.",
        rich_help_panel=SAMPLES,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of worker processes to start on this machine, with --threads each (default "
        "1).",
        rich_help_panel=RUN,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Dask scheduler to use, e.g. tcp://10.0.0.1:8786.",
        rich_help_panel=RUN,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Start workers with slurm, pbs, sge or kubernetes.",
        rich_help_panel=RUN,
    ),
]
ClusterConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TOML file for --cluster: workers, queue, wall time.",
        rich_help_panel=RUN,
    ),
]
Tls = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Use TLS for workers: folder with ca.pem, cert.pem and key.pem.",
        rich_help_panel=RUN,
    ),
]
TaskTimeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Seconds after which the worker of a task counts as hung and others take over. "
        "Default: ten times the slowest task so far, at least a minute.",
        rich_help_panel=RUN,
    ),
]
ThreadsOfRun = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="Number of threads; the result does not depend on it. Default: all cores.",
        rich_help_panel=RUN,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder for result and checkpoint. Default: STORE-run (STORE without .zarr)."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint in OUT.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a result or checkpoint in OUT.")
]
Figures = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File for metrics in the text format of Prometheus, written every round.",
    ),
]
JsonRounds = Annotated[
    bool,
    typer.Option(
        "--json", help="Print only JSON: the result on stdout, one line per round on stderr."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
