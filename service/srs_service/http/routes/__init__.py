"""HTTP: each route parses, calls one thing and returns a schema."""

from srs_service.http.routes import (
    account,
    admin,
    catalogues,
    datasets,
    events,
    health,
    jobs,
    page,
    results,
    session,
    targets,
    uploads,
)

ROUTERS = (
    health.router,
    session.router,
    session.sign_in_router,
    account.router,
    admin.router,
    uploads.router,
    datasets.router,
    jobs.router,
    events.router,
    results.router,
    targets.router,
    results.compare_router,
    catalogues.router,
    page.router,
)

__all__ = ["ROUTERS"]
