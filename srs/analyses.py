"""Which analyses `srs.explain` offers: what each answers, and what its value means.

The one list of them: `srs.explanation` calls the function of each, the service and its page offer
them, tests compare the command's help and the README. Imports nothing: whoever only names
analyses need not load them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class AnalysisKind:
    """An analysis that may be asked for.

    question  what it answers, in a few words
    value     what VALUE of NAME=VALUE is: "context" (the name of a feature or target), "method";
              None: it takes none
    choices   the values that there are; empty: any name
    required  whether a value must be given
    target    whether it needs a target
    usual     whether it is run where nothing is named
    """

    question: str
    value: str | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    target: bool = True
    usual: bool = False


ANALYSES: Mapping[str, AnalysisKind] = {
    "mdi": AnalysisKind("How much a forest uses a feature", usual=True),
    "mda": AnalysisKind("How much worse it predicts unseen samples without it", usual=True),
    "label-permutation": AnalysisKind("Could that be chance", usual=True),
    "conditional-error-rate": AnalysisKind("How far down the ranking is it safe to go"),
    "context": AnalysisKind(
        "Does a feature tell more, or less, of the target in a context", "context", required=True
    ),
    "vote-shift": AnalysisKind(
        "Do votes of trees change when a feature is shuffled", "method", ("chi2", "ks")
    ),
    "one-probe": AnalysisKind("Is it ranked above a random feature"),
    "per-class": AnalysisKind("Which features tell one class from all others, however rare"),
    "umfi": AnalysisKind(
        "What a feature tells at most, shared or not", "method", ("linear", "transport")
    ),
    "mci": AnalysisKind(
        "What a feature adds at most to a set of others", "method",
        ("exact", "submodular", "sampled"),
    ),
    "network": AnalysisKind("Which features tell which", target=False),
    "connectome": AnalysisKind(
        "Which neurons are connected, from calcium signals", target=False
    ),
    "context-network": AnalysisKind(
        "Which links between features depend on a context", "context", required=True, target=False
    ),
}  # fmt: skip
USUAL = tuple(name for name, kind in ANALYSES.items() if kind.usual)
