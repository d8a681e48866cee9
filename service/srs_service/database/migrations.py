"""The tables, as numbered steps: a database of any earlier version is brought up to date.

A step is a list of statements that both databases understand, and runs in one transaction with
the change of `schema_version`. Steps that were published are never edited; add another.
"""

from __future__ import annotations

from srs_service.database.connection import POSTGRES, Database, Transaction
from srs_service.errors import Unavailable

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE users (
            owner TEXT PRIMARY KEY,
            last_claim DOUBLE PRECISION NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE datasets (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
            location TEXT NOT NULL, job_id TEXT, about TEXT, error TEXT,
            managed INTEGER NOT NULL, n_bytes BIGINT NOT NULL DEFAULT 0,
            created_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX datasets_by_owner ON datasets (owner, created_at, id)",
        """CREATE TABLE jobs (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
            spec TEXT NOT NULL, dataset_id TEXT NOT NULL, status TEXT NOT NULL,
            fence BIGINT NOT NULL DEFAULT 0, runner TEXT,
            lease_until DOUBLE PRECISION NOT NULL DEFAULT 0,
            n_attempts INTEGER NOT NULL DEFAULT 0, last_event BIGINT NOT NULL DEFAULT 0,
            progress TEXT, error TEXT, summary TEXT, result_fence BIGINT, webhook TEXT,
            queued_at DOUBLE PRECISION NOT NULL, created_at DOUBLE PRECISION NOT NULL,
            started_at DOUBLE PRECISION, finished_at DOUBLE PRECISION
        )""",
        "CREATE INDEX jobs_by_owner ON jobs (owner, created_at, id)",
        "CREATE INDEX jobs_by_status ON jobs (status, queued_at)",
        "CREATE INDEX jobs_by_dataset ON jobs (dataset_id)",
        """CREATE TABLE events (
            job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            number BIGINT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (job_id, number)
        )""",
        """CREATE TABLE idempotency (
            owner TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL,
            job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            created_at DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (owner, key)
        )""",
        "CREATE INDEX idempotency_by_job ON idempotency (job_id)",
        """CREATE TABLE uploads (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL, filename TEXT NOT NULL,
            n_bytes BIGINT NOT NULL, sha256 TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX uploads_by_owner ON uploads (owner, created_at, id)",
        """CREATE TABLE api_keys (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL,
            scopes TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL,
            expires_at DOUBLE PRECISION, revoked_at DOUBLE PRECISION
        )""",
        """CREATE TABLE sessions (
            hash TEXT PRIMARY KEY, owner TEXT NOT NULL, scopes TEXT NOT NULL, key_id TEXT,
            expires_at DOUBLE PRECISION NOT NULL
        )""",
        """CREATE TABLE deliveries (
            job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
            body TEXT NOT NULL, n_tries INTEGER NOT NULL DEFAULT 0,
            next_try DOUBLE PRECISION NOT NULL, lease_until DOUBLE PRECISION NOT NULL DEFAULT 0,
            outcome TEXT
        )""",
        "CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    (  # Keys of requests that make a dataset and no job; sets, which are too long for `spec`.
        """CREATE TABLE request_keys (
            owner TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL,
            job_id TEXT REFERENCES jobs (id) ON DELETE CASCADE,
            dataset_id TEXT REFERENCES datasets (id) ON DELETE CASCADE,
            created_at DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (owner, key)
        )""",
        """INSERT INTO request_keys (owner, key, body_hash, job_id, created_at)
            SELECT owner, key, body_hash, job_id, created_at FROM idempotency""",
        "DROP TABLE idempotency",
        "CREATE INDEX request_keys_by_job ON request_keys (job_id)",
        "CREATE INDEX request_keys_by_dataset ON request_keys (dataset_id)",
        "ALTER TABLE jobs ADD COLUMN feature_sets TEXT",
    ),
    (  # What was the task of a target is its kind. A quote within a name is escaped, and stays.
        *(
            f"""UPDATE {table} SET {column} = REPLACE(REPLACE({column},
                '"task": "classification"', '"kind": "classes"'),
                '"task": "regression"', '"kind": "numbers"')"""
            for table, column in (("datasets", "about"), ("jobs", "summary"), ("events", "data"))
        ),
        """UPDATE jobs SET spec = REPLACE(REPLACE(REPLACE(spec,
            '"task": "classification"', '"target_kind": "classes"'),
            '"task": "regression"', '"target_kind": "numbers"'),
            '"task": null', '"target_kind": null')""",
    ),
    (  # Selections that were asked to end with what they have found.
        "ALTER TABLE jobs ADD COLUMN finish_asked INTEGER NOT NULL DEFAULT 0",
    ),
    (  # Sessions can be listed and ended. Who was signed in signs in again.
        "DROP TABLE sessions",
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
            scopes TEXT NOT NULL, key_id TEXT, browser TEXT NOT NULL,
            created_at DOUBLE PRECISION NOT NULL, expires_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX sessions_by_owner ON sessions (owner, created_at, id)",
    ),
    (  # What is on disk is counted. Null: not measured yet. Uploads under way have a reservation.
        "ALTER TABLE jobs ADD COLUMN n_bytes BIGINT",
        """CREATE TABLE reservations (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL, n_bytes BIGINT NOT NULL,
            created_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX reservations_by_owner ON reservations (owner)",
    ),
    (  # Leases end by counted signs of life; shares of users, priorities of jobs.
        "ALTER TABLE jobs ADD COLUMN beats BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE jobs ADD COLUMN lease_seconds DOUBLE PRECISION NOT NULL DEFAULT 30",
        "ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE users ADD COLUMN share DOUBLE PRECISION NOT NULL DEFAULT 1",
    ),
    (  # Paths of our own stores are relative to the data folder, which may be moved.
        """UPDATE datasets SET location = substr(location, {position}(location,
            'datasets/' || id || '/')) WHERE managed = 1
            AND {position}(location, 'datasets/' || id || '/') > 0""",
    ),
    (  # Administrators, teams, an audit log, keys that users make, sign-in with an issuer.
        "ALTER TABLE users ADD COLUMN disabled_at DOUBLE PRECISION",
        """CREATE TABLE members (
            owner TEXT NOT NULL, team TEXT NOT NULL, source TEXT NOT NULL,
            PRIMARY KEY (owner, team, source)
        )""",
        "ALTER TABLE datasets ADD COLUMN team TEXT",
        "ALTER TABLE jobs ADD COLUMN team TEXT",
        "ALTER TABLE jobs ADD COLUMN labels TEXT",
        "CREATE INDEX datasets_by_team ON datasets (team, created_at, id)",
        "CREATE INDEX jobs_by_team ON jobs (team, created_at, id)",
        """CREATE TABLE audit (
            id TEXT PRIMARY KEY, created_at DOUBLE PRECISION NOT NULL, actor TEXT NOT NULL,
            action TEXT NOT NULL, thing TEXT NOT NULL, address TEXT NOT NULL, key_id TEXT,
            status INTEGER NOT NULL, request_id TEXT NOT NULL
        )""",
        "CREATE INDEX audit_by_time ON audit (created_at, id)",
        "ALTER TABLE api_keys ADD COLUMN parent TEXT",
        """CREATE TABLE sign_ins (
            hash TEXT PRIMARY KEY, verifier TEXT NOT NULL, nonce TEXT NOT NULL,
            expires_at DOUBLE PRECISION NOT NULL
        )""",
    ),
)
LOCK = 7_265_719  # of PostgreSQL's advisory locks: replicas that start together migrate in turn


def migrate(database: Database, steps: tuple[tuple[str, ...], ...] = STEPS) -> int:
    """Bring the tables up to date; the version that they have now."""
    with database.transaction() as change:
        if database.dialect is POSTGRES:
            change.run("SELECT pg_advisory_xact_lock(:lock)", lock=LOCK)
        change.run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        version = read_version(change)
        if version > len(steps):
            raise Unavailable(
                f"the database has tables of version {version} and this service knows "
                f"{len(steps)}: start a newer version of srs."
            )
        for number in range(version, len(steps)):
            for statement in steps[number]:
                change.run(statement)
        if version == 0:
            change.run("INSERT INTO schema_version (version) VALUES (:v)", v=len(steps))
        else:
            change.run("UPDATE schema_version SET version = :v", v=len(steps))
    return len(steps)


def read_version(change: Transaction) -> int:
    row = change.one("SELECT version FROM schema_version")
    return 0 if row is None else int(row["version"])
