"""Which form of a table a client gets, and the file that it is sent from."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srs_service.data.layout import DataFolder
from srs_service.errors import BadRequest, NotAcceptable
from srs_service.jobs.children import Questions

FORMS = {
    "application/json": "json",
    "text/csv": "csv",
    "application/vnd.apache.parquet": "parquet",
}
MEDIA_TYPES = {form: media_type for media_type, form in FORMS.items()}
DEFAULT_LIMIT = 100  # rows of a page of JSON where nothing is said


def choose_form(accept: str | None) -> str:
    """The form of the highest weight in an Accept header; JSON if it does not matter.

    >>> choose_form("text/csv"), choose_form("*/*"), choose_form("text/*;q=0.5, text/html")
    ('csv', 'json', 'csv')
    """
    best: tuple[float, str] | None = None
    for part in (accept or "*/*").split(","):
        name, *options = (piece.strip().lower() for piece in part.split(";"))
        weight = _weight(options)
        for media_type, form in FORMS.items():
            kind = media_type.split("/")[0]
            matches = name in (media_type, "*/*", f"{kind}/*")
            if matches and weight > 0 and (best is None or weight > best[0]):
                best = (weight, form)
    if best is None:
        raise NotAcceptable(f"the table is available as {', '.join(FORMS)}.")
    return best[1]


def _weight(options: list[str]) -> float:
    for option in options:
        if option.startswith("q="):
            try:
                return float(option[2:])
            except ValueError:
                raise BadRequest("the Accept header cannot be read.") from None
    return 1.0


@dataclass(frozen=True)
class Wanted:
    """What a client wants of a table.

    sort     a column, "-" before it for descending; None: as the table is
    verdict  only features with one of these; empty: all
    search   only features whose name holds this text; None: all
    offset   rows before the page
    limit    rows of the page; None: all
    """

    sort: str | None
    verdict: list[str]
    search: str | None
    offset: int
    limit: int | None

    @property
    def is_whole(self) -> bool:
        return not (self.sort or self.verdict or self.search or self.offset or self.limit)


class Exports:
    def __init__(self, questions: Questions, folder: DataFolder) -> None:
        self._questions = questions
        self._folder = folder

    def page(self, path: Path, wanted: Wanted, search_in: list[str]) -> dict[str, Any]:
        """Rows of a table as JSON values, and how many there are in all.

        search_in: columns of names
        """
        return self._questions.ask(self._order(path, wanted, search_in, "json", None))

    def write(
        self, path: Path, wanted: Wanted, search_in: list[str], form: str
    ) -> tuple[Path, bool]:
        """A file of the table in a form, and whether it is to be removed once it was sent."""
        if form == "parquet" and wanted.is_whole:
            return path, False
        out = self._folder.exports / secrets.token_hex(16)
        try:
            self._questions.ask(self._order(path, wanted, search_in, form, out), 600)
        except BaseException:
            out.unlink(missing_ok=True)
            raise
        return out, True

    @staticmethod
    def _order(
        path: Path, wanted: Wanted, search_in: list[str], form: str, out: Path | None
    ) -> dict[str, Any]:
        return {
            "work": "table",
            "path": str(path),
            "form": form,
            "search_in": search_in,
            "out": None if out is None else str(out),
            "sort": wanted.sort,
            "verdict": wanted.verdict,
            "search": wanted.search,
            "offset": wanted.offset,
            "limit": wanted.limit,
        }
