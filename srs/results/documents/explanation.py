"""The keys of explain.json."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class ExplanationSettings(TypedDict):
    """What was asked for.

    seed      seed of all analyses
    n_trees   trees of the forest that analyses share
    analyses  by name of the analysis: its options
    subjects  column of the store: samples that belong together; absent: each by itself
    """

    seed: int
    n_trees: int
    analyses: dict[str, dict[str, str | int | float | bool | None]]
    subjects: NotRequired[str]


class ExplanationData(TypedDict):
    """The data that was explained.

    fingerprint  hash of the data; equal fingerprints, equal data
    n_samples    number of samples
    n_features   number of features that are explained
    features     names of these features
    target       name of the target; null if the analyses need none
    target_kind  what kind of target it is, e.g. "classes" or "numbers"; null without a target
    labels       names of the classes; empty for numbers
    notices      one sentence for each oddity that a reader should know
    """

    fingerprint: str
    n_samples: int
    n_features: int
    features: list[str]
    target: str | None
    target_kind: str | None
    labels: list[str]
    notices: list[str]


class AnalysisRow(TypedDict):
    """One row of the table of an analysis. An analysis may have other keys of its own.

    feature  name of the feature
    part     what else the row is about: a context, a class, a target, a method; null if nothing
    value    the importance
    error    standard error of the value; null where there is none
    null     mean of the value under the null hypothesis; null if it is not known
    p_value  never 0; null if the analysis makes no test
    q_value  p_value corrected for all rows of the same part (Benjamini-Hochberg)
    label    a word for the row, e.g. "context-redundant"; null if none
    """

    feature: str
    part: str | None
    value: float | None
    error: float | None
    null: float | None
    p_value: float | None
    q_value: float | None
    label: str | None


class AnalysisDocument(TypedDict):
    """What one analysis says.

    name      name of the analysis
    settings  settings that it was made with
    notes     sentences that a reader should know
    rows      its table
    """

    name: str
    settings: dict[str, Any]
    notes: list[str]
    rows: list[AnalysisRow]


class ExplanationMeasured(TypedDict):
    """What differs between equal runs.

    seconds              wall time
    seconds_by_analysis  wall time of each analysis
    threads              threads that were used
    finished_at          time of the end, ISO 8601
    version              version of srs
    """

    seconds: float
    seconds_by_analysis: dict[str, float]
    threads: int
    finished_at: str
    version: str


class ExplanationDocument(TypedDict):
    """explain.json: why features matter.

    Equal data, settings and seed give the same bytes, except for `measured`.

    format          says that this is an explanation
    schema_version  version of this schema
    run             digest of the result whose features are explained; null if they are of none
    settings        the request
    data            the data that was explained
    analyses        result of each analysis
    measured        times and version
    """

    format: str
    schema_version: int
    run: str | None
    settings: ExplanationSettings
    data: ExplanationData
    analyses: list[AnalysisDocument]
    measured: ExplanationMeasured
