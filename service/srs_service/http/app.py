"""The application: settings in, FastAPI out. Nothing is global: there may be several."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool

import srs
from srs_service.auth.authentication import Authenticator
from srs_service.auth.sign_in import BrowserSignIn
from srs_service.data.datasets import DatasetRegistry
from srs_service.data.layout import DataFolder
from srs_service.data.pairing import pair
from srs_service.database import JobStore, open_job_store
from srs_service.http.cursors import Cursors
from srs_service.http.exports import Exports
from srs_service.http.metrics import Metrics
from srs_service.http.middleware import Guard
from srs_service.http.parameters import refuse_unknown_parameters
from srs_service.http.problems import install_problems
from srs_service.http.routes import ROUTERS
from srs_service.http.throttle import Rates, Streams
from srs_service.jobs.children import Questions, start_template
from srs_service.jobs.clusters import Scheduler
from srs_service.jobs.hub import Hub
from srs_service.jobs.runner import Runner
from srs_service.jobs.submission import Submitter
from srs_service.jobs.webhooks import WebhookSender
from srs_service.settings import Settings

log = logging.getLogger("srs_service")

DESCRIPTION = """Selections of relevant features as jobs: register a dataset, submit a job,
watch it, fetch its result. Errors are `application/problem+json` (RFC 9457). Send an API key as
`Authorization: Bearer KEY`."""


@dataclass
class Parts:
    """What routes call; `request.app.state.parts`."""

    settings: Settings
    store: JobStore
    folder: DataFolder
    library: DatasetRegistry
    authenticator: Authenticator
    rates: Rates
    streams: Streams
    cursors: Cursors
    questions: Questions
    runner: Runner
    hub: Hub
    submitter: Submitter
    metrics: Metrics
    exports: Exports
    webhook_sender: WebhookSender
    scheduler: Scheduler
    sign_in: BrowserSignIn

    @staticmethod
    def check_parameters(request: Request) -> None:
        """Refuse what the route does not take, once it is known who asks."""
        refuse_unknown_parameters(request)

    @classmethod
    def make(cls, settings: Settings) -> Parts:
        folder = DataFolder(settings.data_dir.resolve())
        folder.prepare()
        store = open_job_store(settings.database_url, folder.root, settings.database_connections)
        pair(folder, store)
        library = DatasetRegistry(settings, store, folder)
        scheduler = Scheduler(settings)
        runner = Runner(settings, store, folder, library, scheduler)
        questions = Questions()
        return cls(
            settings=settings,
            store=store,
            folder=folder,
            library=library,
            authenticator=Authenticator(settings, store),
            rates=Rates(settings.rate_limit),
            streams=Streams(settings.max_streams, settings.max_streams_per_user),
            cursors=Cursors(store.keys.secret("cursors")),
            questions=questions,
            runner=runner,
            hub=Hub(store),
            submitter=Submitter(settings, store, library, questions, runner),
            metrics=Metrics(),
            exports=Exports(questions, folder),
            webhook_sender=WebhookSender(store, settings.trusted_networks),
            scheduler=scheduler,
            sign_in=BrowserSignIn(settings, store),
        )


def create_app(settings: Settings) -> FastAPI:
    """The service with these settings; its runner lives as long as the application does."""
    parts = Parts.make(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if settings.max_running or settings.scheduler:
            start_template()
        parts.scheduler.start()
        parts.runner.on_end = parts.metrics.count_job
        parts.runner.start()
        parts.hub.start()
        parts.webhook_sender.start()
        try:
            yield
        finally:
            await parts.hub.stop()
            await run_in_threadpool(parts.runner.stop)
            await run_in_threadpool(parts.scheduler.stop)
            await run_in_threadpool(parts.webhook_sender.stop)
            parts.store.close()

    app = FastAPI(
        title="srs",
        version=srs.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: f"{route.tags[0]}_{route.name}",
    )
    app.state.parts = parts
    for router in ROUTERS:
        app.include_router(router)
    install_problems(app)
    app.add_middleware(Guard, settings=settings, metrics=parts.metrics, audit=parts.store.audit)
    _document(app)
    return app


def _document(app: FastAPI) -> None:
    """Add what routes cannot say by themselves to the OpenAPI document."""
    from srs_service.schemas.analyses import name_schemas
    from srs_service.schemas.problems import FieldError, Problem, problem_responses

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
            name_schemas(schemas)
            refused = problem_responses(422)[422]
            for methods in document["paths"].values():
                for operation in methods.values():  # a parameter that there is not
                    operation["responses"].setdefault("422", refused)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
