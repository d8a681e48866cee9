"""Univariate tests: the p-value of each column against the target, from one pass over its codes.

`UnivariateTest` (`target`) is all that others need. Below it: `tiles` (64 columns at a time),
`columns` and `levels` (one column), `two_classes`, `exact` and `saddlepoint` (tails of rank sums),
`quadratic` (tests of several degrees of freedom).
"""
