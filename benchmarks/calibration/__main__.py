"""`python -m benchmarks.calibration`: see the package."""

from __future__ import annotations

import argparse

from benchmarks.calibration import ROW_NAMES, run_tasks, show

parser = argparse.ArgumentParser(description="Error rates and power over many runs.")
parser.add_argument("rows", nargs="*", default=ROW_NAMES)
parser.add_argument("--runs", type=int, default=50)
parser.add_argument("--slow-runs", type=int, default=50, help="runs of BorutaPy and Altmann")
parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing after")
parser.add_argument("--processes", type=int, default=2)
chosen = parser.parse_args()
run_tasks(chosen.rows, chosen.runs, chosen.slow_runs, chosen.seconds, chosen.processes)
show()
