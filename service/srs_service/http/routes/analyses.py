"""Which analyses an explanation may ask for: the list of `srs`, so that clients need none."""

from __future__ import annotations

from fastapi import APIRouter

from srs_service.auth.authentication import Reader
from srs_service.schemas.analyses import AnalysisList
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/analyses", tags=["analyses"])


@router.get(
    "", summary="The analyses of explanations", responses=problem_responses(401, 403, 429, 503)
)
def list_all(_caller: Reader) -> AnalysisList:
    return AnalysisList.make()
