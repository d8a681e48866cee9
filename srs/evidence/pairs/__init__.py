"""Exhaustive pairs by bits: the best partner of every feature among all others.

`groups` says which samples are compared, `cuts` and `bits` make features rows of bits, `lanes` and
`kernel` count and compare all pairs of two blocks, `best` is what others call. Arrays in, arrays
out: nothing here knows of stores, runs or verdicts.
"""
