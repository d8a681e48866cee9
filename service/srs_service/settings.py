"""The settings of the service, from the environment (`SRS_...`) and from `srs serve`.

Read once, in `srs serve`, and handed to `create_app`. Each field's description is what
`srs serve --help` and the README list; a test compares them.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ByteSize, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

PREFIX = "SRS_"
LOOPBACK = ("127.0.0.1", "::1", "localhost")

LISTS = (
    "store_roots",
    "store_urls",
    "trusted_networks",
    "trusted_proxies",
    "oidc_scopes",
    "oidc_teams",
)
Names = Annotated[tuple[str, ...], NoDecode]
Paths = Annotated[tuple[Path, ...], NoDecode]


class Settings(BaseSettings):
    """Everything that an administrator may set; lists are separated by commas."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True
    )

    # Where it listens and keeps things.
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on")
    base_url: str | None = Field(
        None,
        pattern=r"^https?://[^/]+(/.*)?$",
        description="address that users see, e.g. https://srs.example.org (links, secure cookies)",
    )
    data_dir: Path = Field(Path("srs-data"), description="folder of database, stores and results")
    database_url: str | None = Field(
        None,
        pattern=r"^postgres(ql)?://",
        description="postgresql://... for several replicas; default: SQLite in the data folder",
    )
    database_connections: int = Field(
        8, ge=2, le=100, description="maximum number of connections to the database"
    )

    # What jobs may use.
    max_running: int = Field(1, ge=0, le=64, description="jobs that this process runs at once")
    max_running_short: int = Field(
        1, ge=0, le=64, description="ingests that run beside, when all other places are taken"
    )
    max_running_per_user: int = Field(
        64, ge=1, description="jobs of one user that run at once, in all processes"
    )
    max_job_seconds: float | None = Field(
        None, gt=0, description="time that an attempt of a job may take; default: no limit"
    )
    threads: int | None = Field(
        None, ge=1, le=1024, description="threads of a job; default: cores / SRS_MAX_RUNNING"
    )
    scheduler: str | None = Field(
        None, pattern=r"^(tcp|tls)://", description="Dask scheduler that grows the trees of jobs"
    )
    scheduler_tls: Path | None = Field(
        None, description="folder of ca.pem, cert.pem and key.pem for tls:// schedulers"
    )
    max_memory: ByteSize = Field(
        ByteSize(4 * 10**9), description="maximum memory that a job may request"
    )
    max_queued: int = Field(
        10_000, ge=1, description="maximum number of waiting jobs, of all users"
    )
    max_queued_per_user: int = Field(
        1_000, ge=1, description="maximum number of waiting jobs of one user"
    )
    max_attempts: int = Field(
        5, ge=1, description="how often a job is started, after crashes, before it fails"
    )
    lease_seconds: float = Field(
        30.0, ge=1, le=3600, description="silence after which a job is taken from its runner"
    )
    cancel_seconds: float = Field(
        30.0, ge=0, le=3600, description="time for a cancelled job to stop by itself"
    )

    # What data may be read.
    store_roots: Paths = Field(
        (), description="folders below which users may register stores and sources"
    )
    store_urls: Names = Field(
        (), description="object storage that users may register stores from, e.g. s3://bucket/path/"
    )
    max_features: int = Field(
        100_000_000, ge=1, description="maximum number of features of a dataset"
    )
    max_upload: ByteSize = Field(
        ByteSize(10**10), description="maximum bytes of one upload or fetched source"
    )
    max_user_data: ByteSize = Field(
        ByteSize(10**11), description="maximum bytes that one user may keep"
    )
    min_free: ByteSize = Field(
        ByteSize(5 * 10**8), description="free bytes of the disk below which nothing new is taken"
    )
    keep_uploads_days: float | None = Field(
        None, gt=0, description="days after which uploads without a dataset are deleted"
    )
    keep_jobs_days: float | None = Field(
        None, gt=0, description="days after their end after which jobs are deleted"
    )
    trusted_networks: Names = Field(
        (), description="private networks that sources and webhooks may reach, e.g. 10.1.0.0/16"
    )

    # Who may do what.
    auth: bool = Field(True, description="require API keys; may be off only on loopback addresses")
    oidc_issuer: str | None = Field(
        None, pattern=r"^https?://", description="issuer of OpenID Connect tokens that are accepted"
    )
    oidc_audience: str | None = Field(None, description="audience that such tokens must name")
    oidc_scopes: Names = Field(("read", "write"), description="what users with such tokens may do")
    oidc_client_id: str | None = Field(
        None, description="client of the issuer that browsers sign in with; needs SRS_BASE_URL"
    )
    oidc_client_secret: SecretStr | None = Field(None, description="its secret, if it has one")
    oidc_groups_claim: str = Field("groups", description="claim of tokens that lists groups")
    oidc_teams: Names = Field(
        (), description="teams of groups, e.g. lab-7=genomics; members read what the team shares"
    )
    oidc_admin_group: str | None = Field(None, description="group whose members are administrators")
    session_hours: float = Field(12.0, gt=0, le=720, description="lifetime of a browser session")

    # What one client may ask of it.
    max_body: int = Field(1_000_000, ge=1_000, description="maximum bytes of a JSON body")
    rate_limit: float = Field(
        50.0, ge=0, description="requests per second of one user, on average; 0: no limit"
    )
    max_streams: int = Field(1_000, ge=1, description="maximum number of open event streams")
    max_streams_per_user: int = Field(
        600, ge=1, description="maximum number of open event streams of one user"
    )
    request_seconds: float = Field(
        20.0,
        gt=0,
        description="time limit for a request head, a JSON body, or the next part of an upload",
    )
    trusted_proxies: Names = Field(
        (), description="networks of proxies whose X-Forwarded-For is believed in the audit log"
    )
    audit_days: float = Field(365.0, gt=0, description="days that the audit log is kept")
    idempotency_days: float = Field(30.0, gt=0, description="lifetime of idempotency keys")

    log_format: Literal["json", "text"] = Field("json", description="json or text")

    @field_validator(*LISTS, mode="before")
    @classmethod
    def _split(cls, given: Any) -> Any:
        if isinstance(given, str):
            return tuple(part.strip() for part in given.split(",") if part.strip())
        return given

    @field_validator("store_roots", mode="after")
    @classmethod
    def _resolve(cls, roots: tuple[Path, ...]) -> tuple[Path, ...]:
        for root in roots:
            if not root.is_dir():
                raise ValueError(f"{root} is not a folder")
        return tuple(root.resolve() for root in roots)

    @field_validator("store_urls", mode="after")
    @classmethod
    def _whole_parts(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        """s3://bucket must not open s3://bucket-of-another."""
        return tuple(url if url.endswith("/") else f"{url}/" for url in urls)

    @field_validator("oidc_teams", mode="after")
    @classmethod
    def _pairs(cls, pairs: tuple[str, ...]) -> tuple[str, ...]:
        for pair in pairs:
            group, _, team = pair.partition("=")
            if not group or not team:
                raise ValueError(f"{pair!r} is not GROUP=TEAM")
        return pairs

    @field_validator("trusted_networks", "trusted_proxies", mode="after")
    @classmethod
    def _networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ipaddress.ip_network(network)) for network in networks)

    @model_validator(mode="after")
    def _consistent(self) -> Settings:
        if not self.auth and self.host not in LOOPBACK:
            raise ValueError(
                "SRS_AUTH may be off only on loopback addresses, and SRS_HOST is "
                f"{self.host}: leave keys on"
            )
        if (self.oidc_issuer is None) != (self.oidc_audience is None):
            raise ValueError("SRS_OIDC_ISSUER and SRS_OIDC_AUDIENCE belong together: set both")
        if self.oidc_client_id is not None and None in (self.oidc_issuer, self.base_url):
            raise ValueError(
                "SRS_OIDC_CLIENT_ID needs SRS_OIDC_ISSUER, and SRS_BASE_URL, to which browsers "
                "come back"
            )
        return self

    @property
    def team_of_group(self) -> dict[str, str]:
        """The team that members of a group of the issuer belong to."""
        return {group: team for group, _, team in (one.partition("=") for one in self.oidc_teams)}

    @property
    def is_https(self) -> bool:
        """Whether users reach the service by https."""
        return (self.base_url or "").startswith("https://")

    @property
    def job_threads(self) -> int:
        """Threads of a job."""
        return self.threads or max(1, (os.cpu_count() or 1) // max(1, self.max_running))
