"""Options of settings, one a setting, for all commands that take it.

Written from the description in `srs.settings`, so that `--help` does not import it: that takes
seconds. Options of other kinds are in `srs.cli.options`.
"""

from __future__ import annotations

from typing import Annotated

import typer

# generated: panels
COMMON = "Common"
LIMITS = "Limits"
SAMPLES = "Samples and features"
METHOD = "Method, with the letters of the paper"
RUN = "Where and how it runs"
PANELS = (COMMON, LIMITS, SAMPLES, METHOD, RUN)
# end generated
# generated: settings
Fdr = Annotated[
    float,
    typer.Option(
        help="False discovery rate of the relevant set: between 0 and 1.",
        rich_help_panel=COMMON,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help='Memory limit of the process (with workers: of each worker), e.g. "512MB". Default: '
        "2GB.",
        rich_help_panel=COMMON,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        help="Seed of all random numbers: the same seed gives the same result.",
        rich_help_panel=COMMON,
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        metavar="default|paper",
        help='"default", or "paper": Algorithm 7.1 of the thesis, unchanged.',
        rich_help_panel=COMMON,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name of the target. Default: the first of the store.",
        rich_help_panel=COMMON,
    ),
]
Pinned = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Names or ids of features that are in every subspace and reported separately; trees "
        "may split on them, nothing is adjusted for them: see covariates. Repeat for more. "
        "Default: none.",
        rich_help_panel=SAMPLES,
    ),
]
SubspaceSize = Annotated[
    int | None,
    typer.Option(
        help="Features that a tree explores (q). Default: from memory and data.",
        rich_help_panel=METHOD,
    ),
]
MaxTrees = Annotated[
    int | None,
    typer.Option(
        help="Maximum number of trees. Default: no limit; 1,000 in paper mode.",
        rich_help_panel=LIMITS,
    ),
]
MaxPasses = Annotated[
    int | None,
    typer.Option(
        help="Maximum number of passes over the features. Default: no limit.",
        rich_help_panel=LIMITS,
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        help="Maximum wall time, in seconds. Default: a day; no limit in paper mode.",
        rich_help_panel=LIMITS,
    ),
]
CarryFraction = Annotated[
    float,
    typer.Option(
        help="Share of a subspace for carried features (alpha): between 0 and 1.",
        rich_help_panel=METHOD,
    ),
]
MaxCarried = Annotated[
    int,
    typer.Option(
        help="Maximum number of carried columns of a tree in default mode.",
        rich_help_panel=METHOD,
    ),
]
RoundSize = Annotated[
    int | None,
    typer.Option(
        help="Trees between two interim decisions, in whole batches; more trees keep more workers"
        " busy. Default: one pass, or 16 trees if a pass has fewer.",
        rich_help_panel=METHOD,
    ),
]
RootShare = Annotated[
    float,
    typer.Option(
        help="Share of trees whose root splits an outstanding carried column: between 0 and 1.",
        rich_help_panel=METHOD,
    ),
]
RandomRecall = Annotated[
    bool,
    typer.Option(
        help="Carry a random number of columns instead of the maximum.",
        rich_help_panel=METHOD,
    ),
]
NProbes = Annotated[
    int | None,
    typer.Option(
        metavar="1|3|7",
        help="Number of probes per feature: 1, 3, 7. Default: 7; 3 from 500 features, 1 from "
        "3,000.",
        rich_help_panel=METHOD,
    ),
]
Evidence = Annotated[
    list[str] | None,
    typer.Option(
        metavar="used|screened|peak|univariate|pairs",
        help="Kinds of evidence that count for the verdict: used, screened, peak, univariate, "
        "pairs. Repeat for more. Default: the built-in ones; with sample_weight without "
        "used.",
        rich_help_panel=METHOD,
    ),
]
Rule = Annotated[
    str,
    typer.Option(
        metavar="tail|knockoff",
        help='"tail": p-values from the tail of the probes; "knockoff": the knockoff+ filter.',
        rich_help_panel=METHOD,
    ),
]
Pairs = Annotated[
    str,
    typer.Option(
        metavar="auto|all|off",
        help='"all": look at all pairs of features for those that matter only together; "auto": '
        'if that takes minutes at most; "off": leave them to the trees.',
        rich_help_panel=COMMON,
    ),
]
NFeatures = Annotated[
    int | None,
    typer.Option(
        help="Select this many features, those with the smallest p-values, whatever their error "
        "rate. Default: as many as the false discovery rate allows.",
        rich_help_panel=COMMON,
    ),
]
Guarantee = Annotated[
    str,
    typer.Option(
        metavar="fdr|confident",
        help='"fdr": the rate holds in the mean over lists; "confident": it also holds for this '
        "list with 95 % confidence, if features are not strongly dependent.",
        rich_help_panel=METHOD,
    ),
]
Criterion = Annotated[
    str | None,
    typer.Option(
        metavar="entropy|gini|variance",
        help="Impurity that splits decrease: entropy, gini, variance. Default: entropy; variance "
        "for numbers.",
        rich_help_panel=METHOD,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(
        help="Number of columns tried at a node (K). Default: all.",
        rich_help_panel=METHOD,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        help="Maximum depth of a tree. Default: no limit.",
        rich_help_panel=METHOD,
    ),
]
MinSamplesLeaf = Annotated[
    int,
    typer.Option(
        help="Minimum number of samples in a leaf.",
        rich_help_panel=METHOD,
    ),
]
Patience = Annotated[
    int | None,
    typer.Option(
        help="Stop after this many rounds without a change of the relevant set. Default: when "
        "more trees would hardly change it.",
        rich_help_panel=LIMITS,
    ),
]
PaperRule = Annotated[
    str,
    typer.Option(
        metavar="probe|importance",
        help='Paper mode: "probe": what beats a random probe (7.C.1); "importance": whatever gets'
        " an importance above 0 in a tree (step 2(c)).",
        rich_help_panel=METHOD,
    ),
]
ProbeDraws = Annotated[
    int,
    typer.Option(
        help="Paper mode: a feature needs more draws than this (L).",
        rich_help_panel=METHOD,
    ),
]
ProbeShare = Annotated[
    float,
    typer.Option(
        help="Paper mode: a feature must beat the probe in more than this share of its draws "
        "(beta): between 0 and 1.",
        rich_help_panel=METHOD,
    ),
]
Holdout = Annotated[
    float,
    typer.Option(
        help="Share of samples that are held out from the trees and predicted at the end: between"
        " 0 and 0.9.",
        rich_help_panel=SAMPLES,
    ),
]
KeepTrees = Annotated[
    bool,
    typer.Option(
        "--keep-trees",
        help="Write all trees to the folder of the run.",
        rich_help_panel=RUN,
    ),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of the store: how much each sample counts. Default: all alike.",
        rich_help_panel=SAMPLES,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        metavar="balanced",
        help='"balanced": all classes get the same total weight, including rare ones. Default: '
        "each sample counts once.",
        rich_help_panel=SAMPLES,
    ),
]
Confounders = Annotated[
    list[str] | None,
    typer.Option(
        "--confounders",
        "--confounder",
        metavar="NAME",
        help="Columns of the store to adjust for by comparing only samples that are equal in all "
        "of them, e.g. batch or pair; many columns or numbers: covariates. Repeat for more. "
        "Default: none.",
        rich_help_panel=SAMPLES,
    ),
]
Subjects = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of the store: samples that belong together, e.g. those of one person. "
        "Default: every sample is its own subject.",
        rich_help_panel=SAMPLES,
    ),
]
Covariates = Annotated[
    list[str] | None,
    typer.Option(
        "--covariates",
        "--covariate",
        metavar="NAME",
        help="Columns of the store to adjust for by a model of the target, e.g. age, sex and "
        "principal components; numbers or categories. Repeat for more. Default: none.",
        rich_help_panel=SAMPLES,
    ),
]
# end generated
