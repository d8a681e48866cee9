"""Ask the questions of a run, within bounded memory, and put the answers into sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from srs.engine.context import RunContext
from srs.report.text import clean_name, percent
from srs.results.documents.result import Caution
from srs.seeds import CAUTIONS, make_rng
from srs.selection.cautions.factor import Factor, Looked, find_factor, standardise
from srs.selection.cautions.leak import is_target
from srs.selection.cautions.related import (
    LEAST_LOCI,
    MOST_LOCI,
    MOST_SAMPLES,
    Related,
    find_related,
)
from srs.selection.groups import Signals
from srs.selection.groups.association import thin
from srs.store import FeatureStore
from srs.targets.registry import target_kind

MAX_SAMPLES = 2_048
MAX_CELLS = 2_000_000  # samples x features that components are made of: 8 MB
MAX_SAMPLED = 3_000
MAX_OTHERS = 500  # features that tell how wide a component is
MAX_CHECKED = 500  # features of the list that are looked at
MIN_LISTED = 40  # shorter lists are read feature by feature
MAX_NAMES = 5


def find_cautions(context: RunContext, signals: Signals) -> list[Caution]:
    """Cautions about the list of a run; its codes were read for the signals."""
    cautions = []
    if leaks := _leaks(context, signals):
        cautions.append(_leak_caution(context, leaks))
    if len(signals.listed.places) >= MIN_LISTED:
        found = _factor(context, signals)
        if found is not None:
            cautions.append(_factor_caution(*found))
    if (related := _related(context)) is not None:
        cautions.append(related)
    return cautions


# -- features that are the target -------------------------------------------------------------


def _leaks(context: RunContext, signals: Signals) -> list[int]:
    """Places of the features that are the target, or nearly."""
    listed = signals.listed
    target = context.store.target(context.settings.target)
    values = np.asarray(target_kind(target.kind).learned(target))[listed.samples]
    values = values.astype(np.int64 if target.has_classes else np.float64)
    n_features = context.store.n_features
    return [
        int(place)
        for at, place in enumerate(listed.places)
        if is_target(listed.codes[:, at], values, bool(listed.is_categorical[at]), n_features)
    ]


def _leak_caution(context: RunContext, places: Sequence[int]) -> Caution:
    store = context.store
    ids = np.sort(store.feature_ids[np.asarray(places)])
    source_ids = ids if store.selection is None else store.source_ids[ids]
    names = _names(store, ids[:MAX_NAMES])
    more = f" and {len(ids) - MAX_NAMES:,} more" if len(ids) > MAX_NAMES else ""
    tells, this = ("tells", "this is") if len(ids) == 1 else ("tell", "these are")
    return {
        "kind": "target",
        "sentence": f"{', '.join(names)}{more} {tells} the target with almost no error. Check "
        f"whether {this} the target itself, recoded, or known only because the target is known. "
        "If so, leave out such features and select again, because they hide others.",
        "feature_ids": source_ids.tolist(),
    }


def _names(store: FeatureStore, ids: np.ndarray) -> list[str]:
    """Names of a few features; those of all others are not made."""
    if not store.has_names:
        sources = ids if store.selection is None else store.source_ids[ids]
        return [f"f{i}" for i in sources]
    data, offsets = store.packed_names()
    return [clean_name(data[offsets[i] : offsets[i + 1]].tobytes().decode()) for i in ids.tolist()]


# -- related samples --------------------------------------------------------------------------

ALL_DOSAGES = 7  # bits of 0, 1 and 2: codes are dosages then


def _related(context: RunContext) -> Caution | None:
    """Copies and relatives among the samples, on a random part of the genotypes."""
    store = context.store
    if (by_id := store.dosages) is None:
        return None
    places = np.flatnonzero((by_id == ALL_DOSAGES)[store.feature_ids])
    if len(places) < LEAST_LOCI:
        return None
    places = places[:MOST_LOCI]  # in the order of hashes: a random part
    samples = context.train[thin(len(context.train), MOST_SAMPLES)]
    subjects = context.samples.subjects
    known = None if subjects is None else subjects[samples]
    found = find_related(store.read_places(places)[samples], known)
    return None if found is None else _related_caution(store, samples, found)


def _related_caution(store: FeatureStore, samples: np.ndarray, found: Related) -> Caution:
    n_near = len(found.pairs) - found.n_copies
    parts = [
        f"{n:,} {'pair' if n == 1 else 'pairs'} of samples {'is' if n == 1 else 'are'} {what}"
        for n, what in (
            (found.n_copies, "copies or twins"),
            (n_near, "as near as parents and children or siblings"),
        )
        if n
    ]
    ids = store.sample_ids
    first, second = (clean_name(ids[int(samples[i])]) for i in found.pairs[0])
    return {
        "kind": "related",
        "sentence": f"{' and '.join(parts)} (by {found.n_loci:,} genotypes of {len(samples):,} "
        f"samples), the nearest {first} and {second}. Relatives are not independent, and features "
        "of a family seem relevant too easily: leave out one of each pair (samples=, --samples), "
        "or give a column that names families as subjects (subjects=, --subjects).",
        "feature_ids": [],
    }


# -- one factor -------------------------------------------------------------------------------


def _factor(context: RunContext, signals: Signals) -> tuple[Factor, list[int]] | None:
    """The factor that could explain the list, and ids of features that go along with it."""
    listed, store = signals.listed, context.store
    kept = thin(len(listed.samples), MAX_SAMPLES)
    samples = listed.samples[kept]
    rng = make_rng(context.settings.seed, CAUTIONS)
    most = min(MAX_SAMPLED, MAX_CELLS // max(len(samples), 1), store.n_features // 2)
    places = _draw_places(store, most + MAX_OTHERS, rng)
    sampled, others = places[:most], places[most:]
    outside = np.flatnonzero(~np.isin(listed.places, sampled))
    outside = outside[thin(len(outside), MAX_CHECKED)]
    checked = standardise(listed.codes[kept][:, outside], listed.is_categorical[outside])
    found = find_factor(
        _read(context, sampled, samples),
        _read(context, others, samples),
        listed=checked,
        looked=_looked(context, samples),
        rng=rng,
    )
    if found is None:
        return None
    ids = store.feature_ids[listed.places[outside[found.along]]]
    ids = ids if store.selection is None else store.source_ids[ids]
    return found, np.sort(ids).tolist()


def _looked(context: RunContext, samples: np.ndarray) -> Looked:
    """The samples that are looked at; a numeric target by its ranks."""
    target = context.target.take(samples)
    if len(target.values):
        outputs = np.argsort(np.argsort(target.values, kind="stable"), kind="stable")[:, None]
    else:
        outputs = target.classes[:, None] == np.arange(target.n_classes)
    strata, subjects = context.samples.cells, context.samples.subjects
    return Looked(
        outputs=outputs.astype(np.float64),
        strata=None if strata is None else strata[samples],
        subjects=None if subjects is None else subjects[samples],
    )


def _draw_places(store: FeatureStore, n_wanted: int, rng: np.random.Generator) -> np.ndarray:
    """Places of random features in as few chunks as hold them.

    Places are in the order of hashes of the features' values, so a chunk is a random sample.
    """
    width = store.chunk_features
    chunks = rng.permutation(store.n_chunks)[: -(-n_wanted // width) + 1]
    places = (chunks[:, None] * width + np.arange(width)).ravel()
    return rng.permutation(places[places < store.n_features])[:n_wanted]


def _read(context: RunContext, places: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Features at some places as `standardise` makes them, a chunk at a time."""
    columns = np.empty((len(samples), len(places)), np.float32)
    chunks = places // context.store.chunk_features
    by_subset = context.splits_by_subset
    for chunk in np.unique(chunks):
        here = np.flatnonzero(chunks == chunk)
        codes = context.store.read_places(places[here])[samples]
        categorical = np.zeros(len(here), np.bool_)
        if by_subset is not None:
            categorical = by_subset[places[here]]
        columns[:, here] = standardise(codes, categorical)
    return columns


def _factor_caution(factor: Factor, ids: list[int]) -> Caution:
    return {
        "kind": "factor",
        "sentence": "One factor that was not measured, such as a batch, ancestry or cell "
        f"composition, could explain this list. The target follows principal component "
        f"{factor.component} of the samples (R² {factor.followed:.2g}), which has "
        f"{percent(factor.variance)} of the variance and moves {percent(factor.moved)} of all "
        f"features. {factor.n_along:,} of the {factor.n_checked:,} listed features that were "
        "checked go along with it: given the component, most of their association with the "
        "target is gone. Find the factor, or compute the component, ingest it as a column of the "
        "samples (--sample-column) and adjust for it (covariates=, --covariates; for batches "
        "confounders=, --confounder).",
        "feature_ids": ids,
        "factor": {
            "component": factor.component,
            "variance": factor.variance,
            "moved": factor.moved,
            "followed": factor.followed,
            "n_checked": factor.n_checked,
            "n_along": factor.n_along,
        },
    }
