"""A kind of evidence is one file: all that there are keep the contract, and a toy one is found
everywhere."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srs
from srs.engine.context import make_context
from srs.engine.loop import Run
from srs.errors import SettingsError
from srs.evidence.arrays import Evidence
from srs.evidence.kinds import EvidenceKind
from srs.evidence.registry import (
    BUILT_IN,
    USUAL,
    evidence_kind,
    evidence_kinds,
    kinds_held,
    with_probes,
)
from srs.executors import LocalExecutor
from srs.report import render_html
from srs.settings import Settings
from srs.trees import Importances
from tests.plugins import ROOT, install, run_python

TOY = '''
"""How well a column follows the target in a straight line."""

from dataclasses import dataclass

import numpy as np

from srs import EvidenceKind

CALLS = []


@dataclass(frozen=True)
class Correlations:
    """Of some places, in all roles."""

    places: np.ndarray

    def run(self, context):
        codes = context.read_places(self.places).astype(float)
        target = context.target
        y = (target.values if len(target.values) else target.classes)[context.train].astype(float)
        found = []
        for permutation in context.permutations:
            x = codes[permutation][context.train]
            shared = np.abs(((x - x.mean(axis=0)) * (y - y.mean())[:, None]).mean(axis=0))
            found.append(shared / np.maximum(x.std(axis=0) * y.std(), 1e-12))
        return np.array(found, np.float32)


def collect(context, run_specs, n_rounds):
    CALLS.append(n_rounds)
    parts = np.array_split(np.arange(context.shape.n_features), 3)
    return np.concatenate(list(run_specs([Correlations(part) for part in parts])), axis=1)


TOY = EvidenceKind(
    name="toy",
    sees="how well the feature follows the target in a straight line",
    title="Toy: how straight it is",
    share=0.25,
    merge="maximum",
    mean=False,
    collect=collect,
)
SPLITS = EvidenceKind(
    name="splits",
    sees="how many splits the feature made, as a mean over its draws",
    title="Splits: how many it made",
    share=0.25,
    merge="sum",
    mean=True,
    of_trees=lambda importances: importances.n_splits.astype(np.float32),
)
EACH = EvidenceKind("each", "", "Each", 0.5, "sum", mean=False, collect=collect, every_round=True)
SHORT = EvidenceKind(
    "short", "", "Short", 0.5, "sum", mean=False, collect=lambda *_: np.zeros((1, 1), np.float32)
)
BELOW = EvidenceKind(
    "below", "", "Below", 0.5, "sum", mean=False,
    collect=lambda context, *_: np.full(
        (context.shape.n_roles, context.shape.n_features), -1, np.float32
    ),
)
'''


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.name)
def test_every_kind_keeps_the_contract(kind: EvidenceKind) -> None:
    assert kind.title.lower().startswith(kind.name)
    assert kind.sees[0].islower()
    assert not kind.sees.endswith(".")  # a part of a sentence
    assert f"*{kind.name}*" in (ROOT / "README.md").read_text()
    held = Evidence.empty(3, 2).by_kind[kind.name]
    assert held.nbytes == kind.bytes_per_role * held.size
    if kind.has_p_values:
        assert kind.steps is not None
        assert held.shape == (1, 3)
    else:
        assert kind.of_trees is not None
        assert kind.of_trees(Importances.empty(5)).shape == (5,)
        assert held.shape == (2, 3)


def test_shares_of_the_usual_kinds_add_up() -> None:
    assert sum(evidence_kind(name).share for name in USUAL) == pytest.approx(1)
    of_trees = tuple(kind for kind in BUILT_IN if kind.of_trees is not None)
    assert kinds_held(("peak",)) == of_trees  # the kernel makes them all


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "two words"}, "plain word"),
        ({"of_trees": None}, "one of of_trees, collect and steps"),
        ({"merge": "mean"}, "merged by 'mean'"),
        ({"share": 0.0}, "share"),
    ],
)
def test_a_kind_that_cannot_work_is_refused(changed: dict[str, Any], message: str) -> None:
    given = {
        "name": "x",
        "sees": "",
        "title": "X",
        "share": 0.1,
        "merge": "sum",
        "mean": True,
        "of_trees": lambda importances: importances.used,
    }
    EvidenceKind(**given)
    with pytest.raises(SettingsError, match=message):
        EvidenceKind(**{**given, **changed})


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(SettingsError, match="used, screened, peak"):
        Settings(evidence=("toy",))
    with pytest.raises(SettingsError, match="there is no evidence 'toy'"):
        evidence_kind("toy")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of a package with kinds of evidence, which is installed for the test."""
    names = ("TOY", "SPLITS", "EACH", "SHORT", "BELOW")
    install(tmp_path, "srs.evidence", "toy_evidence", TOY, *names)
    monkeypatch.syspath_prepend(tmp_path)
    evidence_kinds.cache_clear()
    evidence_kinds()
    yield sys.modules["toy_evidence"]
    evidence_kinds.cache_clear()
    del sys.modules["toy_evidence"]


@pytest.fixture(scope="module")
def store() -> srs.FeatureStore:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 600))
    return srs.ingest(X, target=(X[:, 3] + X[:, 7] > 0).astype(int))


def test_a_toy_kind_is_found_in_a_run(toy: Any, store: srs.FeatureStore) -> None:
    """In verdicts, grounds, histograms and report."""
    kinds = (*USUAL, "toy", "splits")
    result = srs.select(store, evidence=kinds, seed=1, max_trees=64, threads=2)
    assert toy.CALLS == [0]  # once a run
    assert {"f3", "f7"} <= set(result.relevant_names)
    outcome = result.document["outcome"]
    weights = {kind["kind"]: kind["weight"] for kind in outcome["grounds"]["kinds"]}
    assert tuple(weights) == kinds
    assert tuple(outcome["evidence"]) == with_probes(kinds)
    assert weights["toy"] > 0
    histogram = outcome["evidence"]["toy"]
    assert sum(histogram["features"]) == 600
    assert 0.3 < histogram["edges"][-1] <= 1  # the largest correlation
    page = render_html(result.document, result.all_features)
    assert (
        "<strong>toy</strong>: how well the feature follows the target in a straight line" in page
    )

    alone = srs.select(store, evidence=("toy",), seed=1, max_trees=64, threads=2)
    assert {"f3", "f7"} <= set(alone.relevant_names)


def test_a_result_of_a_kind_that_is_not_installed_is_shown(store: srs.FeatureStore) -> None:
    result = srs.select(store, seed=1, max_trees=32, threads=1)
    document = json.loads(json.dumps(result.document))
    histograms = document["outcome"]["evidence"]
    histograms["gone"] = histograms.pop("peak")
    assert "<strong>gone</strong>" in render_html(document, result.all_features)


def test_a_toy_kind_is_in_the_plan_of_memory(toy: Any, store: srs.FeatureStore) -> None:
    usual = make_context(store, Settings()).shape
    with_toy = make_context(store, Settings(evidence=(*USUAL, "toy"))).shape
    with_splits = make_context(store, Settings(evidence=("splits",))).shape
    assert with_toy.held_bytes - usual.held_bytes == toy.TOY.bytes_per_role * usual.n_roles
    assert with_toy.batch_bytes == usual.batch_bytes  # no batch returns it
    assert with_splits.batch_bytes - usual.batch_bytes == toy.SPLITS.bytes_per_role


def test_evidence_is_collected_each_round_and_kept_in_checkpoints(
    toy: Any, store: srs.FeatureStore, tmp_path: Path
) -> None:
    context = make_context(store, Settings(evidence=(*USUAL, "each", "toy"), max_trees=48, seed=2))
    run = Run(context, LocalExecutor(1), tmp_path)
    n_rounds = run.run().state.n_rounds
    assert n_rounds > 1
    assert [0, 0, *range(1, n_rounds)] == toy.CALLS
    each, once = (run.state.evidence.by_kind[name] for name in ("each", "toy"))
    np.testing.assert_allclose(each, n_rounds * once, rtol=1e-6)
    run.keeper.save(run.state)
    again = Run(context, LocalExecutor(1), tmp_path)
    again.restore()
    kept = again.state.evidence.arrays()
    assert list(kept) == list(run.state.evidence.arrays())
    for name, array in run.state.evidence.arrays().items():
        np.testing.assert_array_equal(kept[name], array)


@pytest.mark.usefixtures("toy")
def test_sets_are_tested_by_kinds_of_trees(store: srs.FeatureStore) -> None:
    sets = {"both": ["f3", "f7"], "none": ["f20", "f21"]}
    kinds = ("screened", "splits", "toy")
    found = srs.select(
        store, evidence=kinds, feature_sets=sets, seed=1, max_trees=64, threads=2
    ).sets
    assert found is not None
    p_values = dict(zip(found["set"], found["p_value"], strict=True))
    assert p_values["both"] < p_values["none"]


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("kind", "message"), [("short", "must be float32 of shape"), ("below", "missing or negative")]
)
def test_collected_evidence_is_checked(store: srs.FeatureStore, kind: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"the evidence '{kind}' .*{message}"):
        srs.select(store, evidence=(kind,), max_trees=32, threads=1)


def test_a_toy_kind_is_offered_by_command_and_service(tmp_path: Path) -> None:
    install(tmp_path, "srs.evidence", "toy_evidence", TOY, "TOY")
    assert "[used|screened|peak|univariate|pairs|toy]" in run_python(
        tmp_path, "-m", "srs.cli", "select", "--help"
    )
    code = (
        "import json\n"
        "from srs_service.http.app import create_app\n"
        "from srs_service.settings import Settings\n"
        "from srs_service.schemas.kinds import KindList\n"
        "document = create_app(Settings(data_dir='data')).openapi()\n"
        "settings = document['components']['schemas']['SelectSettings']['properties']\n"
        "print(json.dumps([settings['evidence'], KindList.make().model_dump()]))"
    )
    evidence, kinds = json.loads(run_python(tmp_path, "-c", code))
    assert '["used", "screened", "peak", "univariate", "pairs", "toy"]' in json.dumps(evidence)
    assert kinds["evidence"][-1]["title"] == "Toy: how straight it is"
    assert not kinds["evidence"][-1]["usual"]


def test_broken_packages_are_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = "from srs.evidence.used import USED\nNUMBER = 7\n"
    install(*[tmp_path, "srs.evidence", "broken_evidence", source, "USED", "NUMBER", "NOTHING"])
    monkeypatch.syspath_prepend(tmp_path)
    evidence_kinds.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "srs"):
            assert tuple(evidence_kinds()) == USUAL
    finally:
        evidence_kinds.cache_clear()
        del sys.modules["broken_evidence"]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 3
    assert any("there is a 'used' already" in text for text in said)
    assert any("is not of the type srs.EvidenceKind" in text for text in said)
    assert any("NOTHING" in text for text in said)
