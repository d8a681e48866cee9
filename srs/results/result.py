"""The frozen outcome of a run, and its forms on disk: result.json and features.parquet.

`result.json` has the same bytes for the same data, settings and seed, but for its last part,
"measured" (times, memory, versions). Feature tables are in the order of the source's columns.
`report.html` is written from these, and from the explanation that `srs explain` left beside them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from srs.errors import InputError
from srs.report import render_html
from srs.results.effect_tables import effect_table, write_effects
from srs.results.feature_table import FeatureTable, SavedTable, whole, write_table
from srs.results.pair_table import pair_table, write_pairs
from srs.results.upgrade import EXPLANATION_STEPS, RESULT_STEPS, upgrade

if TYPE_CHECKING:
    import pandas as pd

    from srs.store import FeatureStore

FORMAT = "srs-result"
SCHEMA_VERSION = 2
JSON_NAME, TABLE_NAME, REPORT_NAME = "result.json", "features.parquet", "report.html"
EXPLANATION_NAME = "explain.json"
EXPLANATION_VERSION = 2


@dataclass(frozen=True)
class Result:
    """What a run found. Made by `srs.select`, or read from a folder by `srs.load_result`.

    document      the content of result.json, see `srs.report` for its parts
    all_features  the table of all features, read in pieces: `table` and `features`
                  load all of it, and millions of rows take a gigabyte
    stored_digest the digest of what is stored, if that is of an earlier version
    folder        where the run kept its trees, if it did
    """

    document: Mapping[str, Any]
    all_features: FeatureTable
    stored_digest: str | None = None
    folder: Path | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        data = self.document["data"]
        return (
            f"<Result: {len(self.relevant_ids)} of {data['n_features']} features relevant, "
            f"{self.n_trees} trees, {self.stop_reason}>"
        )

    @cached_property
    def relevant_ids(self) -> np.ndarray:
        """Ids of the relevant features, in the order of the source's columns."""
        return np.array([f["feature_id"] for f in self._outcome["relevant"]], np.int64)

    def part_of(self, store: FeatureStore) -> FeatureStore:
        """The part of a store that the run used; the store if that was all, or is a part."""
        from srs.store.view import Selection  # zarr and numba, which no other part of this needs

        view = self.document["data"].get("view")
        if view is None or store.selection is not None:
            return store
        bits = {
            name: None if text is None else base64.b64decode(text) for name, text in view.items()
        }
        return Selection(**bits).apply(store)

    @property
    def relevant_names(self) -> list[str]:
        """Names of the relevant features, in the order of the source's columns."""
        return [f["name"] for f in self._outcome["relevant"]]

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Relevant features that can replace one another, one dict per group.

        Keys: group (1, 2, ...), feature_ids and names (the most important first), and
        representative (the first of them). The most important group comes first.
        """
        return list(self._outcome["groups"])

    @property
    def cautions(self) -> list[dict[str, Any]]:
        """What to know before trusting the list, one dict per caution; mostly empty.

        Keys: kind ("target": features that are the target itself, or nearly; "factor": one factor
        that was not measured could explain the list; "related": samples are relatives), sentence,
        feature_ids, and factor (numbers).
        """
        return list(self._outcome.get("cautions", ()))

    @property
    def sets(self) -> pd.DataFrame | None:
        """One row per tested feature set, in the order given; None if the run tested none.

        Columns: set, verdict, p_value, q_value, n_features, n_relevant (members that are relevant
        by themselves) and relevant (their ids).
        """
        import pandas

        tested = self._outcome.get("sets")
        return None if tested is None else pandas.DataFrame(tested["rows"])

    @property
    def pairs(self) -> pd.DataFrame | None:
        """Features that matter together, the most certain first; None if pairs were not looked at.

        Columns: feature_id and name, partner_id and partner, statistic, p_value, q_value (among all
        pairs of features), kind ("crossing", "strengthening", "weakening", "joint"), low and high
        (difference that the upper half of the feature makes to the target in the lower and in the
        upper half of the partner), and the mean target in these halves: mean_low_low,
        mean_high_low (upper half of the feature), mean_low_high, mean_high_high; and cells, the
        target by up to three levels of both: counts, values and their intervals.
        """
        rows = self._outcome.get("pairs")
        frame: pd.DataFrame | None = None if rows is None else pair_table(rows).to_pandas()
        return frame

    @property
    def effects(self) -> pd.DataFrame | None:
        """How large the effects of relevant features are; None: of an earlier version.

        One row per feature, of many classes one per class. Columns: feature_id and name, group (the
        class), measure ("odds ratio", "slope"), per and step, scale ("values", "ranks"), estimate
        with low and high (95 % confidence), beta and standard_error, p_value, difference of means
        (also in standard deviations: deviations) and auc with their intervals, n, frequency (of the
        counted allele), and note.
        """
        table = effect_table(self._outcome, "effects")
        return None if table is None else table.to_pandas()

    @property
    def profiles(self) -> pd.DataFrame | None:
        """The target by levels of relevant features; None: of an earlier version.

        Columns: feature_id and name, level (or span of values), n, group (the class whose share is
        told), value with low and high (95 % confidence).
        """
        table = effect_table(self._outcome, "profiles")
        return None if table is None else table.to_pandas()

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """Relevant features that tell of the target only given others, one dict per feature.

        Keys: feature_id and name, given_ids and given (the other features), and p_value.
        """
        return list(self._outcome.get("conditions", ()))

    @cached_property
    def minimal_ids(self) -> np.ndarray:
        """Ids of a few relevant features that predict nearly as well as all, in source order."""
        return np.array(self._outcome["minimal"], np.int64)

    @property
    def table(self) -> pa.Table:
        """One row per feature: feature_id, name, verdict, p_value, q_value, stability, importance,
        effect, n_drawn, n_used, pinned, group (see `groups`; null for features in none); found_by
        (kind of evidence with the smallest p-value, of relevant features) and direction, if these
        are known."""
        return whole(self.all_features)

    @cached_property
    def features(self) -> pd.DataFrame:
        """The table of all features as a pandas data frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    @property
    def n_trees(self) -> int:
        return int(self._outcome["n_trees"])

    @property
    def n_passes(self) -> float:
        return float(self._outcome["n_passes"])

    @property
    def stop_reason(self) -> str:
        return str(self._outcome["stop_reason"])

    @property
    def peak_mem(self) -> int:
        """Largest resident set of the process, in bytes."""
        return int(self.document["measured"]["peak_mem"])

    @cached_property
    def digest(self) -> str:
        """A hash of the result, without what was measured: equal runs have the same."""
        return self.stored_digest or digest_of(self.document)

    @property
    def prediction(self) -> pd.DataFrame | None:
        """Predictions of the ensemble for the held-out samples; None if none were held out."""
        import pandas

        rows = self._outcome["prediction"]
        return None if rows is None else pandas.DataFrame(rows)

    def predict(self, data: Any, *, store: Any = None) -> pd.DataFrame:
        """Predict samples with the trees of the run, which must have kept them (keep_trees).

        data   the feature store of the run, a part of it (`store.view`), another store, an array
               (samples x features, in the order of the run) or a data frame
        store  the store of the run, or its path; None: where the run found it

        One row per sample: sample, prediction, and for classes the share of trees for each.
        Samples that trees have seen are predicted too well.

        >>> import numpy as np, srs, tempfile
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 5))
        >>> run = {"mode": "paper", "max_trees": 100, "keep_trees": True}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = srs.ingest(X, target=(X[:, 0] > 0).astype(int), keep_values=True)
        ...     result = srs.select(store, folder=folder, **run)
        ...     result.predict(np.eye(5) * 3 - 1, store=store)["prediction"].tolist()
        ['1', '0', '0', '0', '0']
        """
        from srs.results.predicting import predict  # numba and readers, which nothing else needs

        return predict(self, data, store, self.folder)

    @property
    def _outcome(self) -> Mapping[str, Any]:
        outcome: Mapping[str, Any] = self.document["outcome"]
        return outcome

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write result.json, features.parquet, effects.parquet, profiles.parquet and report.html,
        and pairs.parquet if pairs were looked at; returns the folder."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        write_table(self.all_features, path / TABLE_NAME)
        write_pairs(self._outcome.get("pairs"), path)
        write_effects(self._outcome, path)
        write_report(path, self)
        write_text(path / JSON_NAME, json.dumps(self.document, indent=1, allow_nan=False) + "\n")
        return path


def digest_of(document: Mapping[str, Any]) -> str:
    """A hash of a result's document, without what was measured."""
    parts = {key: part for key, part in document.items() if key != "measured"}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


def write_report(folder: Path, result: Result) -> Path:
    """Write the page of a run, with the explanation in its folder if that is of this run."""
    path = folder / REPORT_NAME
    explanation = read_explanation(folder, result)
    write_text(path, render_html(result.document, result.all_features, explanation))
    return path


def read_explanation(folder: Path, result: Result) -> Mapping[str, Any] | None:
    """The explanation of a result that is in its folder; None if there is none, or of another."""
    path = folder / EXPLANATION_NAME
    if not path.is_file():
        return None
    try:
        document: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        is_ours = document["run"] == result.digest
    except (ValueError, OSError, KeyError, TypeError):
        raise InputError(f"{path} is damaged: remove it and run srs explain again.") from None
    if not is_ours:
        return None
    present = upgrade(document, EXPLANATION_STEPS, EXPLANATION_VERSION)
    if present is None:
        raise InputError(f"{path} is not an explanation that this version of srs can read.")
    return present


def load_result(folder: str | os.PathLike[str]) -> Result:
    """Read the result that `Result.save` wrote."""
    path = Path(folder) / JSON_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        pq.read_schema(Path(folder) / TABLE_NAME)
    except FileNotFoundError as error:
        raise InputError(f"{folder} has no result: {error.filename} is missing.") from None
    except (ValueError, OSError) as error:
        raise InputError(f"the result in {folder} is damaged: {error}") from None
    result = make_result(document, SavedTable(Path(folder) / TABLE_NAME), str(path))
    return replace(result, folder=Path(folder))


def make_result(document: Any, table: FeatureTable, where: str) -> Result:
    """The result of a document and its table; InputError names `where` if it is none of ours."""
    is_ours = isinstance(document, Mapping) and document.get("format") == FORMAT
    present = upgrade(document, RESULT_STEPS, SCHEMA_VERSION) if is_ours else None
    if present is None:
        raise InputError(f"{where} is not a result that this version of srs can read.")
    return Result(present, table, None if present is document else digest_of(document))
