"""HTTP: each route parses, calls one thing and returns a schema."""

from service.routes import analyses, datasets, events, health, jobs, page, results, session, uploads

ROUTERS = (
    health.router, session.router, uploads.router, datasets.router, jobs.router, events.router,
    results.router, analyses.router, page.router,
)  # fmt: skip

__all__ = ["ROUTERS"]
