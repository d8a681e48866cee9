"""One way to run SQL on SQLite and on PostgreSQL: transactions over a bounded pool.

Statements are written once, with `:name` parameters. What differs is in a `Dialect`: the clock
(always the database's, so that runners on several machines agree on leases) and row locks.
SQLite runs in WAL mode with synchronous=FULL: what was answered survives a power cut.
"""

from __future__ import annotations

import logging
import queue
import re
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srs_service.errors import Unavailable

log = logging.getLogger("srs_service")

SQLITE_FILE = "service.sqlite3"  # in the data folder
BUSY_SECONDS = 30.0  # how long a statement waits for the writer of another process
Row = dict[str, Any]


@dataclass(frozen=True)
class Dialect:
    """What the two databases say differently.

    now          seconds since 1970 by the database's clock
    lock_rows    behind a SELECT whose rows will be changed: waits for others that change them
    skip_locked  the same, but leaves out rows that others change now
    position     function of a text and a part of it: where the part begins, 0 if it does not
    """

    now: str
    lock_rows: str
    skip_locked: str
    position: str


SQLITE = Dialect("((julianday('now') - 2440587.5) * 86400.0)", "", "", "instr")
POSTGRES = Dialect(
    "extract(epoch FROM clock_timestamp())::float8",
    "FOR UPDATE",
    "FOR UPDATE OF j SKIP LOCKED",
    "strpos",
)


class Transaction:
    """Statements of one transaction."""

    def __init__(self, connection: Any, dialect: Dialect) -> None:
        self._connection = connection
        self.dialect = dialect

    def run(self, sql: str, **values: Any) -> list[Row]:
        """Run a statement; the rows that it returns, as dicts."""
        text = sql.replace("{now}", self.dialect.now)
        text = text.replace("{skip_locked}", self.dialect.skip_locked)
        text = text.replace("{position}", self.dialect.position)
        if self.dialect is POSTGRES:
            cursor = self._connection.execute(_to_postgres(text), values)
            return list(cursor.fetchall()) if cursor.description else []
        return [dict(row) for row in self._connection.execute(text, values).fetchall()]

    def one(self, sql: str, **values: Any) -> Row | None:
        rows = self.run(sql, **values)
        return rows[0] if rows else None


def _to_postgres(sql: str) -> str:
    """`:name` parameters as psycopg writes them.

    >>> _to_postgres("SELECT a::text FROM t WHERE b = :b AND c LIKE 'x%'")
    "SELECT a::text FROM t WHERE b = %(b)s AND c LIKE 'x%%'"
    """
    return re.sub(r"(?<![:\w]):(\w+)", r"%(\1)s", sql.replace("%", "%%"))


class Database(ABC):
    """A pool of connections; `open_database` makes it.

    At most `size` connections are open. A connection that broke is dropped, and the next
    transaction opens another: after a restart of the database the service goes on.
    """

    dialect: Dialect

    def __init__(self, size: int) -> None:
        self._idle: queue.LifoQueue[Any] = queue.LifoQueue()
        self._places = threading.BoundedSemaphore(size)

    @contextmanager
    def transaction(self, write: bool = True) -> Iterator[Transaction]:
        """Statements that happen together or not at all; Unavailable if the database is away."""
        with self._places, self._writing(write):
            connection = self._take()
            try:
                self._begin(connection, write)
                yield Transaction(connection, self.dialect)
                self._commit(connection)
            except BaseException as error:
                self._give_back_after(connection, error)
                if self._is_outage(error):
                    log.error("database: %s", type(error).__name__)
                    raise Unavailable("the database does not answer; try again.") from error
                raise
            self._idle.put(connection)

    def open(self) -> None:
        """Open the first connection; Unavailable says why it failed, to the administrator."""
        try:
            self._idle.put(self._connect())
        except Exception as error:
            raise Unavailable(f"the database cannot be opened: {self._reason(error)}.") from None

    def _take(self) -> Any:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            try:
                return self._connect()
            except Exception as error:
                raise Unavailable("the database cannot be reached; try again.") from error

    def _give_back_after(self, connection: Any, error: BaseException) -> None:
        try:
            self._rollback(connection)
        except Exception:
            connection.close()
        else:
            if self._is_outage(error):
                connection.close()
            else:
                self._idle.put(connection)

    def close(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    @contextmanager
    def _writing(self, write: bool) -> Iterator[None]:  # noqa: ARG002
        yield

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection."""

    @abstractmethod
    def _reason(self, error: Exception) -> str:
        """Why there is no connection, without secrets and full stop."""

    @abstractmethod
    def _begin(self, connection: Any, write: bool) -> None:
        """Start a transaction that reads, or one that writes too."""

    def _commit(self, connection: Any) -> None:
        connection.commit()

    def _rollback(self, connection: Any) -> None:
        connection.rollback()

    @abstractmethod
    def _is_outage(self, error: BaseException) -> bool:
        """Whether the connection is to blame, so that it must not be used again."""


class SqliteDatabase(Database):
    """SQLite in a file, for one machine."""

    dialect = SQLITE

    def __init__(self, path: Path, size: int) -> None:
        super().__init__(size)
        self.path = path
        # Writers of this process take turns here: SQLite's own waiting sleeps up to 100 ms.
        self._writer = threading.Lock()

    @contextmanager
    def _writing(self, write: bool) -> Iterator[None]:
        if write:
            with self._writer:
                yield
        else:
            yield

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _reason(self, error: Exception) -> str:
        return f"{self.path}: {error}"

    def _begin(self, connection: sqlite3.Connection, write: bool) -> None:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def _is_outage(self, error: BaseException) -> bool:
        # Busy, full, unreadable: another time it may work. A wrong statement (1) never will.
        return (
            isinstance(error, sqlite3.OperationalError)
            and getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_ERROR
        )


class PostgresDatabase(Database):
    """PostgreSQL by its URL, for several replicas."""

    dialect = POSTGRES

    def __init__(self, url: str, size: int) -> None:
        super().__init__(size)
        self._url = url

    def _connect(self) -> Any:
        import psycopg
        from psycopg.rows import dict_row

        return psycopg.connect(
            self._url,
            row_factory=dict_row,
            autocommit=False,
            connect_timeout=10,
            application_name="srs",
            options="-c idle_in_transaction_session_timeout=60000",
        )

    def _reason(self, error: Exception) -> str:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            given = conninfo_to_dict(self._url)
        except ProgrammingError:
            given = {"host": "@"}
        if "@" in f"{given.get('host')}{given.get('dbname')}":
            # The driver's own words would show a part of the password.
            return (
                "SRS_DATABASE_URL cannot be read: in its password write @ as %40, / as %2F "
                "and % as %25"
            )
        text = " ".join(str(error).split()).rstrip(".?")
        return text.replace(str(given["password"]), "...") if given.get("password") else text

    def _begin(self, connection: Any, write: bool) -> None:
        pass  # psycopg begins with the first statement

    def _is_outage(self, error: BaseException) -> bool:
        import psycopg

        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def open_database(url: str | None, folder: Path, size: int) -> Database:
    """The database at `url`, or SQLite in `folder`."""
    if url is None:
        return SqliteDatabase(folder / SQLITE_FILE, size)
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise Unavailable("PostgreSQL needs psycopg: pip install 'srs-select[service]'.") from None
    return PostgresDatabase(url, size)


def in_list(values: Sequence[str], prefix: str) -> tuple[str, Mapping[str, str]]:
    """Parameters for `IN (...)`: the text between the brackets, and its values.

    >>> in_list(["a", "b"], "s")
    (':s0, :s1', {'s0': 'a', 's1': 'b'})
    """
    named = {f"{prefix}{i}": value for i, value in enumerate(values)}
    return ", ".join(f":{name}" for name in named), named
