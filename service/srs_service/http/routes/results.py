"""Results: documents, tables and reports of jobs that succeeded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from srs_service.auth.authentication import Reader
from srs_service.data.layout import TARGETS_NAME, target_folder
from srs_service.errors import BadRequest, Conflict, NotFound
from srs_service.http.exports import DEFAULT_LIMIT, MEDIA_TYPES, Wanted, choose_form
from srs_service.http.routes.parts import Cursor, JobId, PartsOf
from srs_service.job import Job, JobKind
from srs_service.schemas.analyses import AnalysisName
from srs_service.schemas.problems import problem_responses
from srs_service.schemas.results import (
    AnalysisPage,
    AnalysisSort,
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
PROBLEMS = problem_responses(*[401, 403, 404, 409, 422, 429, 503])
DOCUMENTS = {JobKind.SELECT: "result.json", JobKind.EXPLAIN: "explain.json"}
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


@router.get(
    "/result",
    summary="The result",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}, **PROBLEMS},
)
def result(parts: PartsOf, caller: Reader, job_id: JobId, target: OfTarget = None) -> Response:
    """`result.json` of a selection, `explain.json` of an explanation; of a selection of many
    targets `targets.json`, or what one of them has."""
    job, folder = find_result(parts, caller.owner, job_id, DOCUMENTS, target, whole=True)
    is_many = folder.joinpath(TARGETS_NAME).is_file()
    name = TARGETS_NAME if is_many else DOCUMENTS[job.kind]
    return FileResponse(folder / name, media_type="application/json")


@router.get(
    "/report",
    summary="The report, for people",
    response_class=Response,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}, **PROBLEMS},
)
def report(parts: PartsOf, caller: Reader, job_id: JobId, target: OfTarget = None) -> Response:
    """Of a selection of many targets the overview, or the report of one of them."""
    job, folder = find_result(parts, caller.owner, job_id, REPORTS, target, whole=True)
    is_many = folder.joinpath(TARGETS_NAME).is_file()
    return FileResponse(
        folder / (OVERVIEW_PAGE if is_many else REPORTS[job.kind]),
        media_type="text/html",
        headers={"Content-Security-Policy": REPORT_POLICY},
    )


@router.get(
    "/features",
    summary="All features of a selection",
    response_model=FeaturePage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
def features(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    target: OfTarget = None,
    verdict: Annotated[list[Verdict] | None, Query(description="only these; repeat")] = None,
    sort: Annotated[FeatureSort | None, Query(description="column; -column: descending")] = None,
    search: Search = None,
    limit: RowLimit = None,
    cursor: Cursor = None,
    format: Format = None,
    accept: Accept = None,
) -> Response | FeaturePage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`."""
    _, folder = find_result(parts, caller.owner, job_id, {JobKind.SELECT}, target)
    wanted = Wanted(sort, list(verdict or ()), search, 0, limit)
    form = format or choose_form(accept)
    table = job_id if target is None else f"{job_id} of {target}"
    wanted = place_page(parts, table, wanted, cursor, form)
    path = folder / "features.parquet"
    if form != "json":
        return send_table(parts, path, wanted, ["name"], form)
    found = parts.exports.page(path, wanted, ["name"])
    return FeaturePage(**found, next_cursor=next_page(parts, table, wanted, found))


@router.get(
    "/pairs",
    summary="Pairs of features that matter together",
    response_model=PairPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
def pairs(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    target: OfTarget = None,
    sort: Annotated[PairSort | None, Query(description="column; -column: descending")] = None,
    search: Search = None,
    limit: RowLimit = None,
    cursor: Cursor = None,
    format: Format = None,
    accept: Accept = None,
) -> Response | PairPage:
    """The most certain first, as JSON, CSV or Parquet by `Accept`; links may say `format`. 404 if
    the selection did not look at pairs; empty if it found none."""
    _, folder = find_result(parts, caller.owner, job_id, {JobKind.SELECT}, target)
    path = folder / "pairs.parquet"
    if not path.is_file():
        raise NotFound("the selection did not look at pairs.")
    form = format or choose_form(accept)
    table = f"{job_id} pairs" + (f" of {target}" if target else "")
    wanted = place_page(parts, table, Wanted(sort, [], search, 0, limit), cursor, form)
    if form != "json":
        return send_table(parts, path, wanted, PAIR_NAMES, form)
    found = parts.exports.page(path, wanted, PAIR_NAMES)
    return PairPage(**found, next_cursor=next_page(parts, table, wanted, found))


@router.get(
    "/effects",
    summary="How large the effects of relevant features are",
    response_model=EffectPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
def effects(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    target: OfTarget = None,
    sort: Annotated[EffectSort | None, Query(description="column; -column: descending")] = None,
    search: Search = None,
    limit: RowLimit = None,
    cursor: Cursor = None,
    format: Format = None,
    accept: Accept = None,
) -> Response | EffectPage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`. 404 for
    results of earlier versions."""
    path = _effect_table(parts, caller.owner, job_id, "effects", target)
    form = format or choose_form(accept)
    table = f"{job_id} effects" + (f" of {target}" if target else "")
    wanted = place_page(parts, table, Wanted(sort, [], search, 0, limit), cursor, form)
    if form != "json":
        return send_table(parts, path, wanted, ["name"], form)
    found = parts.exports.page(path, wanted, ["name"])
    return EffectPage(**found, next_cursor=next_page(parts, table, wanted, found))


@router.get(
    "/profiles",
    summary="The target by levels of relevant features",
    response_model=ProfilePage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
def profiles(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    target: OfTarget = None,
    sort: Annotated[ProfileSort | None, Query(description="column; -column: descending")] = None,
    search: Search = None,
    limit: RowLimit = None,
    cursor: Cursor = None,
    format: Format = None,
    accept: Accept = None,
) -> Response | ProfilePage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`. 404 for
    results of earlier versions."""
    path = _effect_table(parts, caller.owner, job_id, "profiles", target)
    form = format or choose_form(accept)
    table = f"{job_id} profiles" + (f" of {target}" if target else "")
    wanted = place_page(parts, table, Wanted(sort, [], search, 0, limit), cursor, form)
    if form != "json":
        return send_table(parts, path, wanted, ["name"], form)
    found = parts.exports.page(path, wanted, ["name"])
    return ProfilePage(**found, next_cursor=next_page(parts, table, wanted, found))


@router.get(
    "/analyses/{analysis}",
    summary="The table of an analysis of an explanation",
    response_model=AnalysisPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
def analysis(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    analysis: AnalysisName,
    sort: Annotated[AnalysisSort | None, Query(description="column; -column: descending")] = None,
    search: Search = None,
    limit: RowLimit = None,
    cursor: Cursor = None,
    format: Format = None,
    accept: Accept = None,
) -> Response | AnalysisPage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`."""
    _, folder = find_result(parts, caller.owner, job_id, {JobKind.EXPLAIN})
    path = folder / f"{analysis}.parquet"
    if not path.is_file():
        raise NotFound(f"the analysis {analysis} is not part of this job.")
    form = format or choose_form(accept)
    wanted = place_page(parts, job_id, Wanted(sort, [], search, 0, limit), cursor, form)
    if form != "json":
        return send_table(parts, path, wanted, ["feature"], form)
    found = parts.exports.page(path, wanted, ["feature"])
    return AnalysisPage(**found, next_cursor=next_page(parts, job_id, wanted, found))


def _effect_table(parts: PartsOf, owner: str, job_id: str, name: str, target: str | None) -> Path:
    _, folder = find_result(parts, owner, job_id, {JobKind.SELECT}, target)
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise NotFound(f"the result is of an earlier version and has no {name}.")
    return path


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


def place_page(parts: PartsOf, table: str, wanted: Wanted, cursor: str | None, form: str) -> Wanted:
    """What is wanted with the place of the page filled in; table: the job, and which of its."""
    offset = 0
    if cursor is not None:
        place, whose = parts.cursors.read(cursor)
        if whose != _page_name(table, wanted):
            raise BadRequest("the cursor belongs to another list: start again without it.")
        offset = int(place)
    limit = DEFAULT_LIMIT if form == "json" and wanted.limit is None else wanted.limit
    return Wanted(wanted.sort, wanted.verdict, wanted.search, offset, limit)


def _page_name(table: str, wanted: Wanted) -> str:
    return f"{table} {wanted.sort} {sorted(wanted.verdict)} {wanted.search}"


def next_page(parts: PartsOf, table: str, wanted: Wanted, found: dict[str, Any]) -> str | None:
    end = wanted.offset + len(found["items"])
    if end >= found["n_total"]:
        return None
    return parts.cursors.write(end, _page_name(table, wanted))


def send_table(
    parts: PartsOf, path: Path, wanted: Wanted, search_in: list[str], form: str
) -> Response:
    file, temporary = parts.exports.write(path, wanted, search_in, form)
    return FileResponse(
        file,
        media_type=MEDIA_TYPES[form],
        filename=f"{path.stem}.{form}",
        background=BackgroundTask(file.unlink, missing_ok=True) if temporary else None,
    )
