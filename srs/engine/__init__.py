"""The loop of a run: plan a round, grow its batches, merge their evidence, decide, stop.

`loop` closes the circle; `batch` is what one worker does; `subspace` and `carry` choose features;
`samples` and `permutations` say which samples trees see and how probes are made; `memory` predicts
what is held; `state` and `checkpoint` are what is kept; `worker` is what travels to Dask. p-values
and verdicts are `srs.inference`; where batches run is `srs.executors`.
"""
