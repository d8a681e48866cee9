"""PLINK: the selected variants as .bed, .bim and .fam."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from srs.errors import InputError
from srs.ingest.formats.domains.plink import open_bed
from srs.ingest.formats.domains.vcf_zarr import read_alleles
from srs.ingest.readers.extras import require
from srs.ingest.tables.join import unpack_samples
from srs.results.export.selected import Selected, log

SAMPLE_PROPERTIES = ("fid", "iid", "father", "mother", "sex", "pheno")
VARIANT_PROPERTIES = ("chromosome", "sid", "cm_position", "bp_position", "allele_1", "allele_2")
UNKNOWN_ALLELE = "0"


def write_bed(selected: Selected, path: Path) -> None:
    bed_reader = require("bed_reader", str(path))
    own = selected.own()
    values = selected.values[:, own]
    if not np.isin(values[~np.isnan(values)], (0, 1, 2)).all():
        raise InputError("the selected features are not dosages (0, 1, 2): export them to csv.")
    path = path if path.suffix == ".bed" else path.with_suffix(".bed")
    bed_reader.to_bed(path, values, properties=_properties(selected, own))


def _properties(selected: Selected, own: np.ndarray) -> dict[str, Any]:
    """Those of the source's own files where there are any, else names, ids and places."""
    source = selected.source
    path = Path(source.get("path", ""))
    if source.get("kind") == "plink" and path.is_file():
        bed = open_bed(path)
        kept = source.get("kept_samples")
        rows = selected.samples if kept is None else unpack_samples(kept)[selected.samples]
        found = {name: getattr(bed, name)[rows] for name in SAMPLE_PROPERTIES}
        variants = selected.ids[own]
        return found | {name: getattr(bed, name)[variants] for name in VARIANT_PROPERTIES}
    named = {"iid": selected.store.sample_ids, "sid": [selected.names[i] for i in own]}
    rows_of_run = [selected.rows[i] for i in own]
    if "contig" in rows_of_run[0]:
        named["chromosome"] = [row["contig"] for row in rows_of_run]
        named["bp_position"] = [row["position"] for row in rows_of_run]
    if source.get("kind") == "vcf-zarr" and path.is_dir():
        named |= _alleles(path, selected.ids[own])
    return named


def _alleles(folder: Path, variants: np.ndarray) -> dict[str, list[str]]:
    """A dosage counts what is not the reference: allele 1 is the first alternative."""
    found = read_alleles(folder, variants)
    if found is None:
        return {}
    n_more = sum(len(alleles) > 2 for alleles in found)
    if n_more:
        log.warning(
            "variants with several alternative alleles, which are counted together: %d; their "
            "allele 1 is the first of them.",
            n_more,
        )
    padded = [(*alleles, UNKNOWN_ALLELE, UNKNOWN_ALLELE) for alleles in found]
    return {"allele_1": [one[1] for one in padded], "allele_2": [one[0] for one in padded]}
