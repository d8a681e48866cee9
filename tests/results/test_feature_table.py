"""The table of all features in pieces: held as numbers, or in its file, it is the same table."""

from dataclasses import replace

import numpy as np
import pytest

import srs
from srs.results.feature_table import SCHEMA, HeldTable, SavedTable, whole, write_table
from tests.planted import make_planted


def make_table(n: int, names: list[str] | None = None) -> HeldTable:
    rng = np.random.default_rng(0)
    numbers = {
        "verdict": rng.integers(0, 3, n).astype(np.uint8),
        "p_value": rng.random(n),
        "q_value": rng.random(n),
        "stability": np.where(np.arange(n) % 3, 0.5, np.nan).astype(np.float32),
        "importance": rng.random(n, np.float32),
        "effect": rng.random(n, np.float32),
        "n_drawn": np.arange(n, dtype=np.uint32),
        "n_used": np.zeros(n, np.uint32),
    }
    packed = None
    if names is not None:
        raw = [name.encode() for name in names]
        offsets = np.concatenate([[0], np.cumsum([len(r) for r in raw])])
        packed = (np.frombuffer(b"".join(raw), np.uint8), offsets)
    groups = [np.array([9, 2]), np.array([5])]
    return HeldTable(numbers, ("A", "B", "C"), packed, np.array([0, 7]), groups)


@pytest.mark.parametrize("rows", [1, 4, 5, 100])
@pytest.mark.parametrize("named", [True, False])
def test_pieces_do_not_show(tmp_path, monkeypatch, rows, named):
    monkeypatch.setattr("srs.results.feature_table.PIECE_ROWS", rows)
    names = [f"génome {i}" for i in range(10)] if named else None
    table = make_table(10, names)
    rows_held = whole(table).to_pylist()
    assert [r["name"] for r in rows_held] == (names or [f"f{i}" for i in range(10)])
    assert [r["feature_id"] for r in rows_held] == list(range(10))
    assert [r["group"] for r in rows_held] == [None, None, 1, None, None, 2, None, None, None, 1]
    assert [i for i, r in enumerate(rows_held) if r["pinned"]] == [0, 7]
    for i, row in enumerate(rows_held):
        assert row["verdict"] == "ABC"[table.numbers["verdict"][i]]
        assert row["p_value"] == table.numbers["p_value"][i]
        assert row["stability"] == (0.5 if i % 3 else None) == table.number("stability", i)
    write_table(table, tmp_path / "t.parquet")
    saved = SavedTable(tmp_path / "t.parquet")
    assert whole(saved).schema == whole(table).schema == SCHEMA
    assert whole(saved).to_pylist() == rows_held
    some = ["effect", "name"]
    assert whole(saved, some).to_pylist() == whole(table, some).to_pylist()
    assert not list(tmp_path.glob("*.partial"))


def test_a_saved_result_is_the_result(tmp_path, monkeypatch):
    """Guards reading in pieces: what a run holds and what its folder holds are one table."""
    monkeypatch.setattr("srs.results.feature_table.PIECE_ROWS", 16)
    X, y = make_planted(p=120)
    result = srs.select(srs.ingest(X, target=y), max_trees=60, pinned=[5])
    result.save(tmp_path)
    loaded = srs.load_result(tmp_path)
    assert loaded.features.equals(result.features)
    assert loaded.features.index[loaded.features.verdict == "RELEVANT"].tolist() == (
        result.relevant_ids.tolist()
    )
    loaded.save(tmp_path)  # onto itself
    assert srs.load_result(tmp_path).features.equals(result.features)


def test_which_kind_found_a_feature(tmp_path):
    """A column that tables may have: of relevant features, in memory and in the file."""
    table = make_table(10)
    found_by = np.arange(10).astype(np.uint8) % 2
    verdicts = ("IRRELEVANT", "UNDECIDED", "RELEVANT")
    numbers = {**table.numbers, "found_by": found_by}
    held = replace(table, numbers=numbers, verdicts=verdicts, kinds=("used", "peak"))
    relevant = numbers["verdict"] == 2
    assert 0 < relevant.sum() < 10
    expected = [
        ("used", "peak")[kind] if listed else None
        for kind, listed in zip(found_by, relevant, strict=True)
    ]
    assert whole(held)["found_by"].to_pylist() == expected
    assert [held.found_by(row) for row in range(10)] == expected
    write_table(held, tmp_path / "t.parquet")
    saved = SavedTable(tmp_path / "t.parquet")
    assert whole(saved).to_pylist() == whole(held).to_pylist()
    assert "found_by" not in whole(table).column_names
