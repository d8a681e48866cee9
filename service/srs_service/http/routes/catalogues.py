"""Which analyses, kinds and formats there are: the lists of `srs`, so that clients need none."""

from __future__ import annotations

from fastapi import APIRouter

from srs_service.auth.authentication import Reader
from srs_service.schemas.analyses import AnalysisList
from srs_service.schemas.formats import FormatList
from srs_service.schemas.kinds import KindList
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1", responses=problem_responses(401, 403, 429, 503))
NAME = "list_all"  # of each, beside its tag


@router.get("/analyses", name=NAME, tags=["analyses"], summary="The analyses of explanations")
def list_analyses(_caller: Reader) -> AnalysisList:
    return AnalysisList.make()


@router.get("/kinds", name=NAME, tags=["kinds"], summary="The kinds of evidence and of target")
def list_kinds(_caller: Reader) -> KindList:
    return KindList.make()


@router.get("/formats", name=NAME, tags=["formats"], summary="The formats of sources")
def list_formats(_caller: Reader) -> FormatList:
    return FormatList.make()
