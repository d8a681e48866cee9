"""Which analyses there are, described without loading them: `Analysis`, its `Option`s, requests.

A descriptor stands beside the function that it describes, in `srs.explain.analyses`; all of them
are copied to analyses.json here (`make generate`), so that whoever names, offers or draws analyses
need not load numba. Packages of others add theirs by entry points of the group `srs.analyses`.
Running them is `srs.explain`.
"""

from srs.catalogue.analysis import USUAL, Analysis, Section
from srs.catalogue.index import find_analyses
from srs.catalogue.option import MOST, Option

__all__ = ["MOST", "USUAL", "Analysis", "Option", "Section", "find_analyses"]
