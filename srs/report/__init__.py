"""Render the outcome of a run for people.

`render_html` makes one page that needs nothing else, `render_terminal` a short summary. Both read
the document that `srs.results.result` writes as result.json, made by `srs.selection.select`:

    settings   every setting of the run
    data       fingerprint, sizes, target, target_kind, labels, notices of the store
    shape      subspace_size, slab_features, n_probes, n_held_out
    outcome    stop_reason, n_trees, n_passes, relevant, pinned, verdicts, history (relevant
               features against trees), evidence (histograms), prediction; groups of relevant
               features, ungrouped (how many are in none), minimal (ids that are enough); grounds
               (what the verdicts rest on, see `srs.inference.grounds`); sets (rows of tested
               feature sets, and how many of their members are no features), if any were given;
               cautions (what to know before trusting the list), if there are some; pairs
               (features that matter together), if they were looked at; conditions (features found
               only given others), if there are some
    measured   seconds, memory, threads, versions: what differs between equal runs
"""

from srs.report.explained import render_explanation, summarise_explanation
from srs.report.html import render_html
from srs.report.terminal import render_terminal

__all__ = ["render_explanation", "render_html", "render_terminal", "summarise_explanation"]
