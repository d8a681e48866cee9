"""Select and explain relevant features from data larger than memory.

    import srs
    store = srs.ingest(X, "wide.zarr", target=y)   # array, data frame, path, zarr or dask array
    result = srs.select(store, fdr=0.1, memory="512MB", seed=0)
    result.relevant_names
    srs.explain(store, features=result, analyses=["mda", "per-class", "umfi"]).save("why")

`SRSSelector` is the same as a scikit-learn selector; the command `srs` is the same for the shell.
What `dir(srs)` lists is public, and nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from srs.errors import SRSError

try:
    from srs.explain import explain
    from srs.ingest import ingest
    from srs.results.export import export
except ModuleNotFoundError as error:  # srs-select-client is installed alone
    if error.name != "srs.explain":
        raise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from srs import errors, theory
    from srs.catalogue import Analysis, Option
    from srs.engine.kernels import load_kernels
    from srs.engine.state import Progress
    from srs.evidence.kinds import EvidenceKind
    from srs.evidence.registry import evidence_kinds
    from srs.explain import analyses
    from srs.ingest.formats.folders import FolderSigns
    from srs.ingest.formats.format import Format
    from srs.ingest.formats.registry import find_format, formats
    from srs.ingest.more_targets import add_targets, remove_targets
    from srs.ingest.values import read_values
    from srs.results.explanation import Explanation
    from srs.results.many import ManyResults, load_many
    from srs.results.result import Result, load_result
    from srs.selection.many import ManyProgress, select_many
    from srs.selection.plan import Plan, check, plan
    from srs.selection.select import select
    from srs.selection.selector import SRSSelector
    from srs.store import FeatureStore, open_store
    from srs.targets.kinds import TargetKind
    from srs.targets.registry import target_kinds
    from srs.targets.target import Target

    ANALYSES: Mapping[str, Analysis]

__version__ = "0.2.0"

__all__ = [
    "ANALYSES",
    "Analysis",
    "EvidenceKind",
    "Explanation",
    "FeatureStore",
    "FolderSigns",
    "Format",
    "ManyProgress",
    "ManyResults",
    "Option",
    "Plan",
    "Progress",
    "Result",
    "SRSError",
    "SRSSelector",
    "Target",
    "TargetKind",
    "__version__",
    "add_targets",
    "analyses",
    "check",
    "errors",
    "evidence_kinds",
    "explain",
    "export",
    "find_format",
    "formats",
    "ingest",
    "load_kernels",
    "load_many",
    "load_result",
    "open_store",
    "plan",
    "read_values",
    "remove_targets",
    "select",
    "select_many",
    "target_kinds",
    "theory",
]

# Imported when first used: together they take seconds and a hundred megabytes, which neither
# `srs --help` nor a worker with a memory budget should pay for.
_HOMES = {
    "Analysis": "srs.catalogue",
    "EvidenceKind": "srs.evidence.kinds",
    "Explanation": "srs.results.explanation",
    "FeatureStore": "srs.store",
    "FolderSigns": "srs.ingest.formats.folders",
    "Format": "srs.ingest.formats.format",
    "ManyProgress": "srs.selection.many",
    "ManyResults": "srs.results.many",
    "Option": "srs.catalogue",
    "Plan": "srs.selection.plan",
    "Progress": "srs.engine.state",
    "Result": "srs.results.result",
    "SRSSelector": "srs.selection.selector",
    "Target": "srs.targets.target",
    "TargetKind": "srs.targets.kinds",
    "add_targets": "srs.ingest.more_targets",
    "check": "srs.selection.plan",
    "evidence_kinds": "srs.evidence.registry",
    "find_format": "srs.ingest.formats.registry",
    "formats": "srs.ingest.formats.registry",
    "load_kernels": "srs.engine.kernels",
    "load_many": "srs.results.many",
    "load_result": "srs.results.result",
    "open_store": "srs.store",
    "plan": "srs.selection.plan",
    "read_values": "srs.ingest.values",
    "remove_targets": "srs.ingest.more_targets",
    "select": "srs.selection.select",
    "select_many": "srs.selection.many",
    "target_kinds": "srs.targets.registry",
}
_MODULES = {"analyses": "srs.explain.analyses", "theory": "srs.theory"}


# What srs-select-client has of this.
_OF_CLIENT = (
    "Explanation",
    "ManyResults",
    "Result",
    "SRSError",
    "__version__",
    "errors",
    "load_many",
    "load_result",
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'srs' has no attribute {name!r}")
    if "explain" not in globals() and name not in _OF_CLIENT:
        raise ModuleNotFoundError(
            f"srs.{name} needs srs-select, and only srs-select-client is installed: "
            "pip uninstall srs-select-client, then pip install srs-select."
        )
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name == "ANALYSES":
        return import_module("srs.catalogue").find_analyses()
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__ if "explain" in globals() else _OF_CLIENT)
