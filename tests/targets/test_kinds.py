"""A kind of target is one file: all that there are keep the contract, and a toy one is found
everywhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import srs
from srs.cli.commands.info import render
from srs.errors import SettingsError
from srs.report import render_html
from srs.targets.kinds import CRITERIA_OF_CLASSES, CRITERIA_OF_NUMBERS, TargetKind
from srs.targets.learning import tree_target
from srs.targets.models.null import NullDesign
from srs.targets.registry import (
    BUILT_IN,
    kind_like,
    read_kind,
    stored_kind,
    target_kind,
    target_kinds,
)
from tests.plugins import install, run_python

TOY = '''
"""Numbers of which only the order counts."""

from dataclasses import replace

import numpy as np

from srs import TargetKind
from srs.targets.numbers import NUMBERS


def parse(name, series):
    values = series.to_numpy(np.float64)
    return replace(
        NUMBERS.parse(name, series), kind="ranks", values=np.argsort(np.argsort(values)) + 0.0
    )


def order_kept(rows):
    truth, prediction = (np.array([row[k] for row in rows]) for k in ("truth", "prediction"))
    return {"rank correlation": float(np.corrcoef(truth, prediction)[0, 1])}


RANKS = TargetKind(
    name="ranks",
    title="The order of numbers",
    help="numbers of which only the order counts",
    criteria=("variance",),
    fits=lambda series: False,
    parse=parse,
    check=NUMBERS.check,
    learned=lambda target: target.values,
    describe=lambda target: {"largest rank": float(target.values.max())},
    predict=NUMBERS.predict,
    measures=order_kept,
)
'''

VALUES = {
    "classes": pd.Series(["b", "a", "c", "a"] * 5),
    "numbers": pd.Series(np.linspace(0.5, 9.5, 20)),
    "ordinal": pd.Series(pd.Categorical(["b", "a", "c", "a"] * 5, ["a", "c", "b"], ordered=True)),
    "count": pd.DataFrame({"values": np.arange(20) % 4, "exposure": 1.0 + np.arange(20)}),
    "survival": pd.DataFrame({"values": 1.0 + np.arange(20), "event": np.arange(20) % 3 > 0}),
}


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.name)
def test_every_kind_keeps_the_contract(kind: TargetKind) -> None:
    values = VALUES[kind.name]
    if values.ndim == 1:
        assert next(k for k in BUILT_IN if k.fits(values)) is kind
    target = kind.parse("y", values)
    assert (target.name, target.kind, len(target.values)) == ("y", kind.name, 20)
    kind.check(target)
    known = CRITERIA_OF_CLASSES if target.has_classes else CRITERIA_OF_NUMBERS
    assert set(kind.criteria) <= set(known)
    assert tree_target(target).n_classes == target.n_outputs
    about = kind.describe(target)
    assert json.loads(json.dumps(about)) == about
    assert not {"name", "kind"} & set(about)
    for sample in (0, 19):
        told = kind.predict(target, sample, np.ones(target.n_outputs))
        assert json.loads(json.dumps(told)) == told
        assert {"truth", "prediction"} <= set(told)
    assert read_kind(stored_kind(kind.name)) == kind.name
    assert kind_like(target) is kind
    assert kind.null_model is not None
    null = kind.null_model(target, NullDesign.plain(20))
    assert np.abs(null.residuals.sum(axis=0)).max() < 1e-3
    if kind.by_model:
        assert np.allclose(kind.learned(target), null.residuals)


def test_a_kind_that_cannot_work_is_refused() -> None:
    with pytest.raises(SettingsError, match="plain word"):
        replace(BUILT_IN[0], name="two words")
    with pytest.raises(SettingsError, match="criterion that trees know"):
        replace(BUILT_IN[0], criteria=("likelihood",))
    with pytest.raises(SettingsError, match="classes, numbers"):
        target_kind("ranks")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of a package with a kind of target, which is installed for the test."""
    install(tmp_path, "srs.targets", "toy_targets", TOY, "RANKS")
    monkeypatch.syspath_prepend(tmp_path)
    target_kinds.cache_clear()
    target_kinds()
    yield sys.modules["toy_targets"]
    target_kinds.cache_clear()
    del sys.modules["toy_targets"]


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    return X, np.exp(3 * (X[:, 3] + X[:, 7]))


@pytest.mark.usefixtures("toy")
def test_a_toy_kind_is_found_from_ingest_to_report(
    table: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = table
    assert srs.ingest(X, target=y).target().kind == "numbers"  # others are not chosen by themselves
    store = srs.ingest(X, tmp_path / "x.zarr", target=y, target_kind="ranks")
    target = srs.open_store(tmp_path / "x.zarr").target()
    assert target.kind == "ranks"
    np.testing.assert_array_equal(target.values, np.argsort(np.argsort(y)))
    assert store.describe()["targets"] == [
        {"name": "target", "kind": "ranks", "largest rank": 199.0}
    ]
    assert "target, ranks, largest rank 199" in render(store.describe())
    result = srs.select(store, seed=1, holdout=0.3, max_trees=64, threads=2)
    assert {"f3", "f7"} <= set(result.relevant_names)
    assert result.document["data"]["target_kind"] == "ranks"
    page = render_html(result.document, result.all_features)
    assert "(ranks)" in page
    assert "Of these samples: rank correlation 0." in page
    with pytest.raises(SettingsError, match=r"'gini' does not fit .* which is a ranks target"):
        srs.select(store, criterion="gini")
    explained = srs.explain(store, features=["f3", "f9"], analyses=["mdi"], n_trees=20)
    assert explained.data["target_kind"] == "ranks"


def test_a_store_of_a_kind_that_is_not_installed_still_opens(
    table: tuple[np.ndarray, np.ndarray], toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toy.RANKS is target_kind("ranks")
    X, y = table
    srs.ingest(X, tmp_path / "x.zarr", target=y, target_kind="ranks")
    (tmp_path / "toy_targets-1.0.dist-info" / "entry_points.txt").unlink()
    monkeypatch.syspath_prepend(tmp_path)  # forgets what was found
    target_kinds.cache_clear()
    store = srs.open_store(tmp_path / "x.zarr")
    assert store.describe()["targets"][0] | {"mean": 0} == {
        "name": "target",
        "kind": "ranks",
        "min": 0,
        "mean": 0,
        "max": 199,
    }
    with pytest.raises(SettingsError, match="no kind of target 'ranks'"):
        srs.select(store)


def test_a_toy_kind_is_offered_by_command_and_service(
    table: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    install(tmp_path, "srs.targets", "toy_targets", TOY, "RANKS")
    np.save(tmp_path / "X.npy", table[0])
    np.save(tmp_path / "y.npy", table[1])
    help_text = run_python(tmp_path, "-m", "srs.cli", "ingest", "--help")
    assert "[classes|numbers|ordinal|count|survival|ranks]" in help_text
    command = ["ingest", "X.npy", "x.zarr", "--target", "y.npy", "--target-kind", "ranks"]
    assert "target, ranks, largest rank 199" in run_python(tmp_path, "-m", "srs.cli", *command)
    code = (
        "import json\n"
        "from srs_service.http.app import create_app\n"
        "from srs_service.settings import Settings\n"
        "from srs_service.schemas.kinds import KindList\n"
        "document = create_app(Settings(data_dir='data')).openapi()\n"
        "source = document['components']['schemas']['SourceRequest']['properties']\n"
        "print(json.dumps([source['target_kind'], KindList.make().model_dump()]))"
    )
    accepted, kinds = json.loads(run_python(tmp_path, "-c", code))
    assert '["classes", "numbers", "ordinal", "count", "survival", "ranks"]' in json.dumps(accepted)
    assert kinds["targets"][-1] == {
        "name": "ranks",
        "title": "The order of numbers",
        "help": "numbers of which only the order counts",
    }
