"""What every format promises, tried with a small source of each."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from srs.errors import SourceError
from srs.ingest import ingest
from srs.ingest.block import Wanted, float_values
from srs.ingest.formats.format import UNUSED, Format
from srs.ingest.formats.registry import find_format, formats, open_source
from srs.ingest.values import read_values
from tests.ingest.formats.examples import EXAMPLES, Made

ALL = [(one, kind) for one in formats() for kind in EXAMPLES.get(one.name, {})]


def wanted(folder: Path, **options: object) -> Wanted:
    return Wanted(
        orientation=str(options.pop("orientation", "samples")),
        columns=(),
        categorical=frozenset(),
        mem=256 << 20,
        folder=folder,
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture(params=ALL, ids=lambda case: f"{case[0].name}-{case[1]}")
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Format, Made]:
    one, kind = request.param
    return one, EXAMPLES[one.name][kind](tmp_path)


def test_every_format_has_an_example():
    assert {one.name for one in formats()} == set(EXAMPLES)


def test_descriptors_are_whole():
    for one in formats():
        assert one.help, one.name
        assert len(one.help) < 100, one.name
        assert set(one.options) <= set(UNUSED), one.name
        assert all(s == s.lower() and s[0] == "." for s in one.all_suffixes)
        assert bool(one.suffixes) == one.is_stored, one.name
    suffixes = [s for one in formats() for s in one.all_suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_sources_keep_the_contract(case: tuple[Format, Made], tmp_path: Path):
    """Shape, names, blocks, values, missing values, and nothing left behind."""
    one, (given, values) = case
    assert find_format(given) is one
    spill = tmp_path / "spill"
    spill.mkdir()
    with contextlib.closing(open_source(given, wanted(spill))) as source:
        shape = (source.n_samples, source.n_features)
        assert source.names is None or len(source.names) == source.n_features
        assert source.sample_ids is None or len(source.sample_ids) == source.n_samples
        assert source.record["orientation"] == "samples"
        assert ("path" in source.record) == one.is_stored
        blocks = []
        for block in source.blocks(4):
            assert block.first == sum(map(len, blocks))
            assert len(block.kinds) == len(block.values) <= 4
            blocks.append(np.array(float_values(block.values)))
        found = np.concatenate(blocks)
        assert found.shape == shape[::-1]
        ids = np.array([source.n_features - 1, 0, 2])
        np.testing.assert_array_equal(source.read(ids), found[ids])
    assert list(spill.iterdir()) == []
    if values is not None:
        np.testing.assert_allclose(found.T, values, rtol=1e-6)
        assert np.isnan(found.T).any() == np.isnan(values).any()


def test_stores_give_the_values_back(case: tuple[Format, Made], tmp_path: Path):
    one, (given, values) = case
    store = ingest(given, tmp_path / "store.zarr")
    assert (store.kept_values(np.array([0])) is None) == one.is_stored
    read = read_values(store, np.arange(store.n_features))
    if values is not None:
        np.testing.assert_allclose(read, values, rtol=1e-6)


def test_options_that_a_format_does_not_use_are_refused(case: tuple[Format, Made], tmp_path: Path):
    one, (given, _) = case
    for option, value in {"orientation": "features", "dataset": "a", "mask": Path("m")}.items():
        if option not in one.options:
            with pytest.raises(SourceError, match="leave"):
                open_source(given, wanted(tmp_path, **{option: value}))


def test_files_of_strangers_are_looked_at(case: tuple[Format, Made]):
    one, (given, _) = case
    if one.is_stored:
        one.check_stranger(given)
