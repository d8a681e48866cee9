"""Find all analyses: those of `srs` in analyses.json, those of other packages by entry points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from srs.catalogue.analysis import Analysis
from srs.plugins import with_plugins

INDEX = Path(__file__).with_name("analyses.json")
GROUP = "srs.analyses"


@cache
def find_analyses() -> Mapping[str, Analysis]:
    """Every analysis by its name: our own in their order, then those of other packages.

    >>> find_analyses()["vote-shift"].usage
    'vote-shift[=chi2|ks]'
    """
    return MappingProxyType({one.name: one for one in with_plugins(GROUP, read_index())})


def read_index() -> list[Analysis]:
    """The analyses of `srs`."""
    return [Analysis.from_json(document) for document in json.loads(INDEX.read_text())]


def index_text(analyses: tuple[Analysis, ...]) -> str:
    """The text of analyses.json."""
    return json.dumps([analysis.to_json() for analysis in analyses], indent=1) + "\n"
