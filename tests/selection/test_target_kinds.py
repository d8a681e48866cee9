"""Ordered classes, counts and times to event through ingest, selection, effects, report, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel
from typer.testing import CliRunner

import srs
from srs.cli.app import app
from srs.errors import InputError, SourceError
from srs.explain.analyses.mda import mda
from srs.explain.analyses.per_class import per_class
from srs.report import render_html
from srs.targets.concordance import concordance

N, P = 300, 30


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Features 2 and 5 have effects, and so has age."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, P))
    age = rng.normal(50, 10, N)
    linear = 0.8 * X[:, 2] - 0.8 * X[:, 5] + 0.05 * (age - 50)
    time, end = rng.exponential(np.exp(-linear)), rng.exponential(2.0, N)
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(P)])
    frame["age"] = age
    frame["months"] = np.minimum(time, end)
    frame["died"] = (time <= end).astype(int)
    level = np.digitize(linear + rng.logistic(size=N), [-0.5, 0.7])
    frame["grade"] = np.array(["low", "mid", "high"])[level]
    frame["lesions"] = rng.poisson(2 * np.exp(linear - 1))
    frame["years"] = 2.0
    return frame


TARGETS: dict[str, dict[str, Any]] = {
    "survival": {"target": "months", "event": "died"},
    "ordinal": {"target": "grade", "ordinal": ["low", "mid", "high"]},
    "count": {"target": "lesions", "target_kind": "count", "exposure": "years"},
}
OTHERS = {
    "survival": ["grade", "lesions", "years"],
    "ordinal": ["months", "died", "lesions", "years"],
    "count": ["months", "died", "grade"],
}
MEASURES = {
    "survival": "hazard ratio",
    "ordinal": "proportional odds ratio",
    "count": "rate ratio",
}


def _ingest(table: pd.DataFrame, kind: str, path: Path | None = None) -> srs.FeatureStore:
    about = dict(TARGETS[kind])
    name = about.pop("target")
    return srs.ingest(
        table.drop(columns=OTHERS[kind]), path, target={name: name, "age": "age"}, **about
    )


def _reference(table: pd.DataFrame, kind: str, feature: str) -> tuple[float, float]:
    """The coefficient of a feature given age, and its error, by statsmodels."""
    columns = table[[feature, "age"]].to_numpy()
    if kind == "survival":
        found = sm.PHReg(table["months"], columns, status=table["died"], ties="efron").fit()
    elif kind == "ordinal":
        levels = pd.Categorical(table["grade"], ["low", "mid", "high"], ordered=True)
        standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
        found = OrderedModel(pd.Series(levels), standard, distr="logit").fit(method="bfgs", disp=0)
        params, errors = np.asarray(found.params), np.asarray(found.bse)
        return float(params[0] / columns[:, 0].std()), float(errors[0] / columns[:, 0].std())
    else:
        columns = sm.add_constant(columns)
        found = sm.NegativeBinomial(table["lesions"], columns, exposure=table["years"]).fit(
            disp=0, maxiter=200
        )
        return float(np.asarray(found.params)[1]), float(np.asarray(found.bse)[1])
    return float(np.asarray(found.params)[0]), float(np.asarray(found.bse)[0])


@pytest.mark.parametrize("kind", TARGETS)
def test_a_run_finds_tells_and_writes(table: pd.DataFrame, kind: str, tmp_path: Path) -> None:
    store = _ingest(table, kind, tmp_path / "x.zarr")
    assert store.target().kind == kind
    again = srs.open_store(tmp_path / "x.zarr")
    assert np.array_equal(again.target().values, store.target().values)
    result = srs.select(store, covariates=["age"], holdout=0.2, threads=1, folder=tmp_path / "run")
    document = result.document
    names = {row["name"] for row in document["outcome"]["relevant"]}
    assert {"g2", "g5"} <= names
    assert len(names) <= 4
    assert document["outcome"]["measure"]["measure"] == MEASURES[kind]
    rows = document["outcome"]["prediction"]
    assert len(rows) == 60
    trained = table.drop(index=[int(row["sample"]) for row in rows])
    for row in document["outcome"]["effects"]:
        if row["name"] in ("g2", "g5"):
            beta, error = _reference(trained, kind, row["name"])
            assert row["beta"] / row["step"] == pytest.approx(beta, abs=0.06 * abs(beta))
            assert row["standard_error"] / row["step"] == pytest.approx(error, rel=0.1)
            assert row["estimate"] == pytest.approx(np.exp(row["beta"]), rel=1e-6)
    shown = render_html(document, result.all_features)
    assert MEASURES[kind] in shown
    assert "oncordance" in shown
    assert "R²" not in shown.split("Prediction of held-out")[1].split("</section>")[0]


def test_concordance_of_predictions_is_above_chance(table: pd.DataFrame) -> None:
    result = srs.select(_ingest(table, "survival"), holdout=0.3, threads=1)
    rows = result.document["outcome"]["prediction"]
    time = np.array([row["truth"] for row in rows])
    event = np.array([row["event"] for row in rows])
    risk = np.array([row["prediction"] for row in rows])
    assert concordance(time, -risk, event) > 0.55


def test_structured_arrays_and_ordered_categoricals_say_what_they_are(table: pd.DataFrame) -> None:
    X = table[[f"g{i}" for i in range(P)]].to_numpy()
    y = np.array(
        list(zip(table["died"] > 0, table["months"], strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    assert srs.ingest(X, target=y).target().kind == "survival"
    chosen = srs.SRSSelector(random_state=1).fit(X, y).get_support(indices=True)
    assert {2, 5} <= set(chosen.tolist())
    grade = pd.Categorical(table["grade"], ["low", "mid", "high"], ordered=True)
    store = srs.ingest(X, target=pd.Series(grade))
    assert (store.target().kind, store.target().labels) == ("ordinal", ("low", "mid", "high"))
    counted = srs.SRSSelector(random_state=1, target_kind="count").fit(X, table["lesions"])
    assert {2, 5} <= set(counted.get_support(indices=True).tolist())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"target": "months", "target_kind": "survival"}, "needs the column that says whether"),
        ({"target": "months", "event": "grade"}, "it must be 1 where the event was seen"),
        ({"target": "grade", "ordinal": ["low", "high"]}, "'mid', which is not among its levels"),
        ({"target": "grade", "target_kind": "ordinal"}, "whose order is not known"),
        ({"target": "months", "target_kind": "count"}, "counts are whole numbers"),
        ({"target": "months", "event": "died", "target_kind": "numbers"}, "has no event column"),
        ({"event": "died"}, "event needs a target"),
    ],
)
def test_bad_targets_get_a_sentence(table: pd.DataFrame, given: Any, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        srs.ingest(table, **given)


def test_from_the_shell_with_columns_of_a_table(table: pd.DataFrame, tmp_path: Path) -> None:
    ids = [f"s{i}" for i in range(N)]
    genes = table[[f"g{i}" for i in range(P)]].set_axis(ids)
    genes.rename_axis("sample_id").to_csv(tmp_path / "genes.csv")
    clinic = table[["months", "died", "age"]].set_axis(ids).rename_axis("sample_id")
    clinic.loc["s3", "died"] = np.nan
    clinic.to_csv(tmp_path / "clinic.tsv", sep="\t")
    store, run = str(tmp_path / "x.zarr"), str(tmp_path / "run")
    said = CliRunner().invoke(
        app,
        [
            "ingest",
            str(tmp_path / "genes.csv"),
            store,
            *f"--table {tmp_path}/clinic.tsv --target months --event died".split(),
            *["--sample-column", "age"],
        ],
    )
    assert said.exit_code == 0, said.output
    assert "months, survival, events" in said.output
    assert "'months' is missing in 1 sample" in said.output
    assert srs.open_store(store).target("months").missing.sum() == 1
    said = CliRunner().invoke(app, ["select", store, "--covariates", "age", "--out", run])
    assert said.exit_code == 0, said.output
    assert "the event comes earlier where the feature is larger" in " ".join(said.output.split())
    assert "covariates" in json.loads(Path(run, "result.json").read_text())["settings"]
    said = CliRunner().invoke(app, ["export", run, "--to", "parquet"])
    assert said.exit_code == 0, said.output
    written = pq.read_table(Path(run, "selected.parquet"))
    assert {"months", "months_event", "age"} <= set(written.column_names)


def test_explain_works_on_residuals_and_says_so(table: pd.DataFrame) -> None:
    store = _ingest(table, "survival")
    found = mda(store, n_trees=100, threads=1)
    assert set(found.frame.nlargest(2, "value")["feature"]) == {"g2", "g5"}
    assert any("score residual" in note for note in found.notes)
    with pytest.raises(InputError, match="needs classes"):
        per_class(store)
