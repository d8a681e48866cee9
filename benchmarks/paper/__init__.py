"""The thesis' own numbers again: Figure 7.4.1, Table 7.C.2, Table 5.1 and Examples 5.1, 5.2.

| script | what it repeats | time on two cores |
|---|---|---|
| `figure_7_4_1` | F1 of the selected set along the run, 20 relevant among 50,000 | ten minutes |
| `table_7_c_2`  | accuracy of SRS in paper mode and of forests on half splits | an hour |
| `asymptotic`   | exact importances of infinite forests, and forests near them | a minute |

Each is run as `python -m benchmarks.paper.figure_7_4_1`, prints its table, and writes a CSV and a
figure (PNG, SVG) to `benchmarks/results/paper/`. The first two save runs as they end and go on
from there; delete the CSV to start again. Everything follows from seeds. Data come from the
reference folder (SRS_REFERENCE_DATA), figures need matplotlib (the extra `bench`).

`python -m benchmarks paper` runs `asymptotic` and two splits of the madelon row, some minutes.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Line, reference_folder


def run() -> Iterator[Line]:
    """`asymptotic`, and the madelon row of Table 7.C.2 for subspaces of 5 and 10 %."""
    from benchmarks.paper import asymptotic, table_7_c_2

    yield from asymptotic.run()
    if reference_folder() is None:
        yield Line("Table 7.C.2", "skipped: no reference data (SRS_REFERENCE_DATA)")
        return
    methods = [m for m in table_7_c_2.SRS_METHODS if "q=0.01" not in m]
    table_7_c_2.run_tasks(table_7_c_2.plan("madelon", 2000, methods, n_splits=2))
    yield from table_7_c_2.judge("madelon", 2000, methods)
