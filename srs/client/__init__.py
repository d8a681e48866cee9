"""The HTTP client of the service: `Client(url, api_key)`.

`connection` sends requests and repeats what may be repeated; `datasets`, `jobs`, `job` and `events`
are what users hold. It speaks HTTP and `srs.results.result`, and knows nothing else of the service.
There is no asynchronous twin: a thread for each watched job does the same.
"""

from srs.client.client import Client
from srs.client.datasets import Dataset
from srs.client.events import Event
from srs.client.job import Job
from srs.client.progress import JobProgress

__all__ = ["Client", "Dataset", "Event", "Job", "JobProgress"]
