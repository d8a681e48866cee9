"""PLINK: the selected variants as .bed, .bim and .fam."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import InputError
from srs.export.selected import Selected
from srs.ingest.extras import require
from srs.ingest.join import unpack_samples
from srs.ingest.plink import open_bed

SAMPLE_PROPERTIES = ("fid", "iid", "father", "mother", "sex", "pheno")
VARIANT_PROPERTIES = ("chromosome", "sid", "cm_position", "bp_position", "allele_1", "allele_2")


def write_bed(selected: Selected, path: Path) -> None:
    bed_reader = require("bed_reader", str(path))
    values = selected.values
    if not np.isin(values[~np.isnan(values)], (0, 1, 2)).all():
        raise InputError("the selected features are no dosages 0, 1, 2: export them to csv.")
    path = path if path.suffix == ".bed" else path.with_suffix(".bed")
    bed_reader.to_bed(path, values, properties=_properties(selected))


def _properties(selected: Selected) -> dict[str, Any]:
    """Those of the source's own files where there are any, else names, ids and places."""
    source = selected.source
    path = Path(source.get("path", ""))
    if source.get("kind") == "plink" and path.is_file() and not source.get("covariates"):
        bed = open_bed(path)
        kept = source.get("kept_samples")
        rows = selected.samples if kept is None else unpack_samples(kept)[selected.samples]
        found = {name: getattr(bed, name)[rows] for name in SAMPLE_PROPERTIES}
        return found | {name: getattr(bed, name)[selected.ids] for name in VARIANT_PROPERTIES}
    named = {"iid": selected.store.sample_ids, "sid": selected.names}
    rows_of_run = selected.rows
    if "contig" in rows_of_run[0]:
        named["chromosome"] = [row["contig"] for row in rows_of_run]
        named["bp_position"] = [row["position"] for row in rows_of_run]
    return named
