"""What accumulates per feature and its probes: the kinds of evidence, and the arrays that hold
them.

Trees make it (`srs.trees`), the loop merges it (`srs.engine`), `srs.inference` decides by it.
"""
