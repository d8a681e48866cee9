"""The page for people: plain files of `srs_service/page`, and nothing that is not one of them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from srs_service.errors import NotFound
from srs_service.http.reference import write_reference
from srs_service.http.routes.parts import IfNoneMatch, is_known

router = APIRouter(include_in_schema=False, tags=["page"])

FOLDER = Path(__file__).resolve().parents[2] / "page"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Scripts and styles come from files of ours only: no markup in a name can become either.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)

DOCS_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@router.get("/")
def index(if_none_match: IfNoneMatch = None) -> Response:
    return _answer("index.html", if_none_match)


@router.get("/docs")
def reference(request: Request, if_none_match: IfNoneMatch = None) -> Response:
    """All operations for people, from the OpenAPI document."""
    content = write_reference(request.app.openapi()).encode()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Security-Policy": DOCS_POLICY}
    if is_known(tag, if_none_match):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=MEDIA_TYPES[".html"])


@router.get("/page/{name}")
def file(name: str, if_none_match: IfNoneMatch = None) -> Response:
    return _answer(name, if_none_match)


def _answer(name: str, if_none_match: str | None) -> Response:
    found = _files().get(name)
    if found is None:
        raise NotFound("there is no such file.")
    content, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    if is_known(tag, if_none_match):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=MEDIA_TYPES[Path(name).suffix])


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Content and tag of every file, read once: 60 kB."""
    found = {}
    for path in FOLDER.iterdir():
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            found[path.name] = (content, f'"{hashlib.sha256(content).hexdigest()[:16]}"')
    return found
