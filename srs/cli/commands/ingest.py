"""`srs ingest`: write a feature store."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from srs.cli import progress, source_options
from srs.cli.failures import reported

Source = Annotated[
    Path,
    typer.Argument(
        metavar="SOURCE", help="Data: a file or folder in one of the formats listed below."
    ),
]
Store = Annotated[
    Path,
    typer.Argument(metavar="STORE", help="Folder of the new feature store, e.g. wide.zarr."),
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="File with the target's values, or a column of --table or of SOURCE: obs:NAME of "
        "AnnData, phenotype of PLINK, label of libsvm; repeat for more. Default: none.",
    ),
]
Memory = Annotated[str, typer.Option(help="Memory that the process may hold, e.g. 512MB or 2GB.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a feature store at STORE.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout, and no progress.")]


HELP = """Write a feature store from data that may be larger than memory.

\b
Examples:
  srs ingest X.npy wide.zarr --target y.npy --memory 1GB
  srs ingest table.csv table.zarr --target outcome --categorical site
  srs ingest table.csv table.zarr --target outcome --sample-column site --sample-column patient
  srs ingest expression.tsv genes.zarr --orientation features --target status.csv
  srs ingest cells.h5ad cells.zarr --target obs:cell_type --dataset layers/counts
  srs ingest cohort.bed snps.zarr --table pheno.tsv --target case --covariate age
  srs ingest cohort.bed snps.zarr --table pheno.tsv --target case --target ldl
  srs ingest genes.csv genes.zarr --table clinic.tsv --target months --event died
  srs ingest images/ voxels.zarr --mask mask.nii.gz --table subjects.csv --target diagnosis
"""


def ingest(
    source: Source,
    store: Store,
    target: Target = None,
    sample_column: source_options.SampleColumn = None,
    memory: Memory = "1GB",
    orientation: source_options.Orientation = "samples",
    categorical: source_options.Categorical = None,
    target_kind: source_options.TargetKind = None,
    event: source_options.Event = None,
    exposure: source_options.Exposure = None,
    ordinal: source_options.Ordinal = None,
    names: source_options.Names = None,
    sample_ids: source_options.SampleIds = None,
    table: source_options.Table = None,
    covariate: source_options.Covariate = None,
    dataset: source_options.Array = None,
    mask: source_options.Mask = None,
    id_column: source_options.IdColumn = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    with reported(as_json):
        from srs.cli.commands.info import render
        from srs.ingest import ingest as write_store

        started = monotonic()
        with progress.shown("ingest", as_json) as show:
            written = write_store(
                source,
                store,
                target=name_targets(target, sample_column),
                memory=memory,
                orientation=orientation,
                names=names,
                sample_ids=sample_ids,
                table=table,
                covariates=covariate or (),
                dataset=dataset,
                mask=mask,
                id_column=id_column,
                categorical=categorical or (),
                target_kind=target_kind,
                event=event,
                exposure=exposure,
                ordinal=ordinal,
                overwrite=overwrite,
                on_progress=lambda done, n: show(
                    *progress.describe_ingest(done, n, monotonic() - started)
                ),
            )
        about = written.describe()
        typer.echo(json.dumps(about, indent=1) if as_json else render(about))


def name_targets(targets: list[str] | None, columns: list[str] | None) -> Any:
    """Targets and columns of samples as `ingest` takes them: a file is named by its stem, a
    dataset in a group by itself.

    >>> name_targets(["y.npy"], None), name_targets(["obs:case"], ["about/site"])
    ('y.npy', {'case': 'obs:case', 'site': 'about/site'})
    """
    from srs.errors import SettingsError
    from srs.ingest.tables.target_files import is_target_file

    if columns and not targets:
        raise SettingsError("--sample-column needs a target: also give --target.")
    given = [*(targets or ()), *(columns or ())]
    if len(given) < 2:
        return given[0] if given else None
    named = {
        Path(name).stem
        if is_target_file(name)
        else name.removeprefix("obs:").rpartition("/")[2]: name
        for name in given
    }
    if len(named) < len(given):
        raise SettingsError(f"two of {', '.join(given)} would have the same name: rename one.")
    return named
