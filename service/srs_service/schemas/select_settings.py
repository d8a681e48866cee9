"""Settings of a selection on the wire, written from the description in `srs.settings`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from srs_service.schemas.fields import MAX_INT, WHOLE, FeatureId, Label, Memory, Request
from srs_service.schemas.kinds import EvidenceName

Count = Annotated[int, Field(ge=1, le=MAX_INT), WHOLE]
Share = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0, le=2**53), WHOLE]
# About as many short names as the body that is allowed by default, a megabyte, holds.
MAX_SETS, MAX_MEMBERS = 10_000, 100_000
Members = Annotated[list[Label | FeatureId], Field(min_length=1, max_length=10_000)]
FeatureSets = Annotated[dict[Label, Members], Field(min_length=1, max_length=MAX_SETS)]
# Arguments of `srs.select` that a job cannot have, and what is said of them.
REFUSED = {
    # generated: refusals
    "keep_trees": "keep_trees is for runs on your own machine, not for jobs of a service.",
    "samples": "samples is for runs on your own machine, not for jobs of a service.",
    "features": "features is for runs on your own machine, not for jobs of a service.",
    "threads": "threads is set by the operator of the service, not by a job.",
    "executor": "executor is set by the operator of the service, not by a job.",
    "tls": "tls is set by the operator of the service, not by a job.",
    "task_timeout": "task_timeout is set by the operator of the service, not by a job.",
    "folder": "folder is set by the operator of the service, not by a job.",
    "resume": "resume is set by the operator of the service, not by a job.",
    "on_progress": "on_progress is for runs on your own machine, not for jobs of a service.",
    "finish": "finish is for runs on your own machine, not for jobs of a service.",
    # end generated
}
NOTHING: Any = {"type": "null"}


class SelectSettings(Request):
    """Settings of a selection, as of `srs.select`."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"required": ["mode"], "properties": {"mode": {"const": "paper"}}},
            "then": {
                "properties": {
                    "pinned": {"maxItems": 0},
                    "confounders": {"maxItems": 0},
                    "sample_weight": NOTHING,
                    "subjects": NOTHING,
                    "class_weight": NOTHING,
                    "feature_sets": NOTHING,
                    "n_features": NOTHING,
                    "pairs": {"enum": ["auto", "off"]},
                    "guarantee": {"const": "fdr"},
                    "rule": {"const": "tail"},
                }
            },
        }
    )

    # generated: settings
    fdr: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.1,
        title="Fdr",
        description="False discovery rate of the relevant set.",
        json_schema_extra={"x-group": "Common"},
    )
    memory: Memory = Field(
        "2GB",
        title="Memory",
        description='Memory limit of the process (with workers: of each worker), e.g. "512MB".',
        json_schema_extra={"x-group": "Common"},
    )
    seed: Annotated[int, Field(ge=0, le=9007199254740992), WHOLE] = Field(
        0,
        title="Seed",
        description="Seed of all random numbers: the same seed gives the same result.",
        json_schema_extra={"x-group": "Common"},
    )
    mode: Literal["default", "paper"] = Field(
        "default",
        title="Mode",
        description='"default", or "paper": Algorithm 7.1 of the thesis, unchanged.',
        json_schema_extra={"x-group": "Common"},
    )
    target: Label | None = Field(
        None,
        title="Target",
        description="Name of the target. null: the first of the store.",
        json_schema_extra={"x-group": "Common"},
    )
    pinned: list[Label | FeatureId] = Field(
        [],
        title="Pinned",
        max_length=1000,
        description="Names or ids of features that are in every subspace and reported separately;"
        " trees may split on them, nothing is adjusted for them: see covariates.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    subspace_size: Count | None = Field(
        None,
        title="Subspace size",
        description="Features that a tree explores. null: from memory and data.",
        json_schema_extra={"x-group": "Method, with the letters of the paper", "x-symbol": "q"},
    )
    max_trees: Count | None = Field(
        None,
        title="Maximum trees",
        description="Maximum number of trees. null: no limit; 1,000 in paper mode.",
        json_schema_extra={"x-group": "Limits"},
    )
    max_passes: Count | None = Field(
        None,
        title="Maximum passes",
        description="Maximum number of passes over the features. null: no limit.",
        json_schema_extra={"x-group": "Limits"},
    )
    max_seconds: Annotated[float, Field(ge=0, le=1000000000.0)] | None = Field(
        None,
        title="Maximum seconds",
        description="Maximum wall time, in seconds. null: a day; no limit in paper mode.",
        json_schema_extra={"x-group": "Limits"},
    )
    carry_fraction: Share = Field(
        0.5,
        title="Carry fraction",
        description="Share of a subspace for carried features.",
        json_schema_extra={"x-group": "Method, with the letters of the paper", "x-symbol": "alpha"},
    )
    max_carried: Annotated[int, Field(ge=0, le=10000), WHOLE] = Field(
        40,
        title="Maximum carried",
        description="Maximum number of carried columns of a tree in default mode.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    round_size: Count | None = Field(
        None,
        title="Round size",
        description="Trees between two interim decisions, in whole batches; more trees keep more "
        "workers busy. null: one pass, or 16 trees if a pass has fewer.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    root_share: Share = Field(
        0.25,
        title="Root share",
        description="Share of trees whose root splits an outstanding carried column.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    random_recall: bool = Field(
        True,
        title="Random recall",
        description="Carry a random number of columns instead of the maximum.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    n_probes: Literal[1, 3, 7] | None = Field(
        None,
        title="Probes",
        description="Number of probes per feature. null: 7; 3 from 500 features, 1 from 3,000.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    evidence: list[EvidenceName] | None = Field(
        None,
        title="Evidence",
        min_length=1,
        description="Kinds of evidence that count for the verdict. null: the built-in ones; with "
        "sample_weight without used.",
        json_schema_extra={"x-group": "Method, with the letters of the paper", "uniqueItems": True},
    )
    rule: Literal["tail", "knockoff"] = Field(
        "tail",
        title="Rule",
        description='"tail": p-values from the tail of the probes; "knockoff": the knockoff+ '
        "filter.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    pairs: Literal["auto", "all", "off"] = Field(
        "auto",
        title="Pairs",
        description='"all": look at all pairs of features for those that matter only together; '
        '"auto": if that takes minutes at most; "off": leave them to the trees.',
        json_schema_extra={"x-group": "Common"},
    )
    n_features: Count | None = Field(
        None,
        title="Features",
        description="Select this many features, those with the smallest p-values, whatever their "
        "error rate. null: as many as the false discovery rate allows.",
        json_schema_extra={"x-group": "Common"},
    )
    guarantee: Literal["fdr", "confident"] = Field(
        "fdr",
        title="Guarantee",
        description='"fdr": the rate holds in the mean over lists; "confident": it also holds for'
        " this list with 95 % confidence, if features are not strongly dependent.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    criterion: Literal["entropy", "gini", "variance"] | None = Field(
        None,
        title="Criterion",
        description="Impurity that splits decrease. null: entropy; variance for numbers.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    max_features: Count | None = Field(
        None,
        title="Maximum features",
        description="Number of columns tried at a node. null: all.",
        json_schema_extra={"x-group": "Method, with the letters of the paper", "x-symbol": "K"},
    )
    max_depth: Count | None = Field(
        None,
        title="Maximum depth",
        description="Maximum depth of a tree. null: no limit.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    min_samples_leaf: Count = Field(
        1,
        title="Minimum samples leaf",
        description="Minimum number of samples in a leaf.",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    patience: Count | None = Field(
        None,
        title="Patience",
        description="Stop after this many rounds without a change of the relevant set. null: when"
        " more trees would hardly change it.",
        json_schema_extra={"x-group": "Limits"},
    )
    paper_rule: Literal["probe", "importance"] = Field(
        "probe",
        title="Paper rule",
        description='Paper mode: "probe": what beats a random probe (7.C.1); "importance": '
        "whatever gets an importance above 0 in a tree (step 2(c)).",
        json_schema_extra={"x-group": "Method, with the letters of the paper"},
    )
    probe_draws: Annotated[int, Field(ge=0, le=2147483647), WHOLE] = Field(
        10,
        title="Probe draws",
        description="Paper mode: a feature needs more draws than this.",
        json_schema_extra={"x-group": "Method, with the letters of the paper", "x-symbol": "L"},
    )
    probe_share: Share = Field(
        0.95,
        title="Probe share",
        description="Paper mode: a feature must beat the probe in more than this share of its "
        "draws.",
        json_schema_extra={"x-group": "Method, with the letters of the paper", "x-symbol": "beta"},
    )
    holdout: Annotated[float, Field(ge=0, le=0.9)] = Field(
        0.0,
        title="Holdout",
        description="Share of samples that are held out from the trees and predicted at the end.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    sample_weight: Label | None = Field(
        None,
        title="Sample weight",
        description="Column of the store: how much each sample counts. null: all alike.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    class_weight: Literal["balanced"] | None = Field(
        None,
        title="Class weight",
        description='"balanced": all classes get the same total weight, including rare ones. '
        "null: each sample counts once.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    confounders: list[Label] = Field(
        [],
        title="Confounders",
        max_length=100,
        description="Columns of the store to adjust for by comparing only samples that are equal "
        "in all of them, e.g. batch or pair; many columns or numbers: covariates.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    subjects: Label | None = Field(
        None,
        title="Subjects",
        description="Column of the store: samples that belong together, e.g. those of one person."
        " null: every sample is its own subject.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    covariates: list[Label] = Field(
        [],
        title="Covariates",
        max_length=1000,
        description="Columns of the store to adjust for by a model of the target, e.g. age, sex "
        "and principal components; numbers or categories.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    feature_sets: FeatureSets | None = Field(
        None,
        title="Feature sets",
        description="Features that are also tested together: a mapping from names of sets to "
        "features, or a file (two columns, feature and set; or .gmt). null: none.",
        json_schema_extra={"x-group": "Samples and features"},
    )
    # end generated

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.evidence is not None and len(set(self.evidence)) < len(self.evidence):
            raise ValueError("a kind of evidence may be named only once")
        if self.feature_sets is not None:
            n_members = sum(map(len, self.feature_sets.values()))
            if n_members > MAX_MEMBERS:
                raise ValueError(
                    f"feature_sets have {n_members} members, and {MAX_MEMBERS} are allowed"
                )
            if self.mode == "paper":
                raise ValueError("paper mode does not test feature_sets: use the default mode")
        return self
