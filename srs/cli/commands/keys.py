"""`srs keys`: API keys of the service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srs.cli.commands.serve import read_settings
from srs.cli.failures import reported
from srs.errors import InputError

if TYPE_CHECKING:
    from srs_service.database.keys import ApiKey, Keys

HELP = """API keys of the service.

\b
Examples:
  srs keys create ann --days 90
  srs keys list
  srs keys revoke ID
"""

app = typer.Typer(help=HELP, rich_markup_mode=None, no_args_is_help=True)

DataDir = Annotated[
    Path | None, typer.Option(help="Folder of the service's data. Default: SRS_DATA_DIR.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]


@contextmanager
def _keys(data_dir: Path | None) -> Iterator[Keys]:
    """The keys of the service's database, which is never made here: elsewhere it would be new."""
    given = {} if data_dir is None else {"data_dir": data_dir}
    settings = read_settings(**given)
    from srs_service.database import open_job_store
    from srs_service.database.connection import SQLITE_FILE
    from srs_service.errors import ServiceError

    try:
        if settings.database_url is None and not (settings.data_dir / SQLITE_FILE).exists():
            raise InputError(
                f"{settings.data_dir.resolve()} has no database of the service: set SRS_DATA_DIR "
                "or SRS_DATABASE_URL to the values of `srs serve`, or start the service first."
            )
        store = open_job_store(settings.database_url, settings.data_dir, 2)
        try:
            yield store.keys
        finally:
            store.close()
    except (ServiceError, OSError) as error:
        raise InputError(str(error)) from None


@app.command()
def create(
    user: Annotated[str, typer.Argument(metavar="USER", help="User that the key belongs to.")],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "",
    scopes: Annotated[
        str, typer.Option(help="What the key allows: read, write, metrics, admin.")
    ] = "read,write",
    days: Annotated[
        float | None, typer.Option(min=0, help="Days until it expires. Default: never.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Create an API key; its text is shown once and not stored.

    \b
    Examples:
      srs keys create ann --name laptop --days 90
      srs keys create prometheus --scopes metrics
      srs keys create olga --scopes read,write,admin
    """
    with reported(as_json), _keys(data_dir) as keys:
        key, text = keys.create(user, name, _scopes(scopes), days)
        typer.echo(json.dumps({**asdict(key), "key": text}) if as_json else text)


@app.command("list")
def show(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List all keys; their texts cannot be shown again."""
    with reported(as_json), _keys(data_dir) as keys:
        found = keys.list()
        if as_json:
            typer.echo(json.dumps([asdict(key) for key in found], indent=1))
            return
        for key in found:
            typer.echo(
                f"{key.id}  {key.owner:<16} {','.join(key.scopes):<12} {_state(key):<22} {key.name}"
            )


@app.command()
def revoke(
    key_id: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the key, from `srs keys list`.")
    ],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a key immediately, with the browser sessions that were started with it."""
    with reported(as_json), _keys(data_dir) as keys:
        key = keys.revoke(key_id)
        typer.echo(json.dumps(asdict(key)) if as_json else f"{key.id} is revoked")


def _scopes(text: str) -> tuple[str, ...]:
    from srs_service.auth.authentication import SCOPES

    wanted = tuple(part.strip() for part in text.split(",") if part.strip())
    if not wanted or set(wanted) - set(SCOPES):
        raise InputError(f"scopes are {', '.join(SCOPES)}, separated by commas, not {text!r}.")
    return wanted


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return f"revoked {_day(key.revoked_at)}"
    return "never expires" if key.expires_at is None else f"expires {_day(key.expires_at)}"


def _day(seconds: Any) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
