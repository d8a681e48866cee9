"""All SQL of the service, one module a noun; SQLite by default, PostgreSQL by its URL.

`open_job_store` opens the database, brings its tables up to date and gives the `JobStore`.
"""

from srs_service.database.connection import open_database
from srs_service.database.store import JobStore, open_job_store

__all__ = ["JobStore", "open_database", "open_job_store"]
