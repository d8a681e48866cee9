"""Parts of the page on effects: of relevant features, of all features, and where voxels are."""

from srs.report.effects.clusters import clusters
from srs.report.effects.estimates import effects
from srs.report.effects.scan import scan

__all__ = ["clusters", "effects", "scan"]
