"""Kinds of evidence and of target on the wire: which there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from srs import evidence_kinds, target_kinds
from srs_service.schemas.fields import Response

if TYPE_CHECKING:
    EvidenceName = str
    TargetKindName = str
else:
    EvidenceName = Literal[tuple(evidence_kinds())]
    TargetKindName = Literal[tuple(target_kinds())]


class EvidenceKindAbout(Response):
    """A kind of evidence that may count in a selection."""

    name: EvidenceName
    title: str = Field(description="caption of its histogram")
    sees: str = Field(description="what it measures")
    usual: bool = Field(description="whether it counts by default")


class TargetKindAbout(Response):
    """A kind of target that a dataset may have."""

    name: TargetKindName
    title: str = Field(description="its label in a form")
    help: str = Field(description="which targets it is for")


class KindList(Response):
    """All kinds."""

    evidence: list[EvidenceKindAbout]
    targets: list[TargetKindAbout]

    @classmethod
    def make(cls) -> Self:
        return cls(
            evidence=[
                EvidenceKindAbout(
                    name=kind.name, title=kind.title, sees=kind.sees, usual=kind.usual
                )
                for kind in evidence_kinds().values()
            ],
            targets=[
                TargetKindAbout(name=kind.name, title=kind.title, help=kind.help)
                for kind in target_kinds().values()
            ],
        )
