"""Writes the audit log: each request that changed something, before its answer is sent."""

from __future__ import annotations

import ipaddress
import logging

from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Scope

from srs_service.database.accounts.audit import Audit, Deed
from srs_service.database.keys import Caller
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
REFUSED = 403  # who tries what is not allowed is noted, too
ASKING = frozenset(("jobs_plan",))  # POST that changes nothing


class AuditTrail:
    def __init__(self, settings: Settings, audit: Audit) -> None:
        self._trusted = [ipaddress.ip_network(one) for one in settings.trusted_proxies]
        self._audit = audit

    async def note(self, scope: Scope, start: Message, request_id: str) -> None:
        """Note a request whose answer begins; a log that cannot be written stops nobody."""
        route, caller, status = scope.get("route"), scope.get("caller"), int(start["status"])
        if not isinstance(caller, Caller) or not isinstance(route, APIRoute):
            return
        action = f"{route.tags[0]}_{route.name}"
        changes = scope["method"] in CHANGING or action == "session_finish_sign_in"
        if not changes or action in ASKING or (status >= 400 and status != REFUSED):
            return
        deed = Deed(
            actor=caller.owner,
            action=action,
            thing=_thing(scope, start),
            address=self._address(scope),
            key_id=caller.key_id,
            status=status,
            request_id=request_id,
        )
        try:
            await run_in_threadpool(self._audit.note, deed)
        except Exception as error:
            log.error("audit: %s", type(error).__name__, extra={"request_id": request_id})

    def _address(self, scope: Scope) -> str:
        """Where a request came from: the last address that no trusted proxy has."""
        client = scope.get("client")
        address = str(client[0]) if client else ""
        if not self._is_trusted(address):
            return address
        given = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1")
        for one in reversed([part.strip() for part in given.split(",") if part.strip()]):
            try:
                address = str(ipaddress.ip_address(one))
            except ValueError:
                break
            if not self._is_trusted(address):
                break
        return address

    def _is_trusted(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._trusted)


def _thing(scope: Scope, start: Message) -> str:
    """The id in the path, or of what was made."""
    named = [str(value) for value in scope.get("path_params", {}).values()]
    if named:
        return named[0][:300]
    headers: dict[bytes, bytes] = dict(start.get("headers", ()))
    location = headers.get(b"location", b"").decode("latin-1")
    return location.rpartition("/")[2][:300]
