"""Write docs/licences.md, the licence of each dependency, from what is installed: `make generate`.

Versions are those of constraints.txt, so that the page says what was looked at. Which distribution
belongs to which extra comes from pyproject.toml.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from importlib.metadata import files as files_of
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "licences.md"
KNOWN = ("Apache License", "Apache-2.0", "MIT License", "BSD 3-Clause", "Mozilla Public License")
SHOWN = ("cluster", "jobs", "objects", "client", "service", "formats", "plot", "crate")
HEAD = """# Licences of dependencies

srs is under the [BSD 3-Clause licence](../LICENSE). This page lists the packages that it asks for,
with the licence that each says it has. It is written by `make generate` from the metadata of the
installed packages; packages that those ask for in turn are not listed. None of their code is part
of srs.

| package | version | licence | needed by |
|---|---|---|---|
"""


def requirements() -> dict[str, list[str]]:
    """Names of packages, and the extras that ask for them; "srs" is no extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    found: dict[str, list[str]] = {}
    for where, lines in (("srs", project["dependencies"]), *((e, extras[e]) for e in SHOWN)):
        for line in lines:
            found.setdefault(re.split(r"[\[<>=!~; ]", line)[0], []).append(where)
    return found


def versions() -> dict[str, str]:
    """Versions by constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text().split()
    return {_plain(name): number for name, _, number in (line.partition("==") for line in lines)}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(told: PackageMetadata) -> str:
    """What a package says its licence is: an expression, else a classifier, else a short text."""
    if expression := told.get("License-Expression"):
        return expression
    classifiers = told.get_all("Classifier") or ()
    named = [one.split(" :: ")[-1] for one in classifiers if one.startswith("License")]
    if named:
        return ", ".join(named)
    if text := (told.get("License") or "").strip():
        return text.split("\n")[0][:60]
    files = [f for f in files_of(told["Name"]) or () if "LICENSE" in f.name.upper()]
    text = files[0].read_text() if files else ""
    return next((name for name in KNOWN if name in text), "not said")


def rows() -> Iterator[str]:
    pinned = versions()
    for name, extras in sorted(requirements().items()):
        try:
            told = licence(metadata(name))
        except PackageNotFoundError:
            continue
        yield f"| {name} | {pinned.get(_plain(name), '')} | {told} | {', '.join(extras)} |"


def main() -> int:
    """Write the page; with --check only say whether it is stale."""
    text = HEAD + "\n".join(rows()) + "\n"
    if "--check" in sys.argv:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
