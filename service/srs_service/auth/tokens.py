"""Tokens of an OpenID Connect issuer: signature, issuer, audience and time are checked."""

from __future__ import annotations

import json
import logging
import threading
import time
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


class TokenReader:
    def __init__(self, settings: Settings) -> None:
        assert settings.oidc_issuer is not None
        self._issuer = settings.oidc_issuer
        self._audience = settings.oidc_audience
        self._scopes = settings.oidc_scopes
        self._lock = threading.Lock()
        self._keys: dict[str, Any] = {}
        self._fetched = -KEYS_SECONDS

    def read(self, token: str) -> Caller | None:
        """Who the token speaks for; None if it does not count."""
        if len(token) > MAX_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                return None
            key = self._find_key(str(header.get("kid", "")))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError:
            return None
        expires_at = float(claims["exp"]) + LEEWAY
        return Caller(f"oidc:{claims['sub']}", self._scopes, expires_at=expires_at)

    def _find_key(self, key_id: str) -> Any:
        with self._lock:
            due = time.monotonic() - self._fetched >= KEYS_SECONDS
            if key_id not in self._keys and due:
                self._fetched = time.monotonic()
                self._fetch()
            return self._keys.get(key_id)

    def _fetch(self) -> None:
        """The issuer's present keys. The administrator names the issuer: it is trusted."""
        try:
            with httpx.Client(timeout=10) as client:
                about = client.get(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
                keys = client.get(about.raise_for_status().json()["jwks_uri"])
                found = jwt.PyJWKSet.from_dict(keys.raise_for_status().json())
        except (httpx.HTTPError, KeyError, json.JSONDecodeError, jwt.PyJWTError) as error:
            log.error("keys of the issuer cannot be fetched: %s", type(error).__name__)
            return
        self._keys = {key.key_id: key for key in found.keys if key.key_id}
