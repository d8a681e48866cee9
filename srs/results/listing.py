"""The list of relevant features as a data frame, and as a table for a text: Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from srs.errors import InputError
from srs.report.text import direction, probability, surest_first

if TYPE_CHECKING:
    from srs.results.result import Result

LIBRARIES = ("pandas", "polars", "pyarrow")
HEADS = ("feature", "p", "q", "direction", "effect (95 % interval)")
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "<": "$<$",
} | {sign: "\\" + sign for sign in "&%$#_{}"}


def to_frame(result: Result, which: str, library: str) -> Any:
    """Rows of the table of features in a data frame of some library."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if which not in ("relevant", "all"):
        raise InputError(f'which must be "relevant" or "all", not {which!r}.')
    if library not in LIBRARIES:
        raise InputError(f"library must be one of {', '.join(LIBRARIES)}, not {library!r}.")
    table: pa.Table = result.table
    if which == "relevant":
        table = table.filter(pc.equal(table["verdict"], "RELEVANT"))
        order = [row["feature_id"] for row in surest_first(result.document)]
        table = table.take(pc.index_in(pa.array(order, pa.int64()), table["feature_id"]))
    if library == "pandas":
        return table.to_pandas()
    if library == "pyarrow":
        return table
    try:
        return import_module("polars").from_arrow(table)
    except ModuleNotFoundError:
        raise InputError("polars is not installed: pip install polars.") from None


def listed(result: Result, n: int | None) -> list[tuple[str, ...]]:
    """The relevant features in words, the most certain first."""
    effects: dict[int, Mapping[str, Any]] = {}
    for row in result.document["outcome"].get("effects") or ():
        effects.setdefault(row["feature_id"], row)
    return [
        (
            row["name"],
            probability(row["p_value"]),
            probability(row["q_value"]),
            direction(row.get("direction")),
            _effect(effects.get(row["feature_id"])),
        )
        for row in surest_first(result.document)[:n]
    ]


def _effect(row: Mapping[str, Any] | None) -> str:
    if row is None or row["estimate"] is None:
        return "–"
    return f"{row['measure']} {row['estimate']:.3g} ({row['low']:.3g} to {row['high']:.3g})"


def to_markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table for Markdown.

    >>> print(to_markdown([("a|b", "0.1", "0.2", "–", "–")]).splitlines()[2])
    | a&#124;b | 0.1 | 0.2 | – | – |
    """
    lines = [HEADS, ("---",) * len(HEADS), *rows]
    return "\n".join("| " + " | ".join(_in_markdown(line)) + " |" for line in lines) + "\n"


def _in_markdown(cells: Sequence[str]) -> list[str]:
    return [" ".join(cell.replace("|", "&#124;").split()) for cell in cells]


def to_latex(rows: Sequence[Sequence[str]]) -> str:
    """A table for LaTeX, with the rules of the package booktabs."""
    body = [" & ".join(map(_in_latex, row)) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{tabular}{lrrll}",
            r"\toprule",
            " & ".join(map(_in_latex, HEADS)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _in_latex(cell: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in cell)
