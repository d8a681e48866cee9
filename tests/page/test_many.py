"""Many targets on the page: start a selection for all, look at each of them."""

from __future__ import annotations

import numpy as np

import srs
from srs.client import Client
from tests.page.browser import Browser
from tests.service.server import Server


def test_a_selection_for_all_targets(service: Server, client: Client, browser: Browser) -> None:
    X = np.random.default_rng(2).normal(size=(120, 40))
    path = service.folder / "stores" / "two.zarr"
    srs.ingest(X, path, target={"case": X[:, 3] > 0, "<b>ldl": X[:, 9]}, overwrite=True)
    client.datasets.register("two.zarr", name="two")
    browser.errors()
    browser.open("/datasets")
    browser.open(f"/select?dataset={client.datasets.list()[0].id}")
    browser.choose("Target", "All 2 targets, one list for each")
    browser.click("More settings")
    browser.type("Memory", "512MB")
    browser.type("Maximum trees", "40")
    browser.click("Start")
    browser.see(".badge", "Done")
    browser.see(".card", "Targets")
    browser.see("tbody tr", "<b>ldl")
    browser.click("<b>ldl")
    browser.see("#target-title", "<b>ldl")
    browser.see("section[aria-labelledby=target-title] tbody tr", "f9")
    assert browser.errors() == []
