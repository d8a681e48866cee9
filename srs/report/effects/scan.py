"""The part of the page on all features, each tested by itself: Manhattan, QQ and volcano plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srs.report.figures.scan import manhattan_plot, quantile_plot, volcano_plot
from srs.report.markup import figure, paragraph, prose, section
from srs.report.text import clean_name, count

Document = Mapping[str, Any]
UNSURE = (0.9, 1.1)  # inflation beyond which a reader is warned


def scan(document: Document) -> str:
    """All features, each tested alone; "" if the result does not say."""
    found = document["outcome"].get("scan")
    if not found or not found["n_tested"]:
        return ""
    lam = found["inflation"]
    title = f"Observed against expected p-values of {count(found['n_tested'], 'feature')}"
    said = f"λ = {lam:.3f}" if lam is not None else ""
    parts = [
        paragraph(
            f"Each of {count(found['n_tested'], 'feature')} was tested alone (score test). These "
            "p-values are part of the evidence, not the verdict. Rings are relevant features; "
            "those that matter only with others may be low."
        )
    ]
    if "places" in found:
        caption = "p-values along the genome (Manhattan plot)"
        parts.append(figure(manhattan_plot(found["places"], found["contigs"], caption), caption))
    parts.append(
        figure(
            quantile_plot(found["expected"], found["observed"], f"{title}. {said}"),
            prose(f"{title} (QQ plot); genomic inflation {said}"),
        )
    )
    if lam is not None and not UNSURE[0] <= lam <= UNSURE[1] and found["n_tested"] >= 1000:
        more = "more" if lam > 1 else "less"
        parts.append(
            paragraph(
                f"The median feature tells {more} of the target than chance explains. Many weak "
                "effects do that, and so does a factor that was not adjusted for (ancestry, "
                "batch, cell composition)."
            )
        )
    if "effects" in found:
        caption = "Effects against p-values (volcano plot)"
        axis = f"{found['measure']} of {clean_name(found['group'])} per {found['per']}"
        parts.append(figure(volcano_plot(found["effects"], axis, caption), caption))
    return section("scan", "All features, each by itself", *parts)
