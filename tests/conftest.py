"""Fixtures and settings that all tests share."""

import os

import pytest
from hypothesis import settings

# No deadline: the first example of a run may compile a numba kernel.
settings.register_profile("srs", deadline=None)
settings.load_profile("srs")


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
