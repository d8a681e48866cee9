"""The parts of the page that say what was put in and measured: verdicts, data, settings, cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from srs.memory import format_bytes
from srs.report.markup import Cell, Column, data_table, facts, name, prose, section, text
from srs.report.text import duration, is_paper, number, percent

if TYPE_CHECKING:
    from srs.results.feature_table import FeatureTable

Document = Mapping[str, Any]
MAX_LABELS = 20
MAX_NOTICES = 50


def verdicts(document: Document, table: FeatureTable) -> str:
    counts, n_features = document["outcome"]["verdicts"], document["data"]["n_features"]
    meanings = _meanings(document)
    rows = [
        [
            Cell(verdict.lower()),
            Cell(number(counts[verdict])),
            Cell(percent(counts[verdict] / n_features) if n_features else "–"),
            Cell(prose(meaning)),
        ]
        for verdict, meaning in meanings.items()
    ]
    columns = [
        Column("verdict", numeric=False),
        Column("features"),
        Column("share"),
        Column("meaning", numeric=False),
    ]
    pieces = table.pieces(["n_drawn"])
    undrawn = sum(pc.sum(pc.equal(piece["n_drawn"], 0)).as_py() for piece in pieces)
    note = ""
    if undrawn:
        note = (
            f"<p>{number(undrawn)} features were never drawn, so nothing is known about them: "
            "one full pass would draw each feature once.</p>"
        )
    return section(
        "verdicts",
        "Verdicts on all features",
        data_table("Features by verdict", columns, rows, interactive=False),
        note,
    )


def _meanings(document: Document) -> dict[str, str]:
    if is_paper(document):
        return {
            "RELEVANT": "beat the probe often enough",
            "UNDECIDED": "not drawn often enough to decide",
            "IRRELEVANT": "drawn often enough, and did not beat the probe often enough",
        }
    return {
        "RELEVANT": "in the list, at the requested false discovery rate",
        "UNDECIDED": "some evidence, but not enough for the list; also pinned and undrawn features",
        "IRRELEVANT": "no more evidence than probes have by chance (p above 0.05)",
    }


def data(document: Document) -> str:
    about = document["data"]
    rows = [
        ("features", number(about["n_features"])),
        ("samples", number(about["n_samples"])),
        ("held-out samples", number(document["shape"]["n_held_out"])),
        ("target", f"{name(about['target'])} ({text(about['target_kind'])})"),
    ]
    labels = about["labels"] or about.get("levels", [])
    if labels:
        shown = ", ".join(name(label) for label in labels[:MAX_LABELS])
        more = f" and {len(labels) - MAX_LABELS:,} more" if len(labels) > MAX_LABELS else ""
        rows.append(("classes" if about["labels"] else "levels, from low on", shown + more))
    store = document["measured"]["store"]
    rows += [
        ("feature store", "in memory" if store is None else f"<code>{text(store)}</code>"),
        ("fingerprint", f"<code>{text(about['fingerprint'])}</code>"),
    ]
    return section("data", "Data", facts("Input of the run", rows), _notices(document))


def _notices(document: Document) -> str:
    notices = document["data"]["notices"]
    if not notices:
        return ""
    items = "".join(f"<li>{prose(notice[:1000])}</li>" for notice in notices[:MAX_NOTICES])
    return f"<h3>Notices of the ingest</h3><ul>{items}</ul>"


def settings(document: Document) -> str:
    shape = document["shape"]
    rows = [(key, _setting(key, value)) for key, value in document["settings"].items()]
    planned = [
        ("subspace size", f"{number(shape['subspace_size'])} explored features per tree"),
        ("slab", f"{number(shape['slab_features'])} features read at once"),
        ("probes", f"{shape['n_probes']} per feature"),
    ]
    return section(
        "settings",
        "Settings",
        *[
            facts("Values chosen from memory and data", planned),
            "<details><summary>All settings</summary>",
            facts("Settings of the run, by their names in Python", rows),
            "</details>",
        ],
    )


def _setting(key: str, value: Any) -> str:
    if value is None:
        return '<span class="quiet">automatic or no limit</span>'
    if key == "allowed_mem":
        return f"{value} bytes ({format_bytes(value)})"
    if isinstance(value, (list, tuple)):
        more = f" and {len(value) - MAX_LABELS:,} more" if len(value) > MAX_LABELS else ""
        return (", ".join(name(str(v)) for v in value[:MAX_LABELS]) or "none") + more
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text(value)


def cost(document: Document) -> str:
    measured = document["measured"]
    parts = measured["seconds_by_part"]
    versions = ", ".join(f"{text(k)} {text(v)}" for k, v in measured["versions"].items())
    spent = ", ".join(f"{text(part)} {duration(s)}" for part, s in parts.items() if part != "total")
    rows = [
        ("wall time", duration(measured["seconds"])),
        ("time by part, summed over threads", spent),
        ("threads", number(measured["threads"])),
        ("memory allowed", format_bytes(document["settings"]["allowed_mem"])),
        ("memory projected", format_bytes(measured["projected_mem"])),
        ("peak memory", format_bytes(measured["peak_mem"])),
        ("finished", f"<time>{text(measured['finished_at'])}</time>"),
        ("versions", versions),
    ]
    return section("measured", "Time, memory, versions", facts("Cost of the run", rows))
