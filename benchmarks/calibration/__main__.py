"""`python -m benchmarks.calibration`: see the package."""

from __future__ import annotations

import argparse

from benchmarks.calibration import plan_tasks, run_tasks, show
from benchmarks.calibration.methods import METHODS, missing_peers
from benchmarks.calibration.rows import ROWS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Error rates and power over many runs.")
    parser.add_argument("rows", nargs="*", help="all of them if none is named")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--slow-runs", type=int, default=50, help="runs of the slow peers")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing after")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    missing = missing_peers()
    for sentence in missing.values():
        print(sentence)
    methods = [method for method in chosen.methods if method not in missing]
    tasks = plan_tasks(chosen.rows or list(ROWS), methods, chosen.runs, chosen.slow_runs)
    run_tasks(list(tasks), chosen.seconds, chosen.processes)
    show()
