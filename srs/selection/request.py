"""What `select`, `plan` and `check` were given, read in one place so that all mean the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srs.errors import SettingsError
from srs.evidence.registry import weighted_kinds
from srs.memory import DEFAULT_MEM, parse_bytes
from srs.selection.known import with_known_samples
from srs.setting import Setting
from srs.settings import OF_RESULTS, RUN_ARGUMENTS, RunArguments, Settings
from srs.store import FeatureStore, open_store

LISTED = (Sequence, np.ndarray, set, frozenset, type(None))  # what names samples and features


@dataclass(frozen=True)
class Request:
    """A store, or the part of it that is used, with the settings and the place of a run."""

    store: FeatureStore
    settings: Settings
    run: RunArguments


def read_request(given: Mapping[str, Any]) -> Request:
    """The request that the arguments of a public function make; all of them must be given."""
    run = RunArguments(**{one.name: _plain(given[one.name]) for one in RUN_ARGUMENTS})
    for name in ("samples", "features"):
        if isinstance(getattr(run, name), str) or not isinstance(getattr(run, name), LISTED):
            raise SettingsError(
                f"{name} must be a list of names or numbers, not {getattr(run, name)!r}."
            )
    values = {
        setting.name: _read(setting, given[setting.public_name])
        for setting in OF_RESULTS
        if not (setting.is_list and given[setting.public_name] is None)
    }
    store = given["store"]
    store = store if isinstance(store, FeatureStore) else open_store(store)
    if values["sample_weight"] is not None or _weighs_classes(store, values):
        values.setdefault("evidence", weighted_kinds())
    if run.samples is not None or run.features is not None:
        pinned = values.get("pinned", ())
        wanted = None if run.features is None else [*run.features, *pinned]
        store = store.view(run.samples, wanted)
    settings = Settings(**values)
    return Request(with_known_samples(store, settings), settings, run)


def _weighs_classes(store: FeatureStore, values: Mapping[str, Any]) -> bool:
    """Whether covariates are adjusted for by weights: where there are more than two classes."""
    if not values.get("covariates") or not store.target_names:
        return False
    return store.target(values["target"]).n_classes > 2


def _read(setting: Setting, value: Any) -> Any:
    """A value as `Settings` holds it: memory in bytes, lists as tuples, no numbers of numpy."""
    value = _plain(value)
    if setting.public_name == "memory":
        return DEFAULT_MEM if value is None else parse_bytes(value)
    if not setting.is_list:
        return value
    if isinstance(value, str):
        raise SettingsError(f"{setting.name} must be a list, e.g. [{value!r}], not {value!r}.")
    if not isinstance(value, Iterable):
        raise SettingsError(f"{setting.name} must be a list, not {value!r}.")
    return tuple(_plain(one) for one in value)


def _plain(value: Any) -> Any:
    """A number as Python has it, e.g. from `np.int64(3)`; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value
