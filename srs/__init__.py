"""Select and explain relevant features from data larger than memory.

    import srs
    store = srs.ingest(X, "wide.zarr", target=y)   # array, data frame, path, zarr or dask array
    result = srs.select(store, fdr=0.1, memory="512MB", seed=0)
    result.relevant_names
    srs.explain(store, features=result, analyses=["mda", "per-class", "umfi"]).save("why")

`SRSSelector` is the same as a scikit-learn selector; the command `srs` is the same for the shell.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from srs.analyses import ANALYSES
from srs.errors import SRSError
from srs.export import export
from srs.ingest import ingest

if TYPE_CHECKING:
    from srs.explanation import Explanation, explain
    from srs.ingest.values import read_values
    from srs.kernels import load_kernels
    from srs.planning import Plan, check, plan
    from srs.result import Result, load_result
    from srs.run import Progress
    from srs.selection import select
    from srs.selector import SRSSelector
    from srs.store import FeatureStore, open_store

__all__ = [
    "ANALYSES",
    "Explanation",
    "FeatureStore",
    "Plan",
    "Progress",
    "Result",
    "SRSError",
    "SRSSelector",
    "check",
    "explain",
    "export",
    "ingest",
    "load_kernels",
    "load_result",
    "open_store",
    "plan",
    "read_values",
    "select",
]

# Imported when first used: together they take seconds and a hundred megabytes, which neither
# `srs --help` nor a worker with a memory budget should pay for.
_HOMES = {
    "Explanation": "srs.explanation",
    "FeatureStore": "srs.store",
    "Plan": "srs.planning",
    "Progress": "srs.run",
    "Result": "srs.result",
    "SRSSelector": "srs.selector",
    "check": "srs.planning",
    "explain": "srs.explanation",
    "load_kernels": "srs.kernels",
    "load_result": "srs.result",
    "open_store": "srs.store",
    "plan": "srs.planning",
    "read_values": "srs.ingest.values",
    "select": "srs.selection",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'srs' has no attribute {name!r}")
