"""NIfTI: a map of relevant voxels, 0 elsewhere, in the space of the images.

Its values are minus the decimal logarithms of p-values: all relevant voxels have one above 0, which
their importance need not be.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from srs.errors import InputError
from srs.ingest.formats.domains.nifti import first_image
from srs.ingest.readers.extras import require
from srs.results.export.selected import Selected
from srs.results.voxels import map_value


def write_map(selected: Selected, path: Path) -> None:
    nibabel = require("nibabel", str(path))
    source = selected.source
    if source.get("kind") != "nifti":
        raise InputError("the features of this run are not voxels of NIfTI images.")
    image = first_image(Path(source["path"]))
    volume = np.zeros(image.shape, np.float32)
    for at in selected.own():
        row = selected.rows[at]
        volume[row["i"], row["j"], row["k"]] = map_value(row["p_value"])
    nibabel.Nifti1Image(volume, image.affine).to_filename(path)
