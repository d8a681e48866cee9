"""Import the libraries of the extra `formats` when they are needed, with one clear sentence if not
installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from srs.errors import SourceError

PACKAGES = {
    "h5py": "h5py",
    "bed_reader": "bed-reader",
    "nibabel": "nibabel",
    "pgenlib": "pgenlib",
    "bgen": "bgen",
    "cyvcf2": "cyvcf2",
}


def require(module: str, what: str) -> Any:
    """The module, for a source named `what`; SourceError if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        package = PACKAGES[module]
        raise SourceError(
            f"{what} needs the package {package}: pip install 'srs-select[formats]'."
        ) from None
