"""Formats on the wire: what a source may be, so that clients need no list of their own."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from srs import Format, formats
from srs_service.schemas.fields import Response


class FormatAbout(Response):
    """A format that a source may have."""

    name: str
    title: str = Field(description="for people")
    help: str = Field(
        description="what a sample and a feature are, and which options apply; these in backticks"
    )
    suffixes: list[str] = Field(description="how names of its files end")
    companions: list[str] = Field(description="suffixes of the files that must be sent with it")
    beside: list[str] = Field(
        description="suffixes of files that are read with it if they are sent, too; one that "
        "begins with that of a companion stands for this"
    )
    kinds: list[Literal["file", "folder"]] = Field(
        description="file: one file; folder: several files, given as `files` or in one .zip"
    )
    options: list[Literal["orientation", "dataset", "mask"]] = Field(
        description="the options of a source that it uses; the others are refused"
    )
    extra: str | None = Field(description="the extra of srs-select that the service needs for it")
    accepted: bool = Field(description="whether the service reads it: its reader is safe")

    @classmethod
    def of(cls, one: Format) -> Self:
        return cls(
            name=one.name,
            title=one.title,
            help=one.help,
            suffixes=list(one.suffixes),
            companions=list(one.companions),
            beside=list(one.beside),
            kinds=[kind for kind in one.kinds if kind != "object"],
            options=list(one.options),
            extra=one.extra,
            accepted=one.safe,
        )


class FormatList(Response):
    """All formats of files and folders."""

    items: list[FormatAbout]

    @classmethod
    def make(cls) -> Self:
        return cls(items=[FormatAbout.of(one) for one in formats() if one.is_stored])
