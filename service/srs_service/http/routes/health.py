"""Is it alive, can it work, and what does it do: for orchestrators and Prometheus."""

from __future__ import annotations

import os
from typing import Literal

from fastapi import APIRouter, Response

from srs_service.auth.authentication import Measurer
from srs_service.errors import Unavailable
from srs_service.http.routes.parts import PartsOf
from srs_service.schemas.fields import Response as Schema
from srs_service.schemas.problems import problem_responses

router = APIRouter(tags=["service"])


class Health(Schema):
    """It answers."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="The process answers")
async def healthz() -> Health:
    return Health()


@router.get("/readyz", summary="The service can work", responses=problem_responses(503))
def readyz(parts: PartsOf) -> Health:
    """503 with the part that fails: database, data folder, disk, runner, scheduler
    or workers."""
    failing = []
    try:
        parts.store.ping()
    except Exception:
        failing.append("database")
    if not os.access(parts.folder.jobs, os.W_OK):
        failing.append("data folder")
    elif parts.folder.free_bytes() < parts.settings.min_free:
        failing.append("disk")
    if not parts.runner.alive:
        failing.append("runner")
    if not parts.scheduler.answers:
        failing.append("scheduler")
    elif parts.scheduler.n_workers == 0:
        failing.append("workers")
    if failing:
        raise Unavailable(f"{' and '.join(failing)} failing.", failing=failing)
    return Health()


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **problem_responses(401, 403, 429, 503),
    },
)
def metrics(parts: PartsOf, _caller: Measurer) -> Response:
    """Needs a key with the scope `metrics`."""
    text = parts.metrics.render(parts)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
