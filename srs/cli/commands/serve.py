"""`srs serve`: the service, see the package `service`."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from srs.cli.failures import reported
from srs.errors import InputError

if TYPE_CHECKING:
    from srs_service.settings import Settings

FIRST_USER = "admin"

INSTALL = "pip install 'srs-select[service]'"


class ServeCommand(TyperCommand):
    """Its help ends with all settings; they are read only when the help is shown."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)
        try:
            listed = settings_help()
        except ImportError as error:
            formatter.write(f"\nThe service needs {error.name}: {INSTALL}.\n")
            return
        formatter.write("\nSettings, from the environment (lists separated by commas):\n")
        formatter.write_dl(listed)


def settings_help() -> list[tuple[str, str]]:
    """Every setting with its description and default."""
    from srs_service.settings import PREFIX, Settings

    listed = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = "" if default is None or default == () else f" [{_shown(default)}]"
        listed.append((f"{PREFIX}{name.upper()}", f"{field.description}{shown}"))
    return listed


def _shown(default: Any) -> str:
    from pydantic import ByteSize

    if isinstance(default, ByteSize):
        return default.human_readable(decimal=True)
    return ",".join(default) if isinstance(default, tuple) else str(default)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0: any.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of database, stores and results.")
    ] = None,
    store_root: Annotated[
        list[Path] | None,
        typer.Option(help="Folder below which users may register stores; repeat for more."),
    ] = None,
    max_running: Annotated[
        int | None,
        typer.Option(min=0, help="Maximum number of jobs that run at once in this process."),
    ] = None,
    no_auth: Annotated[
        bool,
        typer.Option(
            "--no-auth", help="Do not ask for API keys; only allowed on loopback addresses."
        ),
    ] = False,
) -> None:
    """Serve selections over HTTP: REST jobs with live progress, and a page.

    Prints the address, where data are, and, when there is none yet, a first API key.

    \b
    Examples:
      srs serve --data-dir srs-data --store-root /data/stores
      SRS_DATABASE_URL=postgresql://... SRS_SCHEDULER=tls://... srs serve --host 0.0.0.0
    """
    with reported(as_json=False):
        given = {
            "host": host,
            "port": port,
            "data_dir": data_dir,
            "max_running": max_running,
            "store_roots": tuple(store_root) if store_root else None,
            "auth": False if no_auth else None,
        }
        settings = read_settings(**{k: v for k, v in given.items() if v is not None})
        run_server(settings)


def read_settings(**given: Any) -> Settings:
    """Settings from the environment and from options; InputError says what is wrong."""
    try:
        from pydantic import ValidationError

        from srs_service.settings import PREFIX, Settings
    except ImportError as error:
        raise InputError(f"the service needs {error.name}: {INSTALL}.") from None
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = f"{PREFIX}{str(first['loc'][0]).upper()}: " if first["loc"] else ""
        raise InputError(f"{name}{first['msg'].removeprefix('Value error, ')}.") from None


def run_server(settings: Settings) -> None:
    """Run until SIGTERM or Ctrl-C; running jobs are given back with their checkpoints."""
    import resource

    import uvicorn

    from srs_service.errors import ServiceError
    from srs_service.http.app import create_app
    from srs_service.http.protocol import protocol_with
    from srs_service.logs import start_logging

    start_logging(settings.log_format)
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))  # a stream is a file
    try:
        app = create_app(settings)
    except (ServiceError, OSError) as error:
        raise InputError(str(error)) from None
    listener = listen(settings.host, settings.port)
    config = uvicorn.Config(
        app,
        http=protocol_with(settings.request_seconds),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=32_768,
        proxy_headers=False,
    )
    announce(settings, app.state.parts.store, listener.getsockname())
    server = uvicorn.Server(config)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        # uvicorn raises the signal once more after an orderly end, which is no failure.
        if server.force_exit or not server.started:
            raise


def listen(host: str, port: int) -> socket.socket:
    """The socket of the service; InputError if the address is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, or asyncio leaves answers to Nagle: each then waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(f"{host}:{port} cannot be listened on: {error.strerror}.") from None
    return listener


def announce(settings: Settings, store: Any, address: tuple[Any, ...]) -> None:
    """Say where it listens, where data are, and the first key if there was none."""
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    where = "PostgreSQL" if settings.database_url else "SQLite"
    typer.echo(f"address   {settings.base_url or f'http://{host}:{address[1]}'}")
    typer.echo(f"data      {settings.data_dir.resolve()} ({where})")
    if not settings.auth:
        typer.echo("keys      not needed (--no-auth)")
    elif not store.keys.list():
        _, text = store.keys.create(FIRST_USER, "first key", ("read", "write", "metrics", "admin"))
        typer.echo(f"API key   {text}  (of user {FIRST_USER}; shown once)")
    else:
        typer.echo("keys      `srs keys create` makes more")
