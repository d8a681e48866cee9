"""Objects show themselves in notebooks and prompts: short, escaped, in the notebook's colours."""

import io
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rich.console import Console

import srs
from srs.client.job import Job


class Checked(HTMLParser):
    """Counts open tags."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words = [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, _attrs):
        assert tag != "b", "a name of the data was taken for HTML"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data + " "


@pytest.fixture(scope="module")
def store():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    frame = pd.DataFrame(X, columns=[f"<b>{i}|_x" for i in range(20)])
    return srs.ingest(frame, target={"<b>y": np.where(X[:, 3] > 0, "case", "control")})


@pytest.fixture(scope="module")
def result(store):
    return srs.select(store, max_trees=100)


def test_cards_of_all_objects(store, result):
    plan = srs.plan(store, threads=1)
    why = srs.explain(store, features=result, analyses=["mdi"], n_trees=20)
    document = {"id": "j1", "kind": "select", "name": "<b>", "status": "SUCCEEDED"}
    job = Job(None, document | {"dataset_id": "d1", "progress": None, "summary": {"n": 3}})
    for one, words in (
        (store, ("20 features x 200 samples", "<b>y")),
        (result, ("relevant", "<b>3|_x", "trees")),
        (plan, ("per pass", "allowed")),
        (why, ("mdi",)),
        (job, ("succeeded", "d1", "3")),
    ):
        page = one._repr_html_()
        checked = Checked(page)
        assert all(word in checked.words for word in words), checked.words
        assert "background:#" not in page
        assert "color:#" not in page
        assert len(repr(one)) < 120
        assert "\n" not in repr(one)


def test_long_lists_are_cut():
    from srs.display import card

    page = Checked(card("t", {"a": 1, "none": None}, ("n",), [(i,) for i in range(25)]))
    assert "15 more" in page.words
    assert "none" not in page.words


def test_frames_and_tables_of_the_list(result):
    frame = result.to_frame()
    assert frame["feature_id"].tolist()[0] == 3
    assert set(frame["verdict"]) == {"RELEVANT"}
    assert len(result.to_frame("all")) == 20
    polars = result.to_frame(library="polars")
    assert isinstance(polars, pl.DataFrame)
    assert polars["name"].to_list() == frame["name"].tolist()
    assert result.to_frame(library="pyarrow").num_rows == len(frame)
    for wrong in ({"which": "some"}, {"library": "R"}):
        with pytest.raises(srs.SRSError, match="must be"):
            result.to_frame(**wrong)
    markdown = result.to_markdown().splitlines()
    assert len(markdown) == 2 + len(frame)
    assert all(line.count("|") == 6 for line in markdown)
    latex = result.to_latex(n=1)
    assert latex.count(r"\\") == 2
    assert r"3|\_x" in latex


def test_a_bar_shows_all_three_kinds_of_progress():
    out = io.StringIO()
    X = np.random.default_rng(0).normal(size=(60, 6))
    with srs.ProgressBar(Console(file=out, force_terminal=True, width=100)) as bar:
        data = srs.ingest(X, target=X[:, 0] > 0, on_progress=bar)
        assert bar.said == "6 of 6 features"
        srs.select(data, max_trees=40, on_progress=bar)
        assert "trees" in bar.said
        srs.explain(data, analyses=["mdi"], n_trees=10, on_progress=bar)
        assert bar.said == "mdi"
    assert "━" in out.getvalue()
