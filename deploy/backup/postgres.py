"""postgres.py COMMAND...: runs pg_dump or pg_restore on the database of SRS_DATABASE_URL.

Every user of a machine sees the arguments of its commands, so the password goes by the environment.
"""

from __future__ import annotations

import os
import sys
from urllib.parse import unquote, urlsplit


def split_password(url: str) -> tuple[str, str | None]:
    """The URL without its password, and the password as it was before it was encoded.

    >>> split_password("postgresql://srs:a%40b@db:5432/srs?sslmode=require")
    ('postgresql://srs@db:5432/srs?sslmode=require', 'a@b')
    """
    before_host, at, _ = urlsplit(url).netloc.rpartition("@")
    user, colon, password = before_host.partition(":")
    if not colon:
        return url, None
    return url.replace(f"//{before_host}{at}", f"//{user}{at}", 1), unquote(password)


def main(command: list[str]) -> None:
    url, password = split_password(os.environ["SRS_DATABASE_URL"])
    environment = dict(os.environ)
    if password is not None:
        environment["PGPASSWORD"] = password
    os.execvpe(command[0], [*command, f"--dbname={url}"], environment)


if __name__ == "__main__":
    main(sys.argv[1:])
