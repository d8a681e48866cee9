"""Tokens of an OpenID Connect issuer: signature, issuer, audience and time are checked."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import jwt

from srs_service.database.keys import Caller
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

# Asymmetric only: with "none" or a shared secret anybody could sign.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
KEYS_SECONDS = 300.0  # how long fetched keys serve before an unknown key id fetches them again
MAX_TOKEN = 8_000
LEEWAY = 10  # seconds that clocks may differ


@dataclass(frozen=True)
class Identity:
    """Who a token speaks for, and the teams that its groups give."""

    caller: Caller
    teams: tuple[str, ...]


class TokenReader:
    def __init__(self, settings: Settings) -> None:
        assert settings.oidc_issuer is not None
        self._issuer = settings.oidc_issuer
        self._audience = settings.oidc_audience
        self._settings = settings
        self._lock = threading.Lock()
        self._keys: dict[str, Any] = {}
        self._fetched = -KEYS_SECONDS

    def read(self, token: str) -> Identity | None:
        """Who the token speaks for; None if it does not count."""
        claims = self.read_claims(token, self._audience)
        if claims is None:
            return None
        return self.identify(claims, float(claims["exp"]) + LEEWAY)

    def identify(self, claims: Mapping[str, Any], expires_at: float | None) -> Identity:
        """The user that valid claims name, with the scopes and teams of their groups."""
        settings = self._settings
        given = claims.get(settings.oidc_groups_claim)
        groups = {str(group) for group in given} if isinstance(given, list) else set()
        scopes = settings.oidc_scopes
        if settings.oidc_admin_group is not None and settings.oidc_admin_group in groups:
            scopes = tuple(dict.fromkeys((*scopes, "admin")))
        teams = {team for group, team in settings.team_of_group.items() if group in groups}
        caller = Caller(f"oidc:{claims['sub']}", scopes, expires_at=expires_at)
        return Identity(caller, tuple(sorted(teams)))

    def read_claims(self, token: str, audience: str | None) -> dict[str, Any] | None:
        """What a token says; None if it does not count."""
        if len(token) > MAX_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                return None
            key = self._find_key(str(header.get("kid", "")))
            if key is None:
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                audience=audience,
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError:
            return None
        return claims

    def _find_key(self, key_id: str) -> Any:
        with self._lock:
            due = time.monotonic() - self._fetched >= KEYS_SECONDS
            if key_id not in self._keys and due:
                self._fetched = time.monotonic()
                self._fetch()
            return self._keys.get(key_id)

    def discover(self) -> dict[str, Any]:
        """What the issuer says of itself. The administrator names the issuer: it is trusted."""
        with httpx.Client(timeout=10) as client:
            found = client.get(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        about: dict[str, Any] = found.raise_for_status().json()
        return about

    def _fetch(self) -> None:
        """The issuer's present keys."""
        try:
            with httpx.Client(timeout=10) as client:
                keys = client.get(self.discover()["jwks_uri"])
            found = jwt.PyJWKSet.from_dict(keys.raise_for_status().json())
        except (httpx.HTTPError, KeyError, json.JSONDecodeError, jwt.PyJWTError) as error:
            log.error("keys of the issuer cannot be fetched: %s", type(error).__name__)
            return
        self._keys = {key.key_id: key for key in found.keys if key.key_id}
