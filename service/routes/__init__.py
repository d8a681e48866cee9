"""HTTP: each route parses, calls one thing and returns a schema."""

from service.routes import datasets, events, health, jobs, results, session, uploads

ROUTERS = (
    health.router, session.router, uploads.router, datasets.router, jobs.router, events.router,
    results.router,
)  # fmt: skip

__all__ = ["ROUTERS"]
