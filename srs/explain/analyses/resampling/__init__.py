"""Importances against samples drawn anew: permuted features, permuted copies, subsamples.

`feature_permutation` tests each feature, `contrasts` compares features with permuted copies of them
all, `mda_intervals` gives intervals for other samples. They are offered in `srs.explain.analyses`.
"""
