"""Page tokens: where the last page ended, signed, so that nothing else can be asked with them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

from srs_service.errors import BadRequest


class Cursors:
    """
    >>> cursors = Cursors(b"secret")
    >>> cursors.read(cursors.write(1.5, "j_1"))
    (1.5, 'j_1')
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def write(self, created_at: float, thing_id: str) -> str:
        body = json.dumps([created_at, thing_id]).encode()
        return base64.urlsafe_b64encode(self._sign(body) + body).decode().rstrip("=")

    def read(self, text: str) -> tuple[float, str]:
        try:
            raw = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
            sign, body = raw[:16], raw[16:]
            if not hmac.compare_digest(sign, self._sign(body)):
                raise ValueError
            created_at, thing_id = json.loads(body)
        except ValueError:
            raise BadRequest("the cursor is not one of ours: start again without it.") from None
        return float(created_at), str(thing_id)

    def _sign(self, body: bytes) -> bytes:
        return hmac.digest(self._secret, body, hashlib.sha256)[:16]
