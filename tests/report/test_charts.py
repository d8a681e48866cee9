"""Charts of explanations: names stay on the page and apart, also of many; links do too."""

import re

import pytest

from srs.report.explained import explanation_parts
from srs.report.figures import charts
from srs.report.figures.plots import WIDTH
from tests.report.conftest import Page

LONG = "a_very_long_name_of_a_feature_that_goes_on_and_on"
LETTER = 7.0  # average width of a letter of the largest labels


def labels(svg: str) -> list[tuple[dict, str]]:
    return [
        (dict(re.findall(r'([\w-]+)="([^"]*)"', attrs)), words)
        for attrs, words in re.findall(r"<text ([^>]*)>([^<]*)</text>", svg)
    ]


def spans(svg: str) -> list[tuple[float, float, float]]:
    """Where each label that is not turned begins and ends, and its height."""
    found = []
    for attrs, words in labels(svg):
        if "transform" in attrs:
            continue
        width, anchor = LETTER * len(words), attrs.get("text-anchor", "start")
        left = float(attrs["x"]) - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        found.append((left, left + width, float(attrs["y"])))
    return found


@pytest.mark.parametrize(
    "svg",
    [
        charts.labelled_points([(f"{LONG} {i}", i / 3, i) for i in range(4)], "x", "y", "t"),
        charts.grouped_bars(
            [(LONG, [charts.Bar(LONG, i, null=2.0, note="p 0.001 * redundant") for i in range(7)])],
            [f"{LONG}{i}" for i in range(7)],
            "t",
        ),
        charts.grouped_bars(
            [(LONG, [charts.Bar(LONG, 1.0)] * 4)], [f"{LONG}{i}" for i in range(4)], "t"
        ),
        charts.error_bars(
            [charts.Bar(name=LONG, value=1.0, error=0.1, null=0.5, spread=0.2, note="p 0.001 *")],
            "t",
        ),
        charts.heat_map([LONG], [f"{LONG}{i}" for i in range(3)], [[0.5, 0.4, 0.3]], "t"),
        charts.network_plot([(f"{LONG}{i}", "b", 1.0, False) for i in range(9)], True, "t"),
    ],
    ids=["points", "many parts", "four parts", "bars", "heat map", "network"],
)
def test_labels_stay_on_the_page(svg: str) -> None:
    found = spans(svg)
    assert len(found) > 1
    for left, right, _ in found:
        assert left >= -2
        assert right <= WIDTH + 2


def test_more_parts_than_fills_are_named_at_their_bars() -> None:
    bars = [charts.Bar("f", float(i)) for i in range(6)]
    svg = charts.grouped_bars([("f", bars)], [f"<site {i}>" for i in range(6)], "t")
    assert [words for _, words in labels(svg)][1:] == [f"&lt;site {i}&gt;: {i}" for i in range(6)]
    assert len(set(re.findall(r'<rect class="([\w-]+)"', svg))) == 1
    few = charts.grouped_bars([("f", bars[:4])], list("abcd"), "t")
    assert len(set(re.findall(r'<rect class="([\w-]+)"', few))) == 4


def test_many_classes_have_upright_names_and_no_numbers_on_top_of_each_other() -> None:
    names = [f"cell type {i}" for i in range(18)]
    svg = charts.heat_map(["f"], names, [[0.1] * 18], "t")
    assert [words for attrs, words in labels(svg) if "transform" in attrs] == names
    assert [words for _, words in labels(svg) if words == "0.10"] == []
    assert svg.count("<title>f, cell type") == 18  # numbers are told by the pointer, and below
    assert charts.heat_map(["f"], ["a", "b"], [[0.1, 0.2]], "t").count(">0.20<") == 1


def test_nodes_and_directions_are_told_apart() -> None:
    names = [f"gene{i:02d}" for i in range(50)]
    svg = charts.network_plot(list(zip(names, names[1:], [1.0] * 49, [False] * 49)), True, "t")  # noqa: B905
    assert ["rotate" in attrs["transform"] for attrs, _ in labels(svg)] == [True] * 50
    both = charts.network_plot([("a", "b", 1.0, False), ("b", "a", 0.5, False)], True, "t")
    bends = re.findall(r'class="link" d="M[\d.,]+Q([\d.]+),([\d.]+) ', both)
    (x1, y1), (x2, y2) = [tuple(map(float, bend)) for bend in bends]
    assert abs(x1 - x2) + abs(y1 - y2) > 20


def row(feature: str, part: str, value: float, **others) -> dict:
    return {
        "feature": feature,
        "part": part,
        "value": value,
        "error": None,
        "null": None,
        "p_value": None,
        "q_value": None,
        "label": None,
        **others,
    }


def sections(kind: str, rows: list[dict]) -> Page:
    data = {"n_samples": 9, "n_features": 3, "target": None, "notices": []}
    analysis = {"name": kind, "rows": rows, "notes": [], "settings": {"context": "Sex"}}
    return Page("".join(explanation_parts({"data": data, "analyses": [analysis]})))


def test_links_of_each_context_have_a_drawing() -> None:
    def link(context: str, label: str | None) -> dict:
        return row(
            "a",
            f"b | {context}",
            1.0,
            p_value=0.01 if label else 0.5,
            label=label,
            target="b",
            context=context,
        )

    page = sections("context-network", [link("day", "stronger"), link("night", "weaker")])
    assert len(page.all("svg")) == 2
    dashed = [
        bool(path.get("stroke-dasharray"))
        for path in page.all("path")
        if path.get("class") == "link"
    ]
    assert dashed == [False, True]
    assert page.text.count("In the context") == len(page.all("figcaption")) == 2
    assert "Context Sex." in page.text
    none = sections("context-network", [link("day", None)])
    assert "No link has a p-value below 0.05 in any context." in none.text
    assert not none.all("svg")


def test_only_positive_pairs_of_a_connectome_are_drawn() -> None:
    page = sections("connectome", [row("a", "b", 0.3), row("a", "c", -0.9)])
    assert len([path for path in page.all("path") if path.get("class") == "link"]) == 1
    none = sections("connectome", [row("a", "b", -0.3)])
    assert "No pair has a positive partial correlation." in none.text
    assert not none.all("svg")
