"""What a run found and what analyses said, in memory and on disk: `Result`, `Explanation`, tables.

`export` writes the selected features in the user's own format. Pages are `srs.report`.
"""
