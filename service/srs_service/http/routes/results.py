"""Results: documents, tables and reports of jobs that succeeded."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from srs_service.auth.authentication import Reader
from srs_service.data.layout import TARGETS_NAME, target_folder
from srs_service.database.keys import Caller
from srs_service.errors import BadRequest, Conflict, NotFound
from srs_service.http.exports import DEFAULT_LIMIT, Table, Wanted, choose_encoding, choose_form
from srs_service.http.routes.parts import Cursor, JobId, PartsOf
from srs_service.job import Job, JobKind
from srs_service.schemas.analyses import AnalysisName
from srs_service.schemas.problems import problem_responses
from srs_service.schemas.results import (
    AnalysisPage,
    AnalysisSort,
    Comparison,
    EffectPage,
    EffectSort,
    FeaturePage,
    FeatureSort,
    PairPage,
    PairSort,
    ProfilePage,
    ProfileSort,
    Verdict,
)

router = APIRouter(prefix="/v1/jobs/{job_id:id}", tags=["results"])
compare_router = APIRouter(prefix="/v1", tags=["results"])
JOB_ID = r"^j_[0-9a-f]{32}$"
PROBLEMS = problem_responses(*[401, 403, 404, 409, 422, 429, 503])
DOCUMENTS = {JobKind.SELECT: "result.json", JobKind.EXPLAIN: "explain.json"}
MAX_PACKED = 64 << 20  # bytes of a file that is compressed when it is sent
PAIR_NAMES = ["name", "partner"]  # where names are searched
REPORTS = {JobKind.SELECT: "report.html", JobKind.EXPLAIN: "explain.html"}
OVERVIEW_PAGE = "overview.html"
TABLE_FORMS: dict[str, Any] = {
    "text/csv": {"schema": {"type": "string"}},
    "application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}},
}
TABLE_PROBLEMS = problem_responses(*[400, 401, 403, 404, 406, 409, 422, 429, 503])
# A report brings its scripts and styles with it, and may load nothing else.
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)

OfTarget = Annotated[
    str | None,
    Query(min_length=1, max_length=200, description="of a selection of many targets: which"),
]
RowLimit = Annotated[
    int | None, Query(ge=1, le=10_000, description="rows of a page; CSV, Parquet: default all")
]
Search = Annotated[
    str | None, Query(min_length=1, max_length=200, description="only names that contain this text")
]
Accept = Annotated[str | None, Header(max_length=500, include_in_schema=False)]
Format = Annotated[
    Literal["json", "csv", "parquet"] | None,
    Query(description="replaces the Accept header, for links that cannot send headers"),
]


class Asked:
    """What all tables may be asked for.

    form      in which it is sent
    encoding  by which a CSV file is compressed on its way; None: not
    """

    def __init__(
        self,
        search: Search = None,
        limit: RowLimit = None,
        cursor: Cursor = None,
        format: Format = None,
        accept: Accept = None,
        accept_encoding: Accept = None,
    ) -> None:
        self.search = search
        self.limit = limit
        self.cursor = cursor
        self.form = format or choose_form(accept)
        self.encoding = choose_encoding(accept_encoding) if self.form == "csv" else None


AskedOf = Annotated[Asked, Depends()]


class Download:
    """How a file of a result is sent: a part of it, compressed, or as it is."""

    def __init__(
        self,
        range: Annotated[str | None, Header(include_in_schema=False)] = None,
        accept_encoding: Accept = None,
    ) -> None:
        self._is_part = range is not None
        self._encoding = choose_encoding(accept_encoding, ("gzip",))

    def send(
        self, path: Path, media_type: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        told = {**(headers or {}), "Vary": "Accept-Encoding"}
        small = path.stat().st_size <= MAX_PACKED
        if self._is_part or self._encoding is None or not small:
            return FileResponse(path, media_type=media_type, headers=told)
        told["Content-Encoding"] = self._encoding
        packed = gzip.compress(path.read_bytes(), compresslevel=1, mtime=0)
        return Response(packed, headers=told, media_type=media_type)


@router.get(
    "/result",
    summary="The result",
    response_class=Response,
    responses={
        200: {"content": {"application/json": {"schema": {"type": "object"}}}},
        206: {
            "description": "the bytes of `Range`",
            "content": {"application/json": {"schema": {"type": "string", "format": "binary"}}},
        },
        **PROBLEMS,
    },
)
def result(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: Annotated[Download, Depends()],
    target: OfTarget = None,
) -> Response:
    """`result.json` of a selection, `explain.json` of an explanation; of a selection of many
    targets `targets.json`, or what one of them has."""
    job, folder = find_result(parts, caller.owner, job_id, DOCUMENTS, target, whole=True)
    is_many = folder.joinpath(TARGETS_NAME).is_file()
    name = TARGETS_NAME if is_many else DOCUMENTS[job.kind]
    return asked.send(folder / name, "application/json")


@router.get(
    "/report",
    summary="The report, for people",
    response_class=Response,
    responses={
        200: {"content": {"text/html": {"schema": {"type": "string"}}}},
        206: {
            "description": "the bytes of `Range`",
            "content": {"text/html": {"schema": {"type": "string"}}},
        },
        **PROBLEMS,
    },
)
def report(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: Annotated[Download, Depends()],
    target: OfTarget = None,
) -> Response:
    """Of a selection of many targets the overview, or the report of one of them."""
    job, folder = find_result(parts, caller.owner, job_id, REPORTS, target, whole=True)
    is_many = folder.joinpath(TARGETS_NAME).is_file()
    name = OVERVIEW_PAGE if is_many else REPORTS[job.kind]
    return asked.send(folder / name, "text/html", {"Content-Security-Policy": REPORT_POLICY})


@router.get(
    "/features",
    summary="All features of a selection",
    response_model=FeaturePage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
async def features(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: AskedOf,
    target: OfTarget = None,
    verdict: Annotated[list[Verdict] | None, Query(description="only these; repeat")] = None,
    sort: Annotated[FeatureSort | None, Query(description="column; -column: descending")] = None,
) -> Response | FeaturePage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`."""
    path = await find_table(parts, caller, job_id, "features", target)
    table = Table(_of(job_id, target), path, ["name"])
    found = await read_rows(parts, caller, table, asked, wanted_rows(asked, sort, verdict))
    return found if isinstance(found, Response) else FeaturePage(**found)


@router.get(
    "/pairs",
    summary="Pairs of features that matter together",
    response_model=PairPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
async def pairs(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: AskedOf,
    target: OfTarget = None,
    sort: Annotated[PairSort | None, Query(description="column; -column: descending")] = None,
) -> Response | PairPage:
    """The most certain first, as JSON, CSV or Parquet by `Accept`; links may say `format`. 404 if
    the selection did not look at pairs; empty if it found none."""
    path = await find_table(parts, caller, job_id, "pairs", target)
    if not path.is_file():
        raise NotFound("the selection did not look at pairs.")
    table = Table(_of(f"{job_id} pairs", target), path, PAIR_NAMES)
    found = await read_rows(parts, caller, table, asked, wanted_rows(asked, sort))
    return found if isinstance(found, Response) else PairPage(**found)


@router.get(
    "/effects",
    summary="How large the effects of relevant features are",
    response_model=EffectPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
async def effects(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: AskedOf,
    target: OfTarget = None,
    sort: Annotated[EffectSort | None, Query(description="column; -column: descending")] = None,
) -> Response | EffectPage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`. 404 for
    results of earlier versions."""
    path = await _effect_table(parts, caller, job_id, "effects", target)
    table = Table(_of(f"{job_id} effects", target), path, ["name"])
    found = await read_rows(parts, caller, table, asked, wanted_rows(asked, sort))
    return found if isinstance(found, Response) else EffectPage(**found)


@router.get(
    "/profiles",
    summary="The target by levels of relevant features",
    response_model=ProfilePage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
async def profiles(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: AskedOf,
    target: OfTarget = None,
    sort: Annotated[ProfileSort | None, Query(description="column; -column: descending")] = None,
) -> Response | ProfilePage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`. 404 for
    results of earlier versions."""
    path = await _effect_table(parts, caller, job_id, "profiles", target)
    table = Table(_of(f"{job_id} profiles", target), path, ["name"])
    found = await read_rows(parts, caller, table, asked, wanted_rows(asked, sort))
    return found if isinstance(found, Response) else ProfilePage(**found)


@router.get(
    "/analyses/{analysis}",
    summary="The table of an analysis of an explanation",
    response_model=AnalysisPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
async def analysis(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    analysis: AnalysisName,
    asked: AskedOf,
    sort: Annotated[AnalysisSort | None, Query(description="column; -column: descending")] = None,
) -> Response | AnalysisPage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`."""
    folder = await find_folder(parts, caller, job_id, JobKind.EXPLAIN)
    path = folder / f"{analysis}.parquet"
    if not path.is_file():
        raise NotFound(f"the analysis {analysis} is not part of this job.")
    table = Table(job_id, path, ["feature"])
    found = await read_rows(parts, caller, table, asked, wanted_rows(asked, sort))
    return found if isinstance(found, Response) else AnalysisPage(**found)


@compare_router.get("/compare", summary="Compare two selections", responses=TABLE_PROBLEMS)
async def compare(
    parts: PartsOf,
    caller: Reader,
    a: Annotated[str, Query(pattern=JOB_ID, description="id of a selection that succeeded")],
    b: Annotated[str, Query(pattern=JOB_ID, description="id of the other one")],
    target_a: OfTarget = None,
    target_b: OfTarget = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="names and changes, at most")] = 1_000,
) -> Comparison:
    """How many relevant features they share, and which verdicts changed, by the names of features:
    the two may be of different datasets, or two targets of one selection of many."""
    paths = [
        str(await find_table(parts, caller, job_id, "features", target))
        for job_id, target in ((a, target_a), (b, target_b))
    ]
    order = {"work": "compare", "a": paths[0], "b": paths[1], "limit": limit}
    return Comparison(a=a, b=b, **await parts.questions.ask(caller.owner, order))


async def _effect_table(
    parts: PartsOf, caller: Caller, job_id: str, name: str, target: str | None
) -> Path:
    path = await find_table(parts, caller, job_id, name, target)
    if not path.is_file():
        raise NotFound(f"the result is of an earlier version and has no {name}.")
    return path


def _of(table: str, target: str | None) -> str:
    return table if target is None else f"{table} of {target}"


async def find_table(
    parts: PartsOf, caller: Caller, job_id: str, name: str, target: str | None
) -> Path:
    """Where a table of a selection is, if it has it."""
    folder = await find_folder(parts, caller, job_id, JobKind.SELECT, target)
    return folder / f"{name}.parquet"


async def find_folder(
    parts: PartsOf, caller: Caller, job_id: str, kind: JobKind, target: str | None = None
) -> Path:
    _, folder = await run_in_threadpool(
        find_result, parts, caller.owner, job_id, {kind}, target=target
    )
    return folder


def find_result(
    parts: PartsOf,
    owner: str,
    job_id: str,
    kinds: Any,
    target: str | None = None,
    *,
    whole: bool = False,
) -> tuple[Job, Path]:
    """A job of one of these kinds, and the folder of its result.

    target  of a selection of many targets: which
    whole   without it, the folder of all targets; else NotFound
    """
    job = parts.store.jobs.get(job_id, owner)
    if job.kind not in kinds:
        raise NotFound(f"a job of the kind {job.kind} has no such result.")
    if job.result_fence is None:
        raise Conflict(f"the job is {job.status}: there is no result yet.", job=job.status)
    folder = parts.folder.attempt(job_id, job.result_fence)
    if target is not None:
        return job, target_folder(folder, target)
    if job.spec.get("targets") is not None and not whole:
        raise NotFound("the selection has many targets: say which (target), see /targets.")
    return job, folder


def wanted_rows(asked: Asked, sort: str | None, verdict: list[Verdict] | None = None) -> Wanted:
    return Wanted(sort, list(verdict or ()), asked.search, 0, asked.limit)


async def read_rows(
    parts: PartsOf, caller: Caller, table: Table, asked: Asked, wanted: Wanted
) -> Response | dict[str, Any]:
    """A file of the table, or the members of a page of it."""
    offset = 0
    if asked.cursor is not None:
        place, whose = parts.cursors.read(asked.cursor)
        if whose != _page_name(table, wanted):
            raise BadRequest("the cursor belongs to another list: start again without it.")
        offset = int(place)
    limit = DEFAULT_LIMIT if asked.form == "json" and wanted.limit is None else wanted.limit
    wanted = replace(wanted, offset=offset, limit=limit)
    if asked.form != "json":
        return await parts.exports.send(caller.owner, table, wanted, asked.form, asked.encoding)
    found = await parts.exports.page(caller.owner, table, wanted)
    end = wanted.offset + len(found["items"])
    more = end < found["n_total"]
    name = _page_name(table, wanted)
    return {**found, "next_cursor": parts.cursors.write(end, name) if more else None}


def _page_name(table: Table, wanted: Wanted) -> str:
    return f"{table.name} {wanted.sort} {sorted(wanted.verdict)} {wanted.search}"
