"""CITATION.cff names this version, and the paper of the method."""

from pathlib import Path

import yaml

import srs

FILE = Path(__file__).resolve().parents[1] / "CITATION.cff"


def test_the_citation_is_of_this_version():
    told = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    for key in ("cff-version", "title", "message", "authors"):  # which the format asks for
        assert told[key], key
    assert told["version"] == srs.__version__
    assert told["license"] == "BSD-3-Clause"
    paper = told["preferred-citation"]
    assert paper["title"].startswith("Random subspace with trees")
    assert {author["family-names"] for author in paper["authors"]} >= {"Sutera", "Geurts"}
