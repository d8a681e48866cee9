"""Benchmarks: each module measures one bar and prints its ratio against peers of the same run.

`python -m benchmarks` runs all, `python -m benchmarks kernel madelon` some of them. What was
measured is kept in CSV files under `benchmarks/results`, and `python -m benchmarks page` writes
`docs/benchmarks.md` from these.
"""
