"""What a reader should know before trusting a list: features that are the target, one factor.

Two questions that are asked after a run. `leak` asks of each relevant feature whether it is the
target itself; `factor` asks of a long list whether one unmeasured factor could explain it.
`find_cautions` asks both of a run. A caution changes no verdict.
"""

from srs.selection.cautions.find import find_cautions

__all__ = ["find_cautions"]
