"""Evidence to p-values, q-values and verdicts.

`feature_classes` says which features share a null, `null` turns it into p-values, `combine` puts
the kinds of evidence together, `fdr` makes q-values, `decide` and `paper` give verdicts, `knockoff`
is the second opinion. `interim` decides within the loop, `final` at its end, `grounds` says what
verdicts rest on. Nothing here draws features or grows trees (`srs.engine`, `srs.trees`).
"""
