"""The page in a real browser, from a first dataset to the end of a job."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

import srs
from srs.client import Client, Job
from tests.client.conftest import LONG, SHORT
from tests.client.stores import HOSTILE_NAME
from tests.page.browser import PHONE, Browser, opened
from tests.service.server import Server

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def done(client: Client) -> Job:
    """A selection that has succeeded, of a dataset whose name is markup."""
    dataset = client.datasets.register("small.zarr", name="<b>bold</b>")
    return client.jobs.submit(dataset, **SHORT).wait(timeout=120)


@pytest.fixture
def calm(browser: Browser) -> Iterator[Browser]:
    """Guards every test: scripts ran without errors and nothing was blocked."""
    browser.errors()
    yield browser
    assert browser.errors() == []


def wait_for_file(path: Path) -> bytes:
    until = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < until, f"no {path.name} in {list(path.parent.iterdir())}"
        time.sleep(0.1)
    return path.read_bytes()


def falls(cells: list[str]) -> bool:
    """Whether numbers of a page of a table fall, and are not all the same."""
    numbers = [float(text) for text in cells]
    return numbers == sorted(numbers, reverse=True) and numbers[0] > numbers[-1]


def test_from_a_dataset_to_its_features(calm: Browser) -> None:
    """Register, look at the plan, submit, watch to the end, sort, search, download."""
    calm.open("/datasets")
    calm.click("Add a dataset")
    calm.click_label("On the service")
    calm.type("Path or address of the store", "small.zarr")
    calm.click("Add")
    calm.see(".rows .about", "2,000 features × 300 samples")
    calm.click("Select features")
    calm.see(".card", "allowed")  # the plan
    calm.click("More settings")
    calm.type("Memory", "512MB")
    calm.type("Maximum trees", str(SHORT["max_trees"]))
    calm.click("Start")
    calm.see("h2", "Progress")
    calm.see(".badge", "Done")
    calm.see(".card", "Relevant features")
    calm.see_column(1, lambda names: set(names) == {"f7", HOSTILE_NAME})
    shown = ".plots:not(.live) svg"  # those of the progress are hidden by now
    calm.see_many(f"{shown}[role=img]", 7)

    calm.choose("Show", "All features")
    calm.see(".foot", "1 to 25 of 2,000")
    calm.click("Importance")
    calm.see("th[aria-sort=ascending]", "Importance")
    calm.click("Importance")
    calm.see("th[aria-sort=descending]", "Importance")
    calm.see("tbody tr:first-child", "Relevant")
    calm.see_column(6, falls)
    calm.click("Next")
    calm.see(".foot", "26 to 50 of 2,000")
    calm.type("Search", "f123")
    calm.see(".foot", "1 to 11 of 11")
    calm.see_column(1, lambda names: len(names) == 11 and all("f123" in name for name in names))

    # A link, so that the browser writes to disk what arrives: nothing is held in its memory.
    assert calm.find("a[href$='/features?format=csv']", "CSV") is not None
    calm.find("a[href$='/features?format=csv']").click()
    lines = wait_for_file(calm.downloads / "features.csv").decode().splitlines()
    assert len(lines) == 2_001
    calm.find("a[href$='/features?format=parquet']").click()
    assert wait_for_file(calm.downloads / "features.parquet")[:4] == b"PAR1"
    calm.click("JSON")
    assert b'"srs-result"' in wait_for_file(calm.downloads / "result.json")


def test_cancel_and_resume(calm: Browser, client: Client, done: Job) -> None:
    job = client.jobs.submit(done.dataset_id, name="long one", **LONG)
    calm.open("/jobs")
    calm.click("long one")
    calm.see(".card", "Features found")
    calm.see(".live figure", "Features found against trees")
    calm.see(".live .legend", "probes (irrelevant by construction)")
    calm.click("Cancel")
    calm.see(".badge", "Cancelled")
    calm.click("Resume")
    calm.see(".badge", "Running")
    assert job.refresh().status == "RUNNING"
    calm.click("Cancel")
    calm.see(".badge", "Cancelled")
    calm.click("Delete")
    calm.see("dialog", "cannot be restored")
    calm.see("dialog .bad").click()
    calm.see("h1", "Jobs")
    assert job.id not in {other.id for other in client.jobs.list()}


def test_names_are_shown_and_never_run(calm: Browser, done: Job) -> None:
    """Guards against HTML in names: as text in tables, plots, lists and titles."""
    calm.open(f"/jobs/{done.id}")
    calm.see("tbody tr", HOSTILE_NAME)
    calm.see("svg .name", HOSTILE_NAME[:15])
    calm.see("h1", "<b>bold</b>")
    for path in ("/datasets", "/jobs", f"/explain?job={done.id}", "/select"):
        calm.open(path)
        calm.see("option" if path == "/select" else "bdi", "<b>bold</b>")
    assert calm.run("return document.querySelectorAll('img, main b').length") == 0
    assert "srs" in calm.driver.title


def test_explain_what_was_found(calm: Browser, client: Client, done: Job) -> None:
    calm.open(f"/jobs/{done.id}")
    calm.click("Explain")
    calm.see("h1", "Explain")
    offered = calm.driver.find_elements("css selector", "input[name=analysis]")
    assert [box.get_attribute("value") for box in offered] == list(srs.ANALYSES)
    calm.click_label("label-permutation")
    calm.click_label("umfi")
    calm.choose("Method of umfi", "linear")
    calm.click("Options of umfi")
    calm.type("Repeats of umfi", "2")
    calm.type("Trees of the forest", "50")
    calm.click("Start")
    calm.see(".badge", "Done")
    calm.see("h2", "mda")
    calm.see("svg .name", "f7")
    job = client.jobs.list(limit=1)[0]
    assert job.document["settings"]["analyses"] == [
        {"analysis": "mdi", "value": None, "options": {}},
        {"analysis": "mda", "value": None, "options": {}},
        {"analysis": "umfi", "value": "linear", "options": {"n_repeats": 2}},
    ]
    calm.click("CSV")
    assert b"f7" in wait_for_file(calm.downloads / "mdi.csv")


def test_verdicts_of_feature_sets_are_shown(calm: Browser, client: Client, done: Job) -> None:
    sets = {"<i>slanted</i>": [3, 7], "noise": [20, 21]}
    job = client.jobs.submit(done.dataset_id, feature_sets=sets, **SHORT).wait(timeout=120)
    calm.open(f"/jobs/{job.id}")
    calm.see("h2", "Feature sets")
    rows = calm.driver.find_elements("css selector", "[aria-label='Table: feature sets'] tbody tr")
    assert [row.text.split()[0] for row in rows] == ["<i>slanted</i>", "noise"]
    assert "Relevant" in rows[0].text
    assert "2 of 2" in rows[0].text
    assert calm.run("return document.querySelectorAll('main i').length") == 0
    assert calm.accessibility_problems() == []


def test_pairs_cautions_and_promise_are_shown(
    calm: Browser, client: Client, service: Server
) -> None:
    """A pair with its plot and table, a leak at the top, and what the list promises."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 60))
    y = ((X[:, 3] > 0) ^ (X[:, 8] > 0)).astype(int)
    X[:, 40] = y + 0.001 * rng.normal(size=500)
    names = [f"f{i}" for i in range(60)]
    names[8] = HOSTILE_NAME
    store = service.folder / "stores" / "xor.zarr"
    srs.ingest(X, store, target=np.where(y, "ill", "well"), names=names)
    dataset = client.datasets.register("xor.zarr", name="xor")
    job = client.jobs.submit(dataset, memory="512MB", max_trees=40).wait(timeout=120)
    calm.open(f"/jobs/{job.id}")
    calm.see(".notice", "Before you trust this list")
    calm.see("[aria-label='Table: Pairs'] tbody tr", "opposite effects at the two ends")
    calm.see(".small-plots figure", HOSTILE_NAME)
    calm.see("#grounds-title", "What the list promises")
    calm.click("Evidence that counted")
    calm.see(".facts", "a test of its own, without probes")
    calm.see("#features-title ~ div", "the class well is more frequent")
    calm.see("[aria-label='Table: Features'] tbody tr", "pairs")
    assert calm.run("return document.querySelectorAll('img, main b').length") == 0
    assert calm.accessibility_problems() == []
    unseen = client.jobs.submit(dataset, memory="512MB", max_trees=40, pairs="off")
    calm.open(f"/jobs/{unseen.wait(timeout=120).id}")
    calm.see("section.panel", "Pairs were not looked at")


def test_a_webhook_is_sent_along(calm: Browser, client: Client, done: Job) -> None:
    """Both forms have it; an address brings a secret with it; private addresses are refused."""
    before = client.jobs.list(limit=1)[0].id
    calm.open(f"/explain?job={done.id}")
    calm.see("h1", "Explain")
    calm.click("Notify another server")
    calm.type("Webhook address", "https://127.0.0.1/hook")
    assert len(calm.field("Webhook secret").get_attribute("value") or "") == 32
    calm.click("Start")
    calm.see("[role=alert]", "not on the public internet")
    calm.open(f"/select?dataset={done.dataset_id}")
    calm.click("More settings")
    calm.type("Webhook address", "https://127.0.0.1/hook")
    calm.click("Start")
    calm.see("[role=alert]", "not on the public internet")
    assert len(calm.errors()) == 2  # the two refusals, which the browser logs
    assert client.jobs.list(limit=1)[0].id == before


def test_every_setting_is_on_the_form(calm: Browser, client: Client, done: Job) -> None:
    """Guards the form against lists kept by hand: the service's document says what there is."""
    calm.open(f"/select?dataset={done.dataset_id}")
    calm.click("All settings")
    names = set(calm.run("return [...document.querySelector('form').elements].map((e) => e.name)"))
    document = httpx.get(f"{calm.url}/openapi.json").json()
    assert names >= set(document["components"]["schemas"]["SelectSettings"]["properties"])
    labels = calm.run("return [...document.querySelectorAll('label')].map((l) => l.textContent)")
    assert not [label for label in labels if "_" in label.partition(" ")[0]]
    columns = calm.run(
        "return new Set([...document.querySelectorAll('.dense > *')].map("
        "(one) => one.getBoundingClientRect().left)).size"
    )
    assert columns >= 3
    calm.type("Memory", "512MB")
    calm.type("Carry fraction (alpha)", "0.3")
    calm.choose("Probes", "3")
    calm.choose("Criterion", "gini")
    calm.type("Evidence", "screened, peak")
    calm.click_label("Random recall")
    calm.type("Maximum passes", "1")
    calm.click("Start")
    calm.see(".badge", "Done")
    settings = client.jobs.list(limit=1)[0].document["settings"]
    given = {
        "carry_fraction": 0.3,
        "n_probes": 3,
        "criterion": "gini",
        "max_passes": 1,
        "evidence": ["screened", "peak"],
        "random_recall": False,
        "max_depth": None,
    }
    assert {name: settings[name] for name in given} == given


def test_subjects_of_an_explanation(calm: Browser, client: Client, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(180, 40))
    names = ",".join(f"f{i}" for i in range(40))
    rows = [
        ",".join(map(str, row)) + f",p{i // 3},{'ill' if row[3] > 0 else 'well'}"
        for i, row in enumerate(X)
    ]
    (tmp_path / "t.csv").write_text("\n".join([f"{names},who,y", *rows]) + "\n")
    dataset = client.datasets.upload(tmp_path / "t.csv", "y", sample_columns=["who"]).wait()
    selection = client.jobs.submit(dataset, memory="512MB", max_trees=160).wait()
    calm.open(f"/explain?job={selection.id}")
    calm.choose("Subjects", "who")
    calm.click_label("label-permutation")
    calm.type("Trees of the forest", "20")
    calm.click("Start")
    calm.see(".badge", "Done")
    assert client.jobs.list(limit=1)[0].document["settings"]["subjects"] == "who"


def test_an_upload_becomes_a_dataset(calm: Browser, tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i % 7},{'a' if i % 2 else 'b'}" for i in range(60))
    (tmp_path / "table.csv").write_text(f"one,two,group\n{rows}\n")
    calm.open("/datasets/new")
    calm.type("File", str(tmp_path / "table.csv"))
    calm.type("Target: a column of the file", "group")
    calm.click("Add")
    calm.see("h2", "The dataset is ready")
    calm.see(".facts", "group")


def test_what_does_not_work_is_said(browser: Browser, done: Job) -> None:
    browser.open(f"/select?dataset={done.dataset_id}")
    browser.see(".card", "allowed")
    browser.type("Memory", "50MB")
    browser.see(".notice.bad", "does not fit")
    browser.open("/datasets/new")
    browser.click_label("On the service")
    browser.type("Path or address of the store", "../../etc")
    browser.click("Add")
    browser.see("[role=alert]", "There is no such path")
    browser.open("/jobs/j_" + "0" * 32)
    browser.see("[role=alert]", "o such")
    browser.open("/nowhere")
    browser.see("[role=alert]", "There is no such page")


def test_by_keyboard_alone(calm: Browser, done: Job) -> None:
    """Guards focus: a view starts at its title, links and the order of a table answer to keys."""
    calm.open(f"/jobs/{done.id}")
    calm.see("tbody tr")
    assert calm.run("return document.activeElement.tagName") == "H1"
    for _ in range(30):
        calm.press_tab()
        if calm.run("return document.activeElement.textContent") == "p-value":
            break
    calm.press_enter()
    calm.see("th[aria-sort=ascending]", "p-value")


def test_a_wrong_key_and_signing_out(service: Server) -> None:
    with opened(service.url, PHONE) as phone:
        phone.open("/datasets")
        phone.type("API key", "srs_wrong")
        phone.click("Sign in")
        phone.see("[role=alert]", "not valid")
        phone.sign_in(service.key)
        assert phone.run("return document.cookie") == ""
        phone.click("Sign out")
        phone.see("h1", "Sign in")
        phone.open("/jobs")
        phone.see("h1", "Sign in")


def test_every_view_is_accessible(service: Server, done: Job) -> None:
    """axe on every view; nothing is wider than a phone but what scrolls by itself."""
    views = (
        "/jobs",
        "/datasets",
        "/datasets/new",
        "/select",
        f"/jobs/{done.id}",
        f"/explain?job={done.id}",
    )
    with opened(service.url, PHONE, dark=True) as phone:
        phone.open("/jobs")
        phone.see("h1", "Sign in")
        found = {"sign in": phone.accessibility_problems()}
        phone.sign_in(service.key)
        for view in views:
            phone.open(view)
            phone.see("h1")
            if view == "/select":
                phone.see(".card")
            if view.startswith("/jobs/"):
                phone.see("svg")
                phone.see("tbody tr")
            found[view] = phone.accessibility_problems()
            wide = phone.run("return document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, view
    assert {view: problems for view, problems in found.items() if problems} == {}


def test_the_page_brings_all_it_needs(service: Server) -> None:
    """Guards the policy, and that no file names another server or one that is missing."""
    page = httpx.get(service.url + "/")
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    names = {path.name for path in (ROOT / "service" / "srs_service" / "page").iterdir()}
    used: set[str] = set()
    for name in names:
        got = httpx.get(f"{service.url}/page/{name}")
        assert got.status_code == 200
        assert got.headers["x-content-type-options"] == "nosniff"
        again = httpx.get(
            f"{service.url}/page/{name}", headers={"If-None-Match": got.headers["etag"]}
        )
        assert again.status_code == 304
        used |= set(re.findall(r'(?:from "\./|/page/)([\w.-]+)"', got.text))
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", got.text)
        for address in re.findall(r"https?://[\w.]+", got.text):
            assert address in ("http://www.w3.org", "https://data.example.org"), address
    assert used == names - {"index.html"}, "a file is missing, or nothing uses it"
    for path in ("/page/..%2f__init__.py", "/page/nothing.js", "/page/"):
        assert httpx.get(service.url + path).status_code == 404
