"""`Client`: the door to a service."""

from __future__ import annotations

from typing import Any

from srs.client.connection import Connection
from srs.client.datasets import Datasets
from srs.client.jobs import Jobs


class Client:
    """A service and a user of it.

    url      address of the service, e.g. "https://srs.example.org"
    api_key  made by `srs keys create`; None for a service without keys
    timeout  seconds to wait for an answer to one request
    patience seconds to keep trying while the service is down or too busy (at most 10 if the
             address has never answered)

    datasets, jobs  what there is; see `Datasets` and `Jobs`

    >>> client = Client("http://127.0.0.1:8000", api_key="srs_...")
    >>> client
    <Client of http://127.0.0.1:8000>

    With a service behind the address:

        dataset = client.datasets.upload("X.npy", target="y.npy").wait()
        job = client.jobs.submit(dataset, fdr=0.1, memory="512MB")
        result = job.wait(progress=True).result()
        print(result.relevant_names)
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = 120.0,
        patience: float = 60.0,
    ) -> None:
        self._connection = Connection(url, api_key, timeout, patience)
        self.datasets = Datasets(self._connection)
        self.jobs = Jobs(self._connection)

    def __repr__(self) -> str:
        return f"<Client of {self._connection.url}>"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close open connections."""
        self._connection.close()

    def whoami(self) -> dict[str, Any]:
        """The user of the key and its scopes."""
        found: dict[str, Any] = self._connection.get("/v1/session").json()
        return found

    def usage(self) -> dict[str, Any]:
        """The bytes that you keep: n_bytes of limit, by uploads, datasets and jobs."""
        found: dict[str, Any] = self._connection.get("/v1/usage").json()
        return found
