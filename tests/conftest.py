"""Fixtures and settings that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: the first example of a run may compile a numba kernel.
settings.register_profile("srs", deadline=None)
settings.load_profile("srs")

# Files that take longest. A long file that starts last leaves the other processes idle, so that
# these start first (`make test` turns the order of pytest-xdist off, which counts tests alone).
LONGEST = (
    "executors/test_faults.py",
    "ingest/test_formats_memory.py",
    "page/test_page.py",
    "service/test_kills.py",
    "test_package.py",
    "executors/test_dask.py",
    "engine/test_memory.py",
    "engine/test_samples.py",
    "cli/test_commands.py",
    "client/test_light.py",
    "engine/test_loop.py",
    "service/test_hostile.py",
    "service/test_formats.py",
    "service/test_outside.py",
    "client/test_commands.py",
    "test_project.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In processes side by side the longest files come first; otherwise nothing changes."""
    if hasattr(config, "workerinput"):
        place = {Path(__file__).parent / name: i for i, name in enumerate(LONGEST)}
        items.sort(key=lambda item: place.get(item.path, len(place)))


def _seeds(text: str) -> list[int]:
    """The seeds that a text such as "0-9", "3" or "1,4,7-9" names."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


@pytest.fixture(params=_seeds(os.environ.get("SRS_TEST_SEEDS", "0")), ids=lambda s: f"seed{s}")
def global_random_seed(request: pytest.FixtureRequest) -> int:
    """A seed that a statistical test must pass with whatever it is.

    `SRS_TEST_SEEDS=0-9 pytest` runs such tests with ten seeds.
    """
    return int(request.param)
