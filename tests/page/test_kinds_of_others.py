"""The page offers and shows kinds of evidence and of target that other packages bring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from srs.client import Client
from tests.evidence.test_kinds import TOY as EVIDENCE
from tests.page.browser import missing_browser, opened
from tests.plugins import environment, install
from tests.service.server import Server
from tests.targets.test_kinds import TOY as TARGETS


def test_toy_kinds_are_on_the_page(tmp_path: Path) -> None:
    if reason := missing_browser():
        pytest.skip(reason)
    install(tmp_path, "srs.evidence", "toy_evidence", EVIDENCE, "TOY")
    install(tmp_path, "srs.targets", "toy_targets", TARGETS, "RANKS")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.exp(X[:, 3]))
    server = Server(tmp_path)
    server.env["PYTHONPATH"] = environment(tmp_path)["PYTHONPATH"]
    server.start()
    try:
        with opened(server.url) as browser, Client(server.url, server.key) as client:
            browser.sign_in(server.key)
            browser.errors()  # that nobody was signed in yet
            browser.open("/datasets/new")
            browser.type("File", str(tmp_path / "X.npy"))
            browser.type("or a separate file", str(tmp_path / "y.npy"))
            browser.choose("The target is", "The order of numbers")
            browser.click("Add")
            browser.see(".badge", "Done")
            (dataset,) = client.datasets.list()
            assert dataset.targets[0]["kind"] == "ranks"
            job = client.jobs.submit(
                dataset, memory="512MB", max_trees=40, evidence=["used", "toy"]
            ).wait(timeout=120)
            browser.open(f"/jobs/{job.id}")
            browser.see("figcaption", "Used: what the splits of a feature gained")
            browser.see("figcaption", "Toy: how straight it is")
            assert browser.errors() == []
    finally:
        server.stop()
