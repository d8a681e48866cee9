"""NIfTI: a map of the importance of relevant voxels, 0 elsewhere, in the space of the images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from srs.errors import InputError
from srs.ingest.formats.domains.nifti import first_image
from srs.ingest.readers.extras import require
from srs.results.export.selected import Selected


def write_map(selected: Selected, path: Path) -> None:
    nibabel = require("nibabel", str(path))
    source = selected.source
    if source.get("kind") != "nifti":
        raise InputError("the features of this run are not voxels of NIfTI images.")
    image = first_image(Path(source["path"]))
    volume = np.zeros(image.shape, np.float32)
    for at in selected.own():
        row = selected.rows[at]
        volume[row["i"], row["j"], row["k"]] = row["importance"]
    nibabel.Nifti1Image(volume, image.affine).to_filename(path)
