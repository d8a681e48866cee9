"""The papers' own numbers again: one list of place, printed value, ours and difference.

| script | what it repeats | time on two cores |
|---|---|---|
| `exact`        | tables, examples and equations that follow from theory | seconds |
| `sampled`      | tables that come from samples, and those that cannot be had | a minute |
| `figure_5_5`   | importances with binary splits, drawn | seconds |
| `figure_7_4_1` | F1 of the selected set along the run, 20 relevant among 50,000 | ten minutes |
| `table_7_c_2`  | accuracy of SRS in paper mode and of forests on half splits | an hour |
| `asymptotic`   | exact importances of infinite forests, and forests near them | a minute |

The last four are run as `python -m benchmarks.paper.figure_7_4_1`, print their table, and write a
CSV and a figure (PNG, SVG) to `benchmarks/results/paper/`. Long ones save runs as they end and go
on from there; delete the CSV to start again. Everything follows from seeds. Data come from the
reference folder (SRS_REFERENCE_DATA), figures need matplotlib (the extra `bench`).

`python -m benchmarks paper` runs `asymptotic`, two splits of the madelon row, and prints the list,
which it also writes to `benchmarks/results/paper/list.csv`: some minutes. `python -m
benchmarks.paper` prints the list alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks.measure import Line, reference_folder


def run() -> Iterator[Line]:
    """`asymptotic`, the madelon row of Table 7.C.2 for subspaces of 5 and 10 %, then the list."""
    from benchmarks.paper import asymptotic, table_7_c_2

    yield from asymptotic.run()
    if reference_folder() is None:
        yield Line("published numbers", "skipped: no reference data (SRS_REFERENCE_DATA)")
        return
    methods = [m for m in table_7_c_2.SRS_METHODS if "q=0.01" not in m]
    table_7_c_2.run_tasks(table_7_c_2.plan("madelon", 2000, methods, n_splits=2))
    yield from table_7_c_2.judge("madelon", 2000, methods)
    yield from list_numbers()


def list_numbers() -> Iterator[Line]:
    """Every published number that can be computed, beside ours."""
    from benchmarks.paper.entries import judge, show, written
    from benchmarks.paper.exact import exact_entries
    from benchmarks.paper.sampled import sampled_entries

    folder = reference_folder()
    if folder is None:
        yield Line("published numbers", "skipped: no reference data (SRS_REFERENCE_DATA)")
        return
    tables = json.loads((folder / "reference" / "tables.json").read_text())
    entries = [*exact_entries(tables), *sampled_entries(tables)]
    show(entries)
    yield from judge(entries)
    met = [entry for entry in entries if entry.met is not None]
    n_met = sum(bool(entry.met) for entry in met)
    yield Line(
        "published numbers",
        f"{len(entries)}, {n_met} of {len(met)} with a bar within it; {written().name} written",
        "all within their bar",
        n_met == len(met),
    )
