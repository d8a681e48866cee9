"""Selections for many targets: what became of each, and the overview of all."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from srs_service.auth.authentication import Reader
from srs_service.data.layout import read_targets
from srs_service.http.exports import Wanted, choose_form
from srs_service.http.routes.parts import Cursor, JobId, PartsOf
from srs_service.http.routes.results import (
    PROBLEMS,
    TABLE_FORMS,
    TABLE_PROBLEMS,
    Accept,
    Format,
    RowLimit,
    Search,
    find_result,
    next_page,
    place_page,
    send_table,
)
from srs_service.job import JobKind
from srs_service.schemas.results import OverviewPage, OverviewSort, TargetList, TargetRow, Verdict

router = APIRouter(prefix="/v1/jobs/{job_id:id}", tags=["results"])


@router.get("/targets", summary="Targets of a selection of many", responses=PROBLEMS)
def targets(parts: PartsOf, caller: Reader, job_id: JobId) -> TargetList:
    """What became of each target; 404 if the selection has one."""
    _, folder = find_result(parts, caller.owner, job_id, {JobKind.SELECT}, whole=True)
    rows = [{key: row[key] for key in TargetRow.model_fields} for row in read_targets(folder)]
    return TargetList(items=[TargetRow(**row) for row in rows])


@router.get(
    "/overview",
    summary="Targets by features that are relevant for one of them",
    response_model=OverviewPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
def overview(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    verdict: Annotated[list[Verdict] | None, Query(description="only these; repeat")] = None,
    sort: Annotated[OverviewSort | None, Query(description="column; -column: descending")] = None,
    search: Search = None,
    limit: RowLimit = None,
    cursor: Cursor = None,
    format: Format = None,
    accept: Accept = None,
) -> Response | OverviewPage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`. 404 if the selection has one
    target."""
    _, folder = find_result(parts, caller.owner, job_id, {JobKind.SELECT}, whole=True)
    read_targets(folder)
    path, table = folder / "overview.parquet", f"{job_id} overview"
    form = format or choose_form(accept)
    wanted = Wanted(sort, list(verdict or ()), search, 0, limit)
    wanted = place_page(parts, table, wanted, cursor, form)
    if form != "json":
        return send_table(parts, path, wanted, ["name", "target"], form)
    found = parts.exports.page(path, wanted, ["name", "target"])
    return OverviewPage(**found, next_cursor=next_page(parts, table, wanted, found))
