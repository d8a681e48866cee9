"""Plots draw what a result says, on the axes that they are given, and names do not touch."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot

import srs


def texts(ax):
    return " ".join(text.get_text() for text in ax.texts)


def drawn(ax):
    """Draws the figure; labels of the vertical axis that touch one another."""
    ax.figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.get_yticklabels() if t.get_text()]
    return [a for a, b in pairwise(boxes) if a.overlaps(b)]


@pytest.mark.parametrize("by", ["p_value", "effect", "importance"])
def test_features_are_rows(result, by):
    ax = result.plot.features(by=by)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == len(result.relevant_ids) >= 3
    assert any(name.startswith("gene 10 ") for name in names)
    assert max(map(len, names)) <= 28
    assert not drawn(ax)
    assert f"{len(names)} of 80" in ax.get_title("left")
    with pytest.raises(srs.SRSError, match="by must be one of"):
        result.plot.features(by="colour")


def test_effects_are_those_of_the_result(result):
    ax = result.plot.features(n=2, by="effect")
    shown = ax.lines[0].get_xdata()
    np.testing.assert_allclose(shown, result.effects["estimate"][:2])
    assert ax.get_xscale() == "log"


def test_manhattan_has_a_spot_for_every_feature(result):
    ax = result.plot.manhattan()
    spots = np.concatenate([spots.get_offsets() for spots in ax.collections])
    assert len(spots) == 80
    highest = spots[spots[:, 1].argmax()]
    assert highest[0] == result.features["p_value"].argmin()
    assert "gene" in texts(ax)


def test_evidence_pairs_profile_and_history(result):
    assert len(result.plot.evidence()) == len(result.document["outcome"]["evidence"])
    pairs = result.plot.pairs()
    assert len(pairs) == min(6, len(result.pairs))
    assert pairs[0].get_ylabel().startswith(("gene 30", "gene 31"))
    name = result.relevant_names[0]
    ax = result.plot.profile(name)
    values = result.profiles.query("name == @name")["value"]
    np.testing.assert_allclose(np.asarray(ax.lines[0].get_ydata(), float), values)
    with pytest.raises(srs.SRSError, match="there is no profile of 'gene'"):
        result.plot.profile("gene")
    history = result.plot.history()
    assert (
        history.lines[0].get_ydata()[-1] == result.document["outcome"]["history"][-1]["n_relevant"]
    )


def test_axes_that_are_given_are_used(result, explanation):
    _, axes = pyplot.subplots(1, 5)
    assert result.plot.features(ax=axes[0]) is axes[0]
    assert result.plot.manhattan(ax=axes[1]) is axes[1]
    assert result.plot.profile(result.relevant_names[0], ax=axes[2]) is axes[2]
    assert result.plot.history(ax=axes[3]) is axes[3]
    assert explanation.plot("mda", ax=axes[4]) is axes[4]


def test_every_analysis_is_drawn(explanation):
    axes = explanation.plot()
    assert list(axes) == ["mda", "per-class", "context", "network"]
    n = len(explanation.data["features"])
    assert len(axes["mda"].get_yticklabels()) == n
    assert not drawn(axes["mda"])
    assert axes["per-class"].images[0].get_array().shape == (n, 2)
    assert len(axes["network"].texts) == n
    with pytest.raises(srs.SRSError, match=r"there is no analysis 'mdaa'.*did you mean 'mda'"):
        explanation.plot("mdaa")


def test_nothing_found_is_a_sentence():
    rng = np.random.default_rng(0)
    empty = srs.select(rng.normal(size=(60, 12)), rng.permutation(np.arange(60) % 2), max_trees=40)
    assert not len(empty.relevant_ids)
    for draw in (empty.plot.features, empty.plot.pairs, lambda: empty.plot.features(by="effect")):
        with pytest.raises(srs.SRSError, match=r"nothing to draw|no pairs"):
            draw()
    empty.plot.manhattan()
    empty.plot.history()


def test_without_matplotlib_the_extra_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(srs.SRSError, match=r"srs-select\[plot\]"):
        result.plot.features()
