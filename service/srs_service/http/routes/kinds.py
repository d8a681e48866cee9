"""Which kinds of evidence and of target there are, so that clients need no lists of their own."""

from __future__ import annotations

from fastapi import APIRouter

from srs_service.auth.authentication import Reader
from srs_service.schemas.kinds import KindList
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/kinds", tags=["kinds"])


@router.get(
    "",
    summary="The kinds of evidence and of target",
    responses=problem_responses(401, 403, 429, 503),
)
def list_all(_caller: Reader) -> KindList:
    return KindList.make()
