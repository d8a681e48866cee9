"""Sign-in of browsers with an OpenID Connect issuer: authorization code with PKCE.

The browser is sent to the issuer with a state, a nonce and the hash of a verifier; it comes back
with a code, which is exchanged for an ID token. The state must be that of the browser's own cookie,
and the nonce that of the token: nobody is signed in by an address that somebody else made.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import secrets
from urllib.parse import urlencode

import httpx

from srs_service.auth.tokens import Identity, TokenReader
from srs_service.database import JobStore
from srs_service.database.accounts.sign_ins import SignIn
from srs_service.errors import NotAuthenticated, NotFound, Unavailable
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

SECONDS = 600.0  # that a sign-in may take
STATE_COOKIE = "srs_sign_in"
CALLBACK = "/sign-in/callback"
SCOPES = "openid profile groups"


class BrowserSignIn:
    """Signs browsers in, if the settings name a client of an issuer."""

    def __init__(self, settings: Settings, store: JobStore) -> None:
        self._settings = settings
        self._store = store
        self._tokens = TokenReader(settings) if settings.oidc_client_id else None

    @property
    def _reader(self) -> TokenReader:
        if self._tokens is None:
            raise NotFound("there is no sign-in with an issuer here: sign in with a key.")
        return self._tokens

    @property
    def _redirect_uri(self) -> str:
        return f"{(self._settings.base_url or '').rstrip('/')}{CALLBACK}"

    def begin(self) -> tuple[str, str]:
        """Where to send the browser, and the state for its cookie."""
        begun = SignIn(
            state=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            nonce=secrets.token_urlsafe(24),
        )
        address = self._ask_issuer("authorization_endpoint")
        self._store.sign_ins.begin(begun, SECONDS)
        query = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": self._redirect_uri,
            "scope": SCOPES,
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge(begun.verifier),
            "code_challenge_method": "S256",
        }
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", begun.state

    def finish(self, code: str, state: str, of_cookie: str | None) -> Identity:
        """Who came back; NotAuthenticated if what they bring is not what was begun."""
        reader = self._reader
        if of_cookie is None or not hmac.compare_digest(state.encode(), of_cookie.encode()):
            raise NotAuthenticated
        begun = self._store.sign_ins.take(state)
        if begun is None:
            raise NotAuthenticated
        token = self._exchange(code, begun)
        claims = reader.read_claims(token, self._settings.oidc_client_id)
        if claims is None or not hmac.compare_digest(
            str(claims.get("nonce", "")).encode(), begun.nonce.encode()
        ):
            raise NotAuthenticated
        return reader.identify(claims, None)

    def _exchange(self, code: str, begun: SignIn) -> str:
        """The ID token that the issuer gives for a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "client_id": str(self._settings.oidc_client_id),
            "code_verifier": begun.verifier,
        }
        if self._settings.oidc_client_secret is not None:
            form["client_secret"] = self._settings.oidc_client_secret.get_secret_value()
        try:
            with httpx.Client(timeout=10) as client:
                answer = client.post(self._ask_issuer("token_endpoint"), data=form)
            if answer.is_client_error:
                raise NotAuthenticated
            token = answer.raise_for_status().json()["id_token"]
        except (httpx.HTTPError, KeyError, json.JSONDecodeError) as error:
            raise self._no_answer(error) from None
        return str(token)

    def _ask_issuer(self, name: str) -> str:
        try:
            return str(self._reader.discover()[name])
        except (httpx.HTTPError, KeyError, json.JSONDecodeError) as error:
            raise self._no_answer(error) from None

    @staticmethod
    def _no_answer(error: Exception) -> Unavailable:
        log.error("sign-in: the issuer does not answer: %s", type(error).__name__)
        return Unavailable("the issuer of sign-ins does not answer: try again.")


def challenge(verifier: str) -> str:
    """The hash of a verifier, as RFC 7636 writes it.

    >>> challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    """
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
