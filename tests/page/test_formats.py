"""The form for new datasets is made of the service's formats, those of other distributions too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from selenium.webdriver.remote.webelement import WebElement

from tests.ingest.formats.examples import EXAMPLES, VALUES
from tests.ingest.formats.toy import install_toy, write_bars
from tests.page.browser import Browser, missing_browser, opened
from tests.service.server import Server


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    reason = missing_browser()
    if reason:
        pytest.skip(reason)
    site = install_toy(tmp_path_factory.mktemp("site"))
    server = Server(tmp_path_factory.mktemp("service"), site=site).start()
    try:
        with opened(server.url) as browser:
            browser.sign_in(server.key)
            browser.errors()  # of the page before it was signed in
            yield browser
    finally:
        server.stop()


def shown(page: Browser, label: str) -> WebElement | None:
    return page.find("label", label)


def test_a_format_of_another_distribution_is_listed_and_sent(page: Browser, tmp_path: Path):
    page.open("/datasets/new")
    page.click("Formats")
    page.see("dt", "Bars")
    page.see("dd", ".bars: numbers with bars between them")
    page.see("dd", "Target phenotype or sex, or a column of Table of the samples")
    told = page.run("return [...document.querySelectorAll('dd')].map((one) => one.textContent)")
    assert not [text for text in told if "--" in text or "`" in text]
    assert ".bars" in page.field("File").get_attribute("accept").split(",")
    page.type("File", str(write_bars(tmp_path / "x.bars", VALUES[4:].tolist())))
    assert shown(page, "Shape") is not None
    assert shown(page, "Which array") is None
    page.click("Add")
    page.see("h2", "The dataset is ready")
    assert page.errors() == []


def test_files_that_belong_together_and_options_of_a_format(page: Browser, tmp_path: Path):
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    files = [str(bed.with_suffix(suffix)) for suffix in (".bed", ".bim", ".fam")]
    page.open("/datasets/new")
    page.type("File", "\n".join(files))
    assert shown(page, "Shape") is None
    page.click("More about the samples")
    ids = [line.split()[1] for line in bed.with_suffix(".fam").read_text().splitlines()]
    rows = "".join(f"{one},{'uv'[i % 2]},{i}\n" for i, one in enumerate(ids))
    (tmp_path / "p.csv").write_text(f"IID,case,age\n{rows}")
    page.type("Table of the samples", str(tmp_path / "p.csv"))
    page.type("Covariates", "age")
    page.type("Target: a column of the file", "case")
    page.click("Add")
    page.see("h2", "The dataset is ready")
    page.see(".facts", "case")
    page.open("/datasets")
    page.see(".rows .about", "7 features × 14 samples")
    page.open("/datasets/new")
    image, _ = EXAMPLES["nifti"]["file"](tmp_path)
    page.type("File", str(image))
    assert shown(page, "Mask") is not None
    assert page.errors() == []


def test_data_without_ids_and_files_that_are_missing(page: Browser, tmp_path: Path):
    rows = "".join(f"{i * 7 % 30},{i},{'uv'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(f"sample_id,a,y\n{rows}")
    page.open("/datasets/new")
    page.type("File", str(tmp_path / "t.csv"))
    page.click("More about the samples")
    page.click_label("No column holds sample ids")
    page.click("Add")
    page.see("h2", "The dataset is ready")
    page.open("/datasets")
    page.see(".rows .about", "3 features × 30 samples")
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    page.open("/datasets/new")
    page.type("File", str(bed))
    page.click("Add")
    page.see(".notice", "Also choose x.bim, x.fam: x.bed, x.bim, x.fam belong together.")
    pgen, _ = EXAMPLES["pgen"]["pgen"](tmp_path)
    packed = pgen.with_suffix(".pvar.zst")
    with pa.output_stream(str(packed), compression="zstd") as file:
        file.write(pgen.with_suffix(".pvar").read_bytes())
    page.open("/datasets/new")
    page.type("File", f"{pgen}\n{packed}")
    page.click("Add")
    page.see(".notice", "Also choose x.psam: x.pgen, x.pvar.zst, x.psam belong together.")
    page.open("/datasets/new")
    page.type("File", f"{pgen}\n{packed}\n{pgen.with_suffix('.psam')}")
    page.click("Add")
    page.see("h2", "The dataset is ready")
    assert page.errors() == []
