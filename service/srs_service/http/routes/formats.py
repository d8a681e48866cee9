"""Which formats a source may have: the descriptors of `srs`, so that clients need no list."""

from __future__ import annotations

from fastapi import APIRouter

from srs_service.auth.authentication import Reader
from srs_service.schemas.formats import FormatList
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1/formats", tags=["formats"])


@router.get("", summary="The formats of sources", responses=problem_responses(401, 403, 429, 503))
def list_all(_caller: Reader) -> FormatList:
    return FormatList.make()
