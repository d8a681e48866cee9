"""Selections for many targets: what became of each, and the overview of all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from srs_service.auth.authentication import Reader
from srs_service.data.layout import read_targets
from srs_service.http.exports import Table
from srs_service.http.routes.parts import JobId, PartsOf
from srs_service.http.routes.results import (
    PROBLEMS,
    TABLE_FORMS,
    TABLE_PROBLEMS,
    AskedOf,
    find_result,
    read_rows,
    wanted_rows,
)
from srs_service.job import JobKind
from srs_service.schemas.results import OverviewPage, OverviewSort, TargetList, TargetRow, Verdict

router = APIRouter(prefix="/v1/jobs/{job_id:id}", tags=["results"])
OVERVIEW_NAMES = ["name", "target"]  # where names are searched


@router.get("/targets", summary="Targets of a selection of many", responses=PROBLEMS)
def targets(parts: PartsOf, caller: Reader, job_id: JobId) -> TargetList:
    """What became of each target; 404 if the selection has one."""
    _, rows = _find_targets(parts, caller.owner, job_id)
    told = [{key: row[key] for key in TargetRow.model_fields} for row in rows]
    return TargetList(items=[TargetRow(**row) for row in told])


@router.get(
    "/overview",
    summary="Targets by features that are relevant for one of them",
    response_model=OverviewPage,
    responses={200: {"content": TABLE_FORMS}, **TABLE_PROBLEMS},
)
async def overview(
    parts: PartsOf,
    caller: Reader,
    job_id: JobId,
    asked: AskedOf,
    verdict: Annotated[list[Verdict] | None, Query(description="only these; repeat")] = None,
    sort: Annotated[OverviewSort | None, Query(description="column; -column: descending")] = None,
) -> Response | OverviewPage:
    """JSON, CSV or Parquet by `Accept`; links may say `format`. 404 if the selection has one
    target."""
    folder, _ = await run_in_threadpool(_find_targets, parts, caller.owner, job_id)
    table = Table(f"{job_id} overview", folder / "overview.parquet", OVERVIEW_NAMES)
    found = await read_rows(parts, caller, table, asked, wanted_rows(asked, sort, verdict))
    return found if isinstance(found, Response) else OverviewPage(**found)


def _find_targets(parts: PartsOf, owner: str, job_id: str) -> tuple[Path, list[dict[str, Any]]]:
    """The folder of a selection of many targets, and what became of each."""
    _, folder = find_result(parts, owner, job_id, {JobKind.SELECT}, whole=True)
    return folder, read_targets(folder)
