"""The application: settings in, FastAPI out. Nothing is global: there may be several."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from service.auth import Doorkeeper
from service.children import Questions, start_template
from service.clusters import Scheduler
from service.cursors import Cursors
from service.datasets import Library
from service.exports import Exports
from service.hub import Hub
from service.job_store import JobStore, open_job_store
from service.layout import DataFolder
from service.metrics import Metrics
from service.middleware import Guard
from service.pairing import pair
from service.problems import install_problems
from service.rates import Rates, Streams
from service.routes import ROUTERS
from service.runner import Runner
from service.settings import Settings
from service.submission import Desk
from service.webhooks import Courier

log = logging.getLogger("service")

DESCRIPTION = """Selections of relevant features as jobs: register a dataset, submit a job,
watch it, fetch its result. Errors are `application/problem+json` (RFC 9457). Send an API key as
`Authorization: Bearer KEY`."""


@dataclass
class Parts:
    """What routes call; `request.app.state.parts`."""

    settings: Settings
    store: JobStore
    folder: DataFolder
    library: Library
    doorkeeper: Doorkeeper
    rates: Rates
    streams: Streams
    cursors: Cursors
    questions: Questions
    runner: Runner
    hub: Hub
    desk: Desk
    metrics: Metrics
    exports: Exports
    courier: Courier
    scheduler: Scheduler

    @classmethod
    def make(cls, settings: Settings) -> Parts:
        folder = DataFolder(settings.data_dir.resolve())
        folder.prepare()
        store = open_job_store(settings.database_url, folder.root, settings.database_connections)
        pair(folder, store)
        library = Library(settings, store, folder)
        scheduler = Scheduler(settings)
        runner = Runner(settings, store, folder, library, scheduler)
        questions = Questions()
        return cls(
            settings, store, folder, library, Doorkeeper(settings, store),
            Rates(settings.rate_limit),
            Streams(settings.max_streams, settings.max_streams_per_user),
            Cursors(store.keys.secret("cursors")), questions, runner, Hub(store),
            Desk(settings, store, library, questions, runner), Metrics(),
            Exports(questions, folder), Courier(store, settings.trusted_networks), scheduler,
        )  # fmt: skip


def create_app(settings: Settings) -> FastAPI:
    """The service with these settings; its runner lives as long as the application does."""
    parts = Parts.make(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if settings.max_running:
            start_template()
        parts.runner.start()
        parts.hub.start()
        parts.courier.start()
        try:
            yield
        finally:
            await parts.hub.stop()
            await run_in_threadpool(parts.runner.stop)
            await run_in_threadpool(parts.courier.stop)
            parts.store.close()

    app = FastAPI(
        title="srs", version=version("srs"), description=DESCRIPTION, lifespan=lifespan,
        docs_url=None, redoc_url=None, openapi_url="/openapi.json", redirect_slashes=False,
        generate_unique_id_function=lambda route: f"{route.tags[0]}_{route.name}",
    )  # fmt: skip
    app.state.parts = parts
    for router in ROUTERS:
        app.include_router(router)
    install_problems(app)
    app.add_middleware(Guard, settings=settings, metrics=parts.metrics)
    _document(app)
    return app


def _document(app: FastAPI) -> None:
    """Add what routes cannot say by themselves to the OpenAPI document."""
    from service.schemas.problems import FieldError, Problem

    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            template = "#/components/schemas/{model}"
            schemas["Problem"] = Problem.model_json_schema(ref_template=template)
            schemas["Problem"].pop("$defs", None)
            schemas["FieldError"] = FieldError.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
