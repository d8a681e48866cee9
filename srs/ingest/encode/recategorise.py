"""Turn numeric features that the user calls categorical into category numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from srs.errors import SourceError
from srs.ingest.block import ColumnBlock, Source, float_values
from srs.ingest.readers.fields import find_odd_text
from srs.ingest.tables.ids import find_named
from srs.store.layout import CATEGORICAL, MAX_LEVELS, NUMERIC
from srs.targets.values import number_text


def refuse_many(name: str, labels: Sequence[str]) -> None:
    """SourceError if a feature has more categories than codes."""
    if len(labels) > MAX_LEVELS:
        raise SourceError(
            f"the feature {name!r} has {len(labels)} categories and at most {MAX_LEVELS} can be "
            f"stored: {say_what_to_do(name, labels)}."
        )


def say_what_to_do(name: str, labels: Sequence[str]) -> str:
    """What a user can do about a feature of so many categories."""
    if find_named([name]):
        return f"give it as --sample-column {name} if it holds ids of subjects, or leave it out"
    odd = find_odd_text(dict.fromkeys(labels, 1))
    if odd is not None:
        return f"all its values but {odd!r} are numbers; correct it, or write NA if it is missing"
    return (
        "merge rare ones, leave the column out, make it numeric, or name it with --id-column if it "
        "holds ids"
    )


class Recategoriser:
    """Applied to each block; features that are categorical already stay as they are.

    ids  of the features that the user calls categorical
    """

    def __init__(self, source: Source, categorical: frozenset[str | int]) -> None:
        self._names = source.names
        self.ids = _find_ids(source, categorical)

    def __call__(self, block: ColumnBlock) -> ColumnBlock:
        at = np.searchsorted(self.ids, (block.first, block.first + len(block.values)))
        chosen = self.ids[at[0] : at[1]] - block.first
        chosen = chosen[block.kinds[chosen] == NUMERIC]
        if not len(chosen):
            return block
        kinds, labels, values = block.kinds.copy(), dict(block.labels), float_values(block.values)
        if not values.flags.writeable:
            values = values.copy()
        kinds[chosen] = CATEGORICAL
        for i in chosen.tolist():
            labels[block.first + i] = self._renumber(block.first + i, values[i])
        return replace(block, values=values, kinds=kinds, labels=labels)

    def _renumber(self, feature_id: int, values: np.ndarray) -> tuple[str, ...]:
        known = ~np.isnan(values)
        numbers, codes = np.unique(values[known], return_inverse=True)
        labels = [number_text(v) if np.isfinite(v) else str(v) for v in numbers.tolist()]
        refuse_many(f"f{feature_id}" if self._names is None else self._names[feature_id], labels)
        values[known] = codes
        return tuple(labels)


def _find_ids(source: Source, categorical: frozenset[str | int]) -> np.ndarray:
    if not categorical:
        return np.zeros(0, np.int64)
    by_name = {}
    if any(isinstance(c, str) for c in categorical):
        names = source.names or [f"f{i}" for i in range(source.n_features)]
        by_name = {name: i for i, name in enumerate(names)}
    ids = []
    for feature in categorical:
        if isinstance(feature, str):
            if feature not in by_name:
                raise SourceError(f"categorical names {feature!r}, and no feature has this name.")
            ids.append(by_name[feature])
        elif not 0 <= feature < source.n_features:
            raise SourceError(
                f"categorical names feature {feature}; ids are 0..{source.n_features - 1}."
            )
        else:
            ids.append(feature)
    return np.unique(np.array(ids, np.int64))
