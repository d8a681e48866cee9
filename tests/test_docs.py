"""Documents: decision records have one form and an index, and generated pages are up to date."""

import re
from dataclasses import dataclass
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import page
from benchmarks.__main__ import NAMES
from benchmarks.output import read_rows

ROOT = Path(__file__).resolve().parents[1]

DOCS = Path(__file__).resolve().parents[1] / "docs"
RECORDS = sorted((DOCS / "adr").glob("[0-9]*.md"))
HEADINGS = ["Context", "Decision", "Evidence", "Status"]
SHORTEST, LONGEST = 120, 350  # words
SUPERSEDED = re.compile(r"superseded by \[(\d{4})\]\((\d{4}-[a-z0-9-]+\.md)\)", re.I)


@dataclass(frozen=True)
class Record:
    """A decision record as its file says it; sections by heading, in their order."""

    path: Path
    number: str
    title: str
    date: str
    sections: dict[str, str]

    @property
    def status(self) -> str:
        return self.sections["Status"].removesuffix(".")

    @property
    def index_row(self) -> str:
        status = self.status[0].lower() + self.status[1:]
        return f"| [{self.number}]({self.path.name}) | {self.date} | {self.title} | {status} |"


def read_record(path: Path) -> Record:
    text = path.read_text(encoding="utf-8")
    head = re.match(r"# (\d{4})\. (.+)\n\nDate: (\d{4}-\d\d-\d\d)\n\n## ", text)
    assert head, f"{path.name} must start with its number, title and date"
    parts = [part.partition("\n") for part in re.split(r"^## ", text, flags=re.M)[1:]]
    sections = {heading: body.strip() for heading, _, body in parts}
    assert len(sections) == len(parts), f"{path.name} has a heading twice"
    return Record(path, head[1], head[2], head[3], sections)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_one_form(path):
    record = read_record(path)
    assert re.fullmatch(rf"{record.number}-[a-z0-9]+(-[a-z0-9]+)*\.md", path.name)
    assert list(record.sections) == HEADINGS
    assert all(record.sections.values()), "a section is empty"
    assert record.status == "Accepted" or SUPERSEDED.fullmatch(record.status)
    n_words = len(path.read_text(encoding="utf-8").split())
    assert SHORTEST <= n_words <= LONGEST, f"{n_words} words"


def test_records_are_numbered_by_date():
    records = [read_record(path) for path in RECORDS]
    assert [int(r.number) for r in records] == list(range(1, len(records) + 1))
    dates = [date.fromisoformat(r.date) for r in records]
    assert dates == sorted(dates)


def test_the_index_is_that_of_the_records():
    index = (DOCS / "adr" / "README.md").read_text(encoding="utf-8").splitlines()
    listed = [line for line in index if line.startswith("| [")]
    assert listed == [read_record(path).index_row for path in RECORDS]


def test_a_superseded_record_and_its_successor_name_each_other():
    statuses = {path: SUPERSEDED.match(read_record(path).status) for path in RECORDS}
    replaced = {path: found for path, found in statuses.items() if found}
    assert replaced
    for path, found in replaced.items():
        successor = DOCS / "adr" / found[2]
        assert successor.name.startswith(found[1]), path.name
        assert successor in RECORDS, f"{path.name} names {successor.name}, which is not there"
        assert read_record(successor).number > read_record(path).number
        assert f"]({path.name})" in successor.read_text(encoding="utf-8")


def test_links_lead_somewhere():
    pages = [*RECORDS, DOCS / "adr" / "README.md", DOCS / "benchmarks.md"]
    broken = [
        f"{file.name}: {link}"
        for file in pages
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", file.read_text(encoding="utf-8"))
        if not (file.parent / link).exists()
    ]
    assert not broken


def test_parts_that_records_name_exist():
    named = {
        (path.name, part)
        for path in RECORDS
        for part in re.findall(r"`((?:srs|service|deploy)/[\w./-]*)`", path.read_text("utf-8"))
    }
    assert named
    assert not [where for where in named if not (DOCS.parent / where[1]).exists()]


def test_the_page_of_benchmarks_is_up_to_date():
    written = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert written == page.render(), "run `python -m benchmarks page`"


def test_figures_say_what_they_are_and_where_they_come_from():
    rows = read_rows(page.FIGURES)
    assert tuple(rows[0]) == page.COLUMNS
    for row in rows:
        assert row["topic"], row
        assert row["what"], row
        assert row["value"], row
        assert row["machine"], row
        assert bool(row["peer"]) == bool(row["peer_value"]), row
        date.fromisoformat(row["date"])


def test_commands_of_figures_exist():
    for command in {row["command"] for row in read_rows(page.FIGURES)}:
        found = re.match(r"python -m benchmarks(?:\.([\w.]+)| (\w+))", command)
        if found is None:
            assert command in ("", "make test", "make test-long"), command
        elif found[2]:
            assert found[2] in NAMES, command
        else:
            assert find_spec(f"benchmarks.{found[1]}"), command


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/develop/architecture.md"])
def test_paths_and_commands_that_developers_are_told_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    paths = re.findall(r"`((?:srs|service|tests|docs|benchmarks)/[\w./-]+\w)`", text)
    assert len(paths) > 3
    for path in paths:
        assert "NAME" in path or (ROOT / path).exists(), path
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make (\w+)", text):
        assert re.search(rf"^{target}:", makefile, re.M), target
