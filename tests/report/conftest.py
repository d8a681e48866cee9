"""Results of real runs, made once, and a check that a page is well formed."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from srs.ingest import ingest
from srs.results.result import Result
from srs.selection.select import select

VOID = {"meta", "input", "br", "hr", "img", "link"}
SHORT: dict[str, Any] = {"memory": "2GB", "threads": 1, "max_trees": 300}
HOSTILE = "<script>alert(1)</script>\"&'\x1b[31m"


class Page(HTMLParser):
    """A parsed page: fails on unbalanced tags, and keeps what tests ask for."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for found, attrs in self.tags if found == tag]


def _data(n_features: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, n_features))
    return X, X[:, 0] + X[:, n_features // 2]


@pytest.fixture(scope="session")
def found() -> Result:
    """Two features relevant to classes; names that try to break out of the page."""
    X, signal = _data()
    names = [HOSTILE, *(f"gene {i}" for i in range(1, 120))]
    store = ingest(X, target=np.where(signal > 0, "<b>ill", "well"), names=names)
    return select(store, **SHORT, holdout=0.25, pinned=["gene 5"])


@pytest.fixture(scope="session")
def numeric() -> Result:
    """A numeric target."""
    X, signal = _data()
    return select(ingest(X, target=signal), **SHORT, holdout=0.25)


@pytest.fixture(scope="session")
def nothing() -> Result:
    """A target that has nothing to do with the features."""
    X, _ = _data()
    target = np.arange(240) % 2
    return select(ingest(X, target=target), **SHORT, fdr=1e-9)


@pytest.fixture(scope="session")
def paper() -> Result:
    X, signal = _data()
    store = ingest(X, target=(signal > 0).astype(int))
    return select(store, memory="2GB", threads=1, mode="paper", max_trees=300, subspace_size=30)


@pytest.fixture(scope="session")
def single() -> Result:
    """One feature."""
    X, signal = _data()
    store = ingest(X[:, :1], target=(signal > 0).astype(int))
    return select(store, memory="2GB", threads=1, max_passes=20)


@pytest.fixture(params=["found", "numeric", "nothing", "paper", "single"])
def any_result(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)
