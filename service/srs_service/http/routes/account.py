"""What a user has here: bytes."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from srs_service.auth.authentication import Reader
from srs_service.database.space import Usage as StoredUsage
from srs_service.http.routes.parts import PartsOf
from srs_service.schemas.fields import Response as Schema
from srs_service.schemas.problems import problem_responses

router = APIRouter(prefix="/v1", tags=["account"])


class Usage(Schema):
    """Bytes that you keep; what is under way counts with what is reserved for it."""

    n_bytes: int = Field(description="bytes in all")
    limit: int = Field(description="bytes that you may keep")
    uploads: int = Field(description="bytes of uploads")
    datasets: int = Field(description="bytes of feature stores that the service wrote")
    jobs: int = Field(description="bytes of results, checkpoints and unpacked sources")

    @classmethod
    def of(cls, usage: StoredUsage, limit: int) -> Usage:
        return cls(
            n_bytes=usage.total,
            limit=limit,
            uploads=usage.uploads,
            datasets=usage.datasets,
            jobs=usage.jobs,
        )


@router.get("/usage", summary="What you keep", responses=problem_responses(401, 403, 429, 503))
def usage(parts: PartsOf, caller: Reader) -> Usage:
    """Deleting a dataset frees its store, its source and its uploads."""
    return Usage.of(parts.store.space.usage(caller.owner), int(parts.settings.max_user_data))
