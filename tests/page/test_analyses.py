"""An analysis of another package on the page: offered with its options, run and shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from srs.client import Client
from tests.client.stores import served, write_store
from tests.explain.toy import MODULE, install
from tests.page.browser import missing_browser, opened
from tests.service.server import Server, python_path


@pytest.fixture
def with_toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A service where a package with an analysis is installed."""
    reason = missing_browser()
    if reason:
        pytest.skip(reason)
    folder = install(tmp_path / "site", toy_distance=MODULE)
    monkeypatch.setenv("PYTHONPATH", f"{python_path()}{os.pathsep}{folder}")
    with served(tmp_path) as running:
        write_store(tmp_path / "stores" / "small.zarr", 40)
        yield running


def test_a_toy_analysis_is_on_the_page(with_toy: Server) -> None:
    with Client(with_toy.url, with_toy.key) as client, opened(with_toy.url) as browser:
        dataset = client.datasets.register("small.zarr", name="small")
        job = client.jobs.submit(dataset, memory="512MB", max_trees=40).wait(timeout=120)
        browser.sign_in(with_toy.key)
        browser.errors()  # it was asked who it is
        browser.open(f"/explain?job={job.id}")
        for usual in ("mdi", "mda", "label-permutation"):
            browser.click_label(usual)
        browser.click_label("toy-distance")
        browser.see("label .hint", "How far is the mean of a feature from 0")
        browser.click("Options of toy-distance")
        browser.type("Power of toy-distance", "2")
        browser.click_label("umfi")
        browser.click("Options of umfi")
        browser.type("Trees of umfi", "20")
        browser.click_label("umfi")
        browser.choose("Absolute of toy-distance", "false")
        assert browser.accessibility_problems() == []
        browser.click("Start")
        browser.see(".badge", "Done")
        browser.see("h2", "toy-distance")
        asked = client.jobs.list(limit=1)[0].document["settings"]["analyses"]
        assert browser.errors() == []
    options = {"power": 2, "absolute": False}
    assert asked == [{"analysis": "toy-distance", "value": None, "options": options}]
