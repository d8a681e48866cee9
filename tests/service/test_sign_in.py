"""Sign-in of browsers with an issuer that really signs: authorization code with PKCE."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from srs_service.auth.sign_in import challenge
from tests.service.server import Server, free_port, serving

CLIENT, SECRET = "srs-page", "a secret of the client"


class CodeIssuer:
    """An issuer that gives codes, and ID tokens for those who have the verifier of a code.

    user    who is signed in there, and their groups
    said    claims that replace those that are right
    """

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(65537, 2048)
        self.user, self.groups = "ann", ["lab-7"]
        self.said: dict[str, object] = {}
        self.codes: dict[str, dict[str, str]] = {}
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(200, issuer.about(urlsplit(self.path).path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                token = issuer.redeem(form)
                if token is None:
                    self.answer(400, {"error": "invalid_grant"})
                else:
                    self.answer(200, {"id_token": token, "token_type": "Bearer"})

            def answer(self, status: int, document: object) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(document).encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def about(self, path: str) -> dict:
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
            return {"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]}
        return {
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize?tenant=7",
            "token_endpoint": f"{self.url}/token",
        }

    def authorize(self, address: str) -> dict[str, str]:
        """What a person does at the issuer; the query that the browser comes back with."""
        parts = urlsplit(address)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert (parts.path, asked["tenant"], asked["response_type"]) == ("/authorize", "7", "code")
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def redeem(self, form: dict[str, str]) -> str | None:
        asked = self.codes.pop(form["code"], None)
        if asked is None or challenge(form["code_verifier"]) != asked["code_challenge"]:
            return None
        if form["redirect_uri"] != asked["redirect_uri"] or form["client_secret"] != SECRET:
            return None
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": self.user,
            "groups": self.groups,
            "nonce": asked["nonce"],
            "exp": time() + 60,
            **self.said,
        }
        return jwt.encode(claims, self._key, "RS256", headers={"kid": "k1"})


@pytest.fixture
def issuer() -> Iterator[CodeIssuer]:
    made = CodeIssuer()
    with serving(made.server):
        yield made


@pytest.fixture
def server(start_service, issuer: CodeIssuer) -> Server:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    started: Server = start_service(
        port=port,
        base_url=url,
        oidc_issuer=issuer.url,
        oidc_audience="srs",
        oidc_client_id=CLIENT,
        oidc_client_secret=SECRET,
        oidc_teams="lab-7=genomics,lab-8=physics",
        oidc_admin_group="srs-admins",
        max_running=0,
    )
    return started


def url_of(server: Server) -> str:
    return str(server.env["SRS_BASE_URL"])


def go(issuer: CodeIssuer, browser: httpx.Client) -> httpx.Response:
    """The whole way of a browser."""
    away = browser.get("/sign-in")
    assert away.status_code == 303, away.text
    return browser.get("/sign-in/callback", params=issuer.authorize(away.headers["location"]))


def test_a_browser_signs_in_with_the_issuer(server: Server, issuer: CodeIssuer) -> None:
    with httpx.Client(base_url=url_of(server)) as browser:
        back = go(issuer, browser)
        assert (back.status_code, back.headers["location"]) == (303, "/")
        assert "SameSite=strict" in back.headers["set-cookie"]
        who = browser.get("/v1/session").json()
        assert (who["user"], who["teams"]) == ("oidc:ann", ["genomics"])
        assert who["scopes"] == ["read", "write"]
        origin = {"Origin": url_of(server)}
        key = browser.post("/v1/keys", json={"name": "laptop"}, headers=origin).json()["key"]
    with server.client(key) as laptop:
        assert laptop.get("/v1/session").json()["user"] == "oidc:ann"


def test_groups_give_teams_and_the_role(server: Server, issuer: CodeIssuer) -> None:
    issuer.user, issuer.groups = "root", ["srs-admins", "lab-8", "other"]
    with httpx.Client(base_url=url_of(server)) as browser:
        go(issuer, browser)
        who = browser.get("/v1/session").json()
        assert (who["teams"], who["scopes"]) == (["physics"], ["read", "write", "admin"])
        origin = {"Origin": url_of(server)}
        assert browser.get("/v1/admin/users").status_code == 200
        # Who is disabled is out, and cannot come back.
        out = browser.patch("/v1/admin/users/oidc:root", json={"disabled": True}, headers=origin)
        assert out.status_code == 200
        assert browser.get("/v1/session").status_code == 401
        assert go(issuer, browser).status_code == 401


@pytest.mark.parametrize(
    "said",
    [{"nonce": "another"}, {"aud": "another"}, {"iss": "https://x.org"}, {"exp": time() - 60}],
    ids=["nonce", "audience", "issuer", "time"],
)
def test_tokens_that_are_not_for_this_sign_in(
    server: Server, issuer: CodeIssuer, said: dict
) -> None:
    issuer.said = said
    with httpx.Client(base_url=url_of(server)) as browser:
        back = go(issuer, browser)
        assert back.status_code == 401
        assert "srs_session" not in back.headers.get("set-cookie", "")


def test_ways_that_were_not_begun_here(server: Server, issuer: CodeIssuer) -> None:
    """A link of somebody else signs nobody in; a code serves once; refusals are 401."""
    with (
        httpx.Client(base_url=url_of(server)) as browser,
        httpx.Client(base_url=url_of(server)) as victim,
    ):
        query = issuer.authorize(browser.get("/sign-in").headers["location"])
        assert victim.get("/sign-in/callback", params=query).status_code == 401
        victim.get("/sign-in")  # has a cookie now, of another state
        assert victim.get("/sign-in/callback", params=query).status_code == 401
        assert browser.get("/sign-in/callback", params=query).status_code == 303
        assert browser.get("/sign-in/callback", params=query).status_code == 401
        denied = {"error": "access_denied", "state": "x"}
        assert browser.get("/sign-in/callback", params=denied).status_code == 401


def test_without_a_client_there_is_no_such_sign_in(service: Server) -> None:
    assert httpx.get(f"{service.url}/sign-in").status_code == 404
