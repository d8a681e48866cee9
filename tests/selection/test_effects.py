"""Effects of a run: in its document, in its tables, and as summary statistics."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from bed_reader import to_bed
from scipy import stats

import srs
from srs.errors import InputError
from srs.selection.effects.scan import inflation, lay_out, quantiles, thin
from srs.store.layout import Annotation

N, P = 240, 300


@pytest.fixture(scope="module")
def genotypes(tmp_path_factory):
    """A run on PLINK files; rs7 raises the odds of being a case, and rs200 lowers them."""
    folder = tmp_path_factory.mktemp("effects")
    rng = np.random.default_rng(2)
    dosage = rng.binomial(2, rng.uniform(0.2, 0.8, P), size=(N, P)).astype(float)
    dosage[rng.random((N, P)) < 0.01] = np.nan
    score = 1.4 * np.nan_to_num(dosage[:, 7]) - 1.4 * np.nan_to_num(dosage[:, 200])
    cases = score + rng.logistic(size=N) > np.median(score)
    alleles = np.array(["A", "C", "G", "T"])[np.arange(P) % 4]
    others = np.roll(alleles, 1)
    others[5] = "."
    properties = {
        "sid": [f"rs{i}" for i in range(P)],
        "chromosome": ["X" if i >= 280 else str(2 - i // 140) for i in range(P)],
        "bp_position": 1 + np.arange(P),
        "allele_1": alleles,
        "allele_2": others,
    }
    to_bed(folder / "g.bed", dosage, properties=properties)
    target = np.where(cases, "case", "control")
    store = srs.ingest(folder / "g.bed", folder / "g.zarr", target=target)
    result = srs.select(store, seed=1, threads=1, pairs="off", max_trees=200)
    result.save(folder / "run")
    return folder / "run", result, dosage, cases


def logit(x, y):
    known = ~np.isnan(x)
    return sm.Logit(y[known].astype(float), sm.add_constant(x[known])).fit(disp=0)


def test_odds_ratios_per_allele(genotypes):
    _, result, dosage, cases = genotypes
    effects = result.effects.set_index("name")
    assert {"rs7", "rs200"} <= set(effects.index)
    for name, row in effects.iterrows():
        at = int(name[2:])
        x = dosage[:, at]
        theirs = logit(x, cases)
        low, high = np.exp(theirs.conf_int()[1])
        np.testing.assert_allclose(
            [row.estimate, row.low, row.high, row.beta, row.standard_error],
            [np.exp(theirs.params[1]), low, high, theirs.params[1], theirs.bse[1]],
            rtol=1e-4,
        )
        assert (row.group, row.per, row.measure) == ("case", "allele", "odds ratio")
        assert row.frequency == pytest.approx(np.nanmean(x) / 2)
        assert (row.effect_allele, row.other_allele) == ("ACGT"[at % 4], "TACG"[at % 4])
    assert effects.estimate["rs7"] > 1 > effects.estimate["rs200"]
    features = result.features.set_index("name")
    assert features.direction["rs7"] > 0 > features.direction["rs200"]  # of the case, as well
    assert features.beta["rs7"] == pytest.approx(effects.beta["rs7"], rel=1e-4)


def test_profiles_have_counts_and_shares(genotypes):
    _, result, dosage, cases = genotypes
    rows = result.profiles
    for level in range(3):
        inside = dosage[:, 7] == level
        row = rows[(rows.name == "rs7") & (rows.level == str(level))].iloc[0]
        assert row.n == inside.sum()
        assert row.value == pytest.approx(cases[inside].mean())
        assert row.low < row.value < row.high


def test_summary_statistics(genotypes, tmp_path):
    folder, _, dosage, cases = genotypes
    path = srs.export(folder, "gwas-ssf", tmp_path / "a.tsv", table="features")
    table = pd.read_csv(path, sep="\t", na_values="#NA", dtype={"chromosome": str})
    assert list(table)[:8] == [
        *("chromosome", "base_pair_location", "effect_allele", "other_allele", "beta"),
        *("standard_error", "effect_allele_frequency", "p_value"),
    ]
    assert len(table) == P - 1  # one allele is not known
    assert set(table.chromosome) == {"1", "2", "23"}
    row = table[table.rsid == "rs7"].iloc[0]
    assert (row.effect_allele, row.other_allele, row.variant_id) == ("T", "G", "2_8_G_T")
    theirs = logit(dosage[:, 7], cases)
    assert row.beta == pytest.approx(theirs.params[1], rel=1e-4)
    assert row.n == np.isfinite(dosage[:, 7]).sum()
    regenie = pd.read_csv(
        srs.export(folder, "regenie", tmp_path / "b", table="features"), sep=" "
    ).set_index("ID")
    assert regenie.LOG10P["rs7"] == pytest.approx(-np.log10(row.p_value))
    z = stats.norm.isf(row.p_value / 2)
    assert regenie.CHISQ["rs7"] == pytest.approx(z * z, rel=1e-6)
    assert regenie.A1FREQ["rs7"] == pytest.approx(row.effect_allele_frequency)


@pytest.mark.parametrize("table", ["features", "effects", "profiles"])
def test_tables_for_other_programs(genotypes, table, tmp_path):
    folder, result, *_ = genotypes
    parquet = pd.read_parquet(srs.export(folder, "parquet", tmp_path / "t.parquet", table=table))
    tsv = pd.read_csv(srs.export(folder, "tsv", tmp_path / "t.tsv", table=table), sep="\t")
    csv = pd.read_csv(srs.export(folder, "csv", tmp_path / "t.csv", table=table))
    held = {"features": result.features, "effects": result.effects, "profiles": result.profiles}
    for found in (parquet, tsv, csv):
        assert list(found) == list(held[table])
        np.testing.assert_array_equal(found.feature_id, held[table].feature_id)
    assert '"' not in (tmp_path / "t.tsv").read_text()
    with pytest.raises(InputError, match="exists already"):
        srs.export(folder, "tsv", tmp_path / "t.tsv", table=table)


def test_what_cannot_be_written_is_said(genotypes, tmp_path):
    folder, result, *_ = genotypes
    for to, table, reason in (
        ("xlsx", "features", "not written as 'xlsx'"),
        ("tsv", "genes", "no table 'genes'"),
        ("regenie", "effects", "leave the table out"),
        ("tsv", "pairs", "did not look at pairs"),
    ):
        with pytest.raises(InputError, match=reason):
            srs.export(folder, to, tmp_path / "x", table=table)
    with pytest.raises(InputError, match="has no folder"):
        srs.export(result, "tsv", table="effects")
    assert not list(tmp_path.iterdir())


def test_scan_of_all_features(genotypes):
    _, result, *_ = genotypes
    scan = result.document["outcome"]["scan"]
    assert [one["name"] for one in scan["contigs"]] == ["1", "2", "X"]
    assert {"rs7", "rs200"} <= {spot.get("name") for spot in scan["places"] if spot["relevant"]}
    assert scan["group"] == "case"
    assert scan["n_tested"] == P
    assert 0.5 < scan["inflation"] < 1.6
    assert scan["observed"] == sorted(scan["observed"], reverse=True)


def test_ranks_where_values_are_gone(tmp_path):
    """A source in memory is not read again: effects are those of ranks, and say so."""
    rng = np.random.default_rng(3)
    X = np.exp(rng.normal(size=(150, 30)))
    y = np.log(X[:, 4]) + 0.5 * rng.normal(size=150)
    settings = {"seed": 0, "threads": 1, "pairs": "off", "max_trees": 100}
    ranks = srs.select(srs.ingest(X, target=y), **settings).effects.iloc[0]
    kept = srs.ingest(X, tmp_path / "kept.zarr", target=y)
    values = srs.select(kept, **settings).effects.iloc[0]
    assert (ranks["name"], ranks.scale, values.scale) == ("f4", "ranks", "values")
    r = stats.rankdata(X[:, 4])
    for row, x in ((ranks, (r - r.mean()) / r.std()), (values, X[:, 4] / X[:, 4].std())):
        theirs = sm.OLS(y, sm.add_constant(x)).fit()
        assert row.estimate == pytest.approx(theirs.params[1], rel=1e-4)
        assert row.low == pytest.approx(theirs.conf_int()[1][0], rel=1e-4)
    assert values.step == pytest.approx(X[:, 4].std(), rel=1e-6)
    assert pd.isna(values.auc)


def test_many_classes_and_levels_without_order():
    rng = np.random.default_rng(4)
    classes = rng.integers(0, 3, 200)
    colour = np.array(["red", "green", "blue"])[(classes + (rng.random(200) < 0.2)) % 3]
    frame = pd.DataFrame({f"x{i}": rng.normal(size=200) for i in range(20)})
    frame["x3"] += 2 * (classes == 2)
    frame["colour"] = colour
    names = np.array(["a", "b", "c"])[classes]
    store = srs.ingest(frame, target=names)
    result = srs.select(store, seed=0, threads=1, pairs="off", max_trees=100)
    effects = result.effects.set_index(["name", "group"])
    assert effects.estimate["x3", "c"] > 2
    assert effects.auc["x3", "c"] > 0.8
    assert pd.isna(effects.estimate["colour", "a"])
    assert "no order" in effects.note["colour", "a"]
    rows = result.profiles
    assert set(rows[rows.name == "colour"].level) == {"red", "green", "blue"}
    assert "beta" not in result.features  # no single direction
    assert "scan" not in result.document["outcome"]


def test_confounders_weights_and_subjects_are_taken_into_account():
    rng = np.random.default_rng(5)
    site = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 20)) + site[:, None]
    y = (X[:, 2] + 1.5 * site + rng.logistic(size=240) > 1.5).astype(int)
    weight = rng.uniform(0.5, 1.5, 240)
    store = srs.ingest(X, target={"y": y, "site": site.astype(str), "w": weight})
    settings = {"seed": 0, "threads": 1, "pairs": "off", "max_trees": 100, "target": "y"}
    adjusted = srs.select(store, confounders=("site",), **settings)
    row = adjusted.effects.set_index("name").loc["f2"]
    r = (stats.rankdata(X[:, 2]) - 0.5) / 240
    theirs = sm.Logit(y, np.column_stack([np.ones(240), site, r / r.std()])).fit(disp=0)
    assert row.beta == pytest.approx(theirs.params[2], rel=1e-4)
    assert row.standard_error == pytest.approx(theirs.bse[2], rel=1e-4)
    assert adjusted.document["outcome"]["measure"]["adjusted"] == ["site"]
    weighted = srs.select(store, sample_weight="w", **settings).effects.set_index("name").loc["f2"]
    theirs = sm.GLM(
        y,
        sm.add_constant(r / r.std()),
        family=sm.families.Binomial(),
        var_weights=weight / weight.mean(),
    ).fit()
    assert weighted.beta == pytest.approx(theirs.params[1], rel=1e-4)


def test_figures_of_a_scan():
    rng = np.random.default_rng(6)
    z = rng.normal(size=5000)
    assert inflation(1.1 * z) == pytest.approx(1.21 * inflation(z), rel=1e-3)
    expected, observed = quantiles(z)
    assert len(expected) == len(observed) < 500
    assert observed[0] == pytest.approx(-np.log10(2 * stats.norm.sf(np.abs(z).max())), rel=1e-4)
    assert quantiles(z[:1])[0] == [pytest.approx(-np.log10(0.5), rel=1e-4)]
    assert inflation(z[:0]) is None
    kept = np.zeros(5000, bool)
    kept[17] = True
    drawn = thin(z, rng.random(5000), kept)
    assert 17 in drawn
    assert len(drawn) < 5000
    contigs = Annotation(np.array([0, 1, 0, 2]), ("10", "2", "X"))
    x, spans = lay_out(contigs, np.array([5, 7, 9, 0]))
    assert [one["name"] for one in spans] == ["2", "10"]  # of X no place is known
    assert x[1] < x[0] < x[2]
    assert np.isnan(x[3])
