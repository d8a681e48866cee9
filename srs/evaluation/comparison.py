"""Compare two runs: which features both found, what changed, and which settings differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from srs.display import card
from srs.results.result import Result, load_result

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMES = 20  # in words
OF_DATA = ("fingerprint", "target", "n_features", "n_samples")


@dataclass(frozen=True, repr=False)
class Comparison:
    """What two runs have in common. Made by `srs.compare`.

    both, only_first, only_second  names of relevant features
    jaccard      share of the relevant features of either run that both found; None: neither found
                 any
    settings     setting -> the values in both runs, of settings that differ
    data         the same of the data: fingerprint, target, number of features and samples
    verdicts     feature -> the verdicts of both runs, of features relevant in one that the other
                 knows
    """

    both: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    jaccard: float | None
    settings: Mapping[str, tuple[Any, Any]]
    data: Mapping[str, tuple[Any, Any]]
    verdicts: Mapping[str, tuple[str, str]]

    def __repr__(self) -> str:
        shared = "none" if self.jaccard is None else f"{self.jaccard:.2f}"
        n = (len(self.both), len(self.only_first), len(self.only_second))
        return f"<Comparison: {n[0]} in both, {n[1]} and {n[2]} in one, Jaccard {shared}>"

    def _repr_html_(self) -> str:
        facts = {key: text for key, text in self._facts().items() if text}
        rows = [(name, *two) for name, two in self.verdicts.items()]
        return card("Comparison of two runs", facts, ("feature", "first", "second"), rows)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def frame(self) -> pd.DataFrame:
        """The features whose verdict changed, one row each."""
        import pandas

        rows = [
            {"name": name, "first": one, "second": other}
            for name, (one, other) in self.verdicts.items()
        ]
        return pandas.DataFrame(rows, columns=["name", "first", "second"])

    def describe(self) -> str:
        """All of it in lines."""
        lines = [f"{key:<14}{text}" for key, text in self._facts().items() if text]
        changed = [f"  {name}: {one} -> {other}" for name, (one, other) in self.verdicts.items()]
        if changed:
            lines += ["", "Changed verdicts:", *changed[:MOST_NAMES]]
        if len(changed) > MOST_NAMES:
            lines.append(f"  ... and {len(changed) - MOST_NAMES:,} more")
        return "\n".join(lines) + "\n"

    def _facts(self) -> dict[str, str]:
        shared = "no relevant features" if self.jaccard is None else f"{self.jaccard:.3f}"
        return {
            "Jaccard": shared,
            "in both": _named(self.both),
            "only first": _named(self.only_first),
            "only second": _named(self.only_second),
            "settings": _differences(self.settings),
            "data": _differences(self.data) or "the same",
        }


def compare(
    first: Result | str | os.PathLike[str], second: Result | str | os.PathLike[str]
) -> Comparison:
    """Compare two results, or the folders of two runs; features are matched by name.

    >>> import numpy as np, srs
    >>> X = np.random.default_rng(1).normal(size=(200, 20))
    >>> runs = [srs.select(X, X[:, 3] > 0, seed=1, fdr=fdr, max_trees=40) for fdr in (0.1, 0.01)]
    >>> srs.compare(*runs).settings
    {'fdr': (0.1, 0.01)}
    """
    one, other = (r if isinstance(r, Result) else load_result(r) for r in (first, second))
    here, there = one.relevant_names, other.relevant_names
    in_here, in_there = set(here), set(there)
    either = in_here | in_there
    return Comparison(
        both=tuple(name for name in here if name in in_there),
        only_first=tuple(name for name in here if name not in in_there),
        only_second=tuple(name for name in there if name not in in_here),
        jaccard=len(in_here & in_there) / len(either) if either else None,
        settings=_changed(one.document["settings"], other.document["settings"]),
        data=_changed(
            *({key: r.document["data"].get(key) for key in OF_DATA} for r in (one, other))
        ),
        verdicts=_verdicts(one, other, in_here ^ in_there),
    )


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = dict.fromkeys([*one, *other])
    return {n: (one.get(n), other.get(n)) for n in names if one.get(n) != other.get(n)}


def _verdicts(one: Result, other: Result, names: set[str]) -> dict[str, tuple[str, str]]:
    """Verdicts of some features in both runs, in the order of the first."""
    found = []
    for result in (one, other):
        table = result.columns(["name", "verdict"])
        found.append(
            {
                name: verdict
                for name, verdict in zip(
                    table["name"].to_pylist(), table["verdict"].to_pylist(), strict=True
                )
                if name in names
            }
        )
    return {name: (found[0][name], found[1][name]) for name in found[0] if name in found[1]}


def _named(names: tuple[str, ...]) -> str:
    if not names:
        return "0"
    shown = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    return f"{len(names):,}: {shown}"


def _differences(changed: Mapping[str, tuple[Any, Any]]) -> str:
    return "; ".join(f"{name}: {one} -> {other}" for name, (one, other) in changed.items())
