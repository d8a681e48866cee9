"""`make pictures`: every view of the page, light, dark and on a phone, for people to look at."""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

import numpy as np

import srs
from srs.client import Client, Job
from tests.client.stores import served
from tests.page.browser import LAPTOP, PHONE, Browser, missing_browser, opened

MODES = {"light": (LAPTOP, False), "dark": (LAPTOP, True), "phone": (PHONE, False)}
MAX_HEIGHT = 4_000
UNFOLD = "document.querySelectorAll('details').forEach((one) => one.open = true)"
FORMS = ("add-a-dataset", "new-selection", "explain")  # also with all that is folded away


def write_data(stores: Path) -> None:
    """A cohort with few features that matter: alone, in pairs, and one that is a leak."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2_000)).astype(np.float32)
    score = X[:, 3] + X[:, 7] + 1.5 * X[:, 11] * X[:, 3] + 2 * X[:, 20] * X[:, 30]
    X[:, 99] = score + 0.01 * rng.normal(size=600)
    srs.ingest(X, stores / "cohort7.zarr", target=np.where(score > 0, "case", "control"))


def submit_jobs(client: Client) -> dict[str, Job]:
    """One job of each kind of view: done, explained, running."""
    dataset = client.datasets.register("cohort7.zarr", name="Cohort 7, methylation")
    done = client.jobs.submit(dataset, memory="512MB", max_trees=1000, holdout=0.2).wait()
    explained = client.jobs.submit(
        dataset,
        "explain",
        features=done,
        analyses=["mdi", "mda", "per-class"],
        n_trees=200,
        name="Why these",
    ).wait()
    live = client.jobs.submit(dataset, memory="512MB", max_seconds=600, patience=900, name="Longer")
    return {"done": done, "explained": explained, "live": live}


def take(browser: Browser, path: Path) -> None:
    """The whole view, not only what a window shows of it."""
    width, height = browser.run(
        "return [innerWidth, Math.max(document.documentElement.scrollHeight, innerHeight)]"
    )
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, MAX_HEIGHT), "scale": 1}
    taken = browser.driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    path.write_bytes(base64.b64decode(taken["data"]))


def take_all(folder: Path, url: str, key: str, jobs: dict[str, Job]) -> None:
    done = jobs["done"].id
    # Each view, and what is shown when it is complete.
    views = {
        "jobs": ("/jobs", ".badge"),
        "datasets": ("/datasets", ".rows"),
        "add-a-dataset": ("/datasets/new", "form"),
        "new-selection": ("/select", ".card"),
        "live": (f"/jobs/{jobs['live'].id}", ".card + .card"),
        "result": (f"/jobs/{done}", "[aria-label='Table: Features'] tbody tr"),
        "explain": (f"/explain?job={done}", "form"),
        "explained": (f"/jobs/{jobs['explained'].id}", ".panel + .panel + .panel svg .bar"),
    }
    for mode, (size, dark) in MODES.items():
        with opened(url, size, dark) as browser:
            browser.open("/jobs")
            browser.see("h1", "Sign in")
            take(browser, folder / f"sign-in-{mode}.png")
            browser.sign_in(key)
            for name, (path, shown) in views.items():
                browser.open(path)
                browser.see(shown)
                take(browser, folder / f"{name}-{mode}.png")
                if name in FORMS:
                    browser.run(UNFOLD)
                    take(browser, folder / f"{name}-open-{mode}.png")


def main(folder: Path) -> None:
    reason = missing_browser()
    if reason:
        sys.exit(f"no pictures: {reason}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as service:
        write_data(service.folder / "stores")
        with Client(service.url, service.key) as client:
            jobs = submit_jobs(client)
            take_all(folder, service.url, service.key, jobs)
            jobs["live"].cancel()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
