"""`srs ingest`: write a feature store."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from srs.cli import progress
from srs.cli.failures import reported


def ingest(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Data: .npy, .csv, .tsv, .txt (also .gz), .parquet (also a folder), .arrow, "
            ".feather, .zarr, VCF Zarr, .h5ad, .bed, .h5, .mat, .npz, .libsvm, .arff, .nii (also "
            "a folder).",
        ),
    ],
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Folder of the new feature store, as wide.zarr.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            help="File with the target's values, or a column of --table or of SOURCE: obs:NAME of "
            "AnnData, phenotype of PLINK, label of libsvm. Default: none."
        ),
    ] = None,
    sample_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="File, or column of --table or SOURCE, kept for `srs select`: confounders, "
            "subjects, weights; repeat for more.",
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(help="Memory that the process may hold, as 512MB or 2GB.")
    ] = "1GB",
    orientation: Annotated[
        str, typer.Option(help='What a row of SOURCE is: "samples" or "features".')
    ] = "samples",
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Feature whose numbers are categories; repeat for more. Texts always are.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help='"classification" or "regression". Default: decided by the target\'s values.'
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Names of the features, one a line. Default: those of SOURCE."
        ),
    ] = None,
    sample_ids: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ids of the samples, one a line. Default: those of SOURCE."
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of the samples (.csv, .tsv, .txt, .parquet), joined by sample id.",
        ),
    ] = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column of --table that becomes a feature, to be pinned; repeat for more.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which array of SOURCE, if it has several: layers/counts of AnnData, a path in "
            "HDF5 or zarr, a variable of MATLAB.",
        ),
    ] = None,
    mask: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Image whose voxels other than 0 are the features."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of SOURCE or --table that holds the sample ids. Default: found by its "
            "name, as sample_id; '' for none.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a feature store at STORE.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print only JSON on stdout, and no progress.")
    ] = False,
) -> None:
    """Write a feature store from data that may be larger than memory.

    \b
    Examples:
      srs ingest X.npy wide.zarr --target y.npy --memory 1GB
      srs ingest table.csv table.zarr --target outcome --categorical site
      srs ingest table.csv table.zarr --target outcome --sample-column site --sample-column patient
      srs ingest expression.tsv genes.zarr --orientation features --target status.csv
      srs ingest cells.h5ad cells.zarr --target obs:cell_type --dataset layers/counts
      srs ingest cohort.bed snps.zarr --table pheno.tsv --target case --covariate age
      srs ingest images/ voxels.zarr --mask mask.nii.gz --table subjects.csv --target diagnosis
    """
    with reported(as_json):
        from srs.cli.info import render
        from srs.ingest import ingest as write_store

        started = monotonic()
        with progress.shown("ingest", as_json) as show:
            written = write_store(
                source, store, target=name_targets(target, sample_column), memory=memory,
                orientation=orientation,
                names=None if names is None else read_names(names),
                sample_ids=None if sample_ids is None else read_names(sample_ids), table=table,
                covariates=covariate or (), dataset=dataset, mask=mask, id_column=id_column,
                categorical=categorical or (), task=task, overwrite=overwrite,
                on_progress=lambda done, n: show(
                    *progress.describe_ingest(done, n, monotonic() - started)
                ),
            )  # fmt: skip
        about = written.describe()
        typer.echo(json.dumps(about, indent=1) if as_json else render(about))


def name_targets(target: str | None, columns: list[str] | None) -> Any:
    """The target and columns of samples as `ingest` takes them: a file is named by its stem, a
    dataset in a group by itself.

    >>> name_targets("y.npy", None), name_targets("obs:case", ["about/site"])
    ('y.npy', {'case': 'obs:case', 'site': 'about/site'})
    """
    from srs.errors import SettingsError
    from srs.ingest.target import is_target_file

    if not columns:
        return target
    if target is None:
        raise SettingsError("--sample-column stands beside a target: give --target, too.")
    given = [target, *columns]
    named = {
        Path(name).stem if is_target_file(name)
        else name.removeprefix("obs:").rpartition("/")[2]: name
        for name in given
    }  # fmt: skip
    if len(named) < len(given):
        raise SettingsError(f"two of {', '.join(given)} would have the same name: rename one.")
    return named


def read_names(path: Path) -> list[str]:
    """Names from a text file, one a line."""
    from srs.errors import InputError

    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8: write one name a line.") from None
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
