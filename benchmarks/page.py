"""The page of results: `docs/benchmarks.md`, written from the committed CSV files.

Nothing is measured here. `figures.csv` holds single figures, one a row, with the command, date and
machine they come from: after measuring again change its rows by hand and run `python -m benchmarks
page`. The other tables are made from runs that long benchmarks save as they go. A test fails when
the page is not what this module writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import calibration
from benchmarks.calibration.cells import LEAST_RUNS, Cell
from benchmarks.calibration.methods import METHODS, RATE
from benchmarks.calibration.rows import FRESH, NULLS, SIGNALS
from benchmarks.measure import Line
from benchmarks.output import read_rows
from benchmarks.paper import figure_7_4_1, table_7_c_2

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
FIGURES = "figures.csv"
# One row a figure; `peer` is what it is compared with, in the same unit.
COLUMNS = ("topic", "what", "value", "unit", "peer", "peer_value", "command", "date", "machine")
SHOWN = ("srs", "srs 0.1", *(method for method in METHODS if method != "srs"))
NULL_SHOWN = ("srs", "srs 0.1", "univariate")
USUAL_RUNS = 50  # of a problem and method
FIGURE_DATA = (1_000, 50_000, 5)  # samples, features, informative ones of Figure 7.4.1
FIGURE_SEEDS, FIGURE_TREES = 2, (2_000, 8_000)

HEAD = """\
# Benchmarks

This page is written by `python -m benchmarks page` from the CSV files under `benchmarks/results/`.
Do not edit it: change the files and write it again. A test fails when it is stale.

`make bench` measures everything where you are; `python -m benchmarks kernel madelon` measures a
part. "2 cores EPYC" are two cores of an AMD EPYC (512 KiB L2 each, 32 MiB L3). "shared" means that
other work ran beside it: compare ratios, which come from one run, rather than times.
"""


def run() -> Iterator[Line]:
    """Write the page."""
    text = render()
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if stale:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    yield Line("docs/benchmarks.md", "written" if stale else "is up to date")


def render() -> str:
    """The whole page, from the committed results alone."""
    cells = {key: c for key, c in calibration.summarise().items() if c.n_runs >= LEAST_RUNS}
    sections = [
        HEAD,
        *_signals(cells),
        *_nulls(cells),
        *_figure_7_4_1(),
        *_table_7_c_2(),
        *_figures(read_rows(FIGURES)),
    ]
    return "\n".join(sections)


def make_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; bars in cells are escaped."""
    ruler = "|" + "---|" * len(head)
    return "\n".join([_line(head), ruler, *(_line(row) for row in rows)]) + "\n"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _signals(cells: dict[tuple[str, str], Cell]) -> Iterator[str]:
    shown = [m for m in SHOWN if any((row, m) in cells for row in SIGNALS)]
    yield "## Error rates and power\n"
    yield (
        f"Share of false features in the list, and power (share of the relevant features that "
        f"were found),\nmeans over {USUAL_RUNS} runs unless a number of runs follows; the nominal "
        f"rate is {RATE}. In brackets: the\nfalse share is above the rate by more than its 95 % "
        f"interval. A run's data are the same for all\nmethods. Runs of srs, univariate tests, "
        f"knockoffs and IPSS are numbered from {FRESH:,}, which nothing was\nchosen by; on the "
        f"first eight problems the other methods, and version 0.1, saw runs 0 to 49.\nExtra-trees "
        f"have no rate of their own; they are told how many features are relevant. Knockoffs\n"
        f"(knockpy: second-order Gaussian, lasso) and IPSS take two classes or a number. An empty "
        f"cell has\nfewer than {LEAST_RUNS} runs. Command: `python -m benchmarks.calibration`.\n"
    )
    yield make_table(
        ("problem", *shown),
        [(_spoken(row), *(_cell(cells.get((row, m))) for m in shown)) for row in SIGNALS],
    )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    runs = "" if cell.n_runs == USUAL_RUNS else f"; {cell.n_runs} runs"
    if cell.keeps_rate:
        return f"{cell.false_share:.2f}, **{cell.power:.2f}**{runs}"
    return f"({cell.false_share:.2f}, {cell.power:.2f}){runs}"


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _nulls(cells: dict[tuple[str, str], Cell]) -> Iterator[str]:
    yield (
        "Data without any signal: runs that select something, of how many. Blocks: correlation "
        "0.9 in blocks of\nten; common factor: four fifths of the variance of every feature; "
        '"permuted": a real data set with its\nlabels permuted.\n'
    )
    yield make_table(
        ("data", *NULL_SHOWN),
        [
            (name.removeprefix("null "), *(_n_selecting(cells.get((name, m))) for m in NULL_SHOWN))
            for name in NULLS
        ],
    )


def _n_selecting(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{round(cell.false_share * cell.n_runs)} of {cell.n_runs}"


def _figure_7_4_1() -> Iterator[str]:
    tasks = figure_7_4_1.plan(FIGURE_DATA, FIGURE_SEEDS, FIGURE_TREES)
    groups: dict[tuple[int, str], list[np.ndarray]] = {}
    for task, curve in figure_7_4_1.read_curves(tasks).items():
        groups.setdefault((task.q, task.label), []).append(curve)
    n_samples, n_features, _ = FIGURE_DATA
    yield "## Thesis, Figure 7.4.1\n"
    yield (
        f"{n_features:,} features x {n_samples:,} samples, 20 relevant features as Madelon has "
        f"them; means over {FIGURE_SEEDS} seeds.\nThe thesis gives neither the number of samples "
        f"nor the generator. Carrying masks features that are\nmixtures of others here; with 20 "
        f"informative features it finds more, as in the thesis. Command:\n"
        f"`python -m benchmarks.paper.figure_7_4_1`.\n"
    )
    yield make_table(
        ("features in a subspace", "method", "F1 at the end", "true", "false", "trees to the best"),
        [
            (
                f"{q:,}" if q else "its own",
                label,
                f"{np.mean([c[-1, 3] for c in curves]):.2f}",
                f"{np.mean([c[-1, 1] for c in curves]):g}",
                f"{np.mean([c[-1, 2] for c in curves]):g}",
                f"{np.mean([c[c[:, 3].argmax(), 0] for c in curves]):,.0f}",
            )
            for (q, label), curves in groups.items()
        ],
    )


def _table_7_c_2() -> Iterator[str]:
    yield "## Thesis, Table 7.C.2\n"
    yield (
        "Accuracy of ensembles that paper mode grows, on half splits, beside the printed value. "
        "The copy of\nisolet at hand has 1,560 of the thesis' 7,797 rows, so forests have less to "
        "learn from. Command:\n`python -m benchmarks.paper.table_7_c_2`.\n"
    )
    yield make_table(
        ("data", "method", "splits", "accuracy", "standard error", "printed"),
        [
            (c.data, c.method, c.n_splits, f"{c.mean:.3f}", f"{c.error:.3f}", f"{c.printed:.3f}")
            for c in table_7_c_2.summarise()
            if c.n_splits > 1
        ],
    )


def _figures(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    yield "## Figures\n"
    yield (
        'A peer was measured in the same run, unless it is "bar" (what the benchmark asks for), '
        '"allowed",\n"projected", or a printed value. Figures without a command were measured '
        "once, for the decision that\nthey support ([records](adr/README.md)).\n"
    )
    for topic in dict.fromkeys(row["topic"] for row in rows):
        mine = [row for row in rows if row["topic"] == topic]
        yield f"### {topic.capitalize()}\n"
        yield make_table(
            ("what", "value", "peer", "command", "measured"),
            [
                (
                    row["what"],
                    f"{row['value']} {row['unit']}".strip(),
                    f"{row['peer']}: {row['peer_value']}" if row["peer"] else "",
                    f"`{row['command']}`" if row["command"] else "",
                    f"{row['date']}, {row['machine']}",
                )
                for row in mine
            ],
        )
