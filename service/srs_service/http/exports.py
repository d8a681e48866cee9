"""Which form of a table a client gets, and the file that it is sent from."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from srs_service.data.layout import DataFolder
from srs_service.errors import BadRequest, NotAcceptable, TooMany
from srs_service.jobs.children import Questions

FORMS = {
    "application/json": "json",
    "text/csv": "csv",
    "application/vnd.apache.parquet": "parquet",
}
MEDIA_TYPES = {form: media_type for media_type, form in FORMS.items()}
ENCODINGS = ("zstd", "gzip")  # that CSV files are compressed by, the quickest first
MAX_FILES = 100  # of one user that are written or sent
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


def choose_encoding(accept: str | None, known: Sequence[str] = ENCODINGS) -> str | None:
    """What a file may be compressed by; None: it is sent as it is.

    >>> choose_encoding("gzip, deflate, br, zstd"), choose_encoding("gzip;q=0"), choose_encoding("")
    ('zstd', None, None)
    """
    taken = set()
    for part in (accept or "").split(","):
        name, *options = (piece.strip().lower() for piece in part.split(";"))
        if _weight(options) > 0:
            taken.add(name)
    return next((one for one in known if one in taken), None)


def _weight(options: list[str]) -> float:
    for option in options:
        if option.startswith("q="):
            try:
                return float(option[2:])
            except ValueError:
                raise BadRequest("the header Accept or Accept-Encoding cannot be read.") from None
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


@dataclass(frozen=True)
class Table:
    """A table of a result.

    name       which it is, for cursors
    search_in  columns of names
    """

    name: str
    path: Path
    search_in: list[str]


class ExportFile(FileResponse):
    """A file that is there for one response: it goes with it, also if the client does not wait."""

    def __init__(self, path: Path, on_end: Callable[[], None], **options: Any) -> None:
        super().__init__(path, **options)
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()


class Exports:
    """Tables for requests: pages of them, and files, of which a user may have some at once."""

    def __init__(self, questions: Questions, folder: DataFolder) -> None:
        self._questions = questions
        self._folder = folder
        self._open: Counter[str] = Counter()

    async def page(self, owner: str, table: Table, wanted: Wanted) -> dict[str, Any]:
        """Rows of a table as JSON values, and how many there are in all."""
        return await self._questions.ask(owner, _order(table, wanted, "json"))

    async def send(
        self, owner: str, table: Table, wanted: Wanted, form: str, encoding: str | None
    ) -> Response:
        """A file of the table in a form, compressed if the client takes it so."""
        filename = f"{table.path.stem}.{form}"
        if form == "parquet" and wanted.is_whole:
            return FileResponse(table.path, media_type=MEDIA_TYPES[form], filename=filename)
        if self._open[owner] >= MAX_FILES:
            raise TooMany(
                f"{self._open[owner]} exports of yours are under way, and the limit is "
                f"{MAX_FILES}: try again when some are done.",
                retry_after=5,
                limit=MAX_FILES,
            )
        out = self._folder.exports / secrets.token_hex(16)
        self._open[owner] += 1
        headers = {"Vary": "Accept, Accept-Encoding"}
        if encoding is not None:
            headers["Content-Encoding"] = encoding
        order = _order(table, wanted, form) | {"out": str(out), "encoding": encoding}
        try:
            await self._questions.export(owner, order)
        except BaseException:
            self._end(owner, out)
            raise
        return ExportFile(
            out,
            lambda: self._end(owner, out),
            media_type=MEDIA_TYPES[form],
            filename=filename,
            headers=headers,
        )

    def _end(self, owner: str, out: Path) -> None:
        out.unlink(missing_ok=True)
        self._open[owner] -= 1
        if not self._open[owner]:
            del self._open[owner]


def _order(table: Table, wanted: Wanted, form: str) -> dict[str, Any]:
    return {
        "work": "table",
        "path": str(table.path),
        "form": form,
        "search_in": table.search_in,
        **asdict(wanted),
    }
