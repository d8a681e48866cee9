"""Figures of a run in Prometheus' text format, for a collector that reads files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srs.engine.state import Progress

# name of the figure: kind and help
FIGURES = {
    "srs_trees_total": ("counter", "Trees grown."),
    "srs_rounds_total": ("counter", "Rounds finished."),
    "srs_passes": ("gauge", "Passes over all features."),
    "srs_relevant_features": ("gauge", "Features found relevant at the last interim decision."),
    "srs_run_seconds": ("gauge", "Wall time of the run, in seconds."),
    "srs_remaining_seconds": ("gauge", "Estimate of the wall time that is left, in seconds."),
    "srs_peak_memory_bytes": ("gauge", "Largest resident set of the coordinator."),
    "srs_workers": ("gauge", "Dask workers."),
    "srs_worker_threads": ("gauge", "Threads of all Dask workers."),
    "srs_worker_peak_memory_bytes": ("gauge", "Largest resident set of a Dask worker."),
    "srs_tasks_submitted_again_total": (
        "counter",
        "Tasks that lost their worker, or found it hung.",
    ),
}
_OF_WORKERS = {
    "srs_workers": "n_workers",
    "srs_worker_threads": "n_threads",
    "srs_worker_peak_memory_bytes": "peak_mem",
    "srs_tasks_submitted_again_total": "n_submitted_again",
}


def render_figures(progress: Progress) -> str:
    """The text of the file; what is not known is left out."""
    from srs.memory import peak_mem

    values: dict[str, float | None] = {
        "srs_trees_total": progress.n_trees,
        "srs_rounds_total": progress.n_rounds,
        "srs_passes": progress.n_passes,
        "srs_relevant_features": progress.n_relevant,
        "srs_run_seconds": progress.seconds,
        "srs_remaining_seconds": progress.remaining_seconds,
        "srs_peak_memory_bytes": peak_mem(),
    }
    values |= {name: progress.figures.get(key) for name, key in _OF_WORKERS.items()}
    lines = []
    for name, (kind, text) in FIGURES.items():
        if (value := values[name]) is not None:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value:.12g}"]
    return "\n".join(lines) + "\n"


def write_figures(path: Path, progress: Progress) -> None:
    """Replace the file; a collector never sees half of it. That it fails must not end a run."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(render_figures(progress))
        partial.replace(path)
    except OSError as error:
        logging.getLogger("srs").warning("%s cannot be written: %s", path, error.strerror)
