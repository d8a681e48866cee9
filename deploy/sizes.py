"""Sizes of containers that follow from `--memory`: what one worker process of a job may hold.

Container limit > Dask's limit > `--memory`. Dask pauses a worker at 80 % of its own limit, so that
is twice `--memory`; the container holds Dask's nanny besides. A worker asks the machine for what it
is promised to hold, and never gets near its limits; they end what went wrong.

    python deploy/sizes.py --for kubernetes --memory 4GB --threads 2 --features 10000000
    python deploy/sizes.py --for compose --memory 2GB
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from srs.engine.memory import coordinator_projected_mem, plan_shape
from srs.executors.batch_systems import LIMIT_FACTOR
from srs.memory import MB, parse_bytes

NANNY_MEM = 256 * MB  # Dask's nanny (a fresh Dask process: 63 MB), health checks, /tmp; a choice
SERVICE_MEM = 1024 * MB  # the service, what jobs are forked from, two questions; a choice
SPARE_MEM = 1536 * MB  # that `srs_service.jobs.work` lets ingest and explain hold beyond `memory`
N_SHORT = 1  # ingests that run beside max_running jobs: the default of SRS_MAX_RUNNING_SHORT
TYPICAL_SAMPLES = 1_000


@dataclass(frozen=True)
class Sizes:
    """Bytes, unless said otherwise.

    memory             what one worker process, or a job of the service, may hold
    threads            threads of a worker, and of a job of the service
    max_features       features of the largest dataset
    max_running        jobs that one process of the service runs at once
    """

    memory: int
    threads: int
    max_features: int
    max_running: int

    @property
    def worker_limit(self) -> int:
        """Dask's --memory-limit."""
        return int(LIMIT_FACTOR * self.memory)

    @property
    def worker_request(self) -> int:
        return self.memory + NANNY_MEM

    @property
    def worker_container(self) -> int:
        return self.worker_limit + NANNY_MEM

    @property
    def job_mem(self) -> int:
        """What a job holds in the service: ingest and explain `memory`, select all features."""
        shape = plan_shape(
            n_samples=TYPICAL_SAMPLES,
            n_features=self.max_features,
            chunk_features=1024,
            n_roles=2,
            max_carried=1_000,
            n_outputs=2,
            allowed_mem=10**15,
        )
        return max(self.memory, coordinator_projected_mem(shape))

    @property
    def service_request(self) -> int:
        return SERVICE_MEM + self.max_running * self.job_mem + N_SHORT * self.memory

    @property
    def service_container(self) -> int:
        """Above what the kernel lets a child hold: it ends what went wrong, not the service."""
        child = max(int(1.5 * self.job_mem), self.memory + SPARE_MEM)
        return SERVICE_MEM + self.max_running * child + N_SHORT * (self.memory + SPARE_MEM)


PATCH = """# Written by: python deploy/sizes.py --for kubernetes {command}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: srs-service
spec:
  template:
    spec:
      containers:
        - name: service
          env:
            - {{name: SRS_MAX_MEMORY, value: "{memory}"}}
            - {{name: SRS_MAX_FEATURES, value: "{max_features}"}}
            - {{name: SRS_MAX_RUNNING, value: "{max_running}"}}
            - {{name: SRS_THREADS, value: "{threads}"}}
          resources:
            requests: {{cpu: "{service_cores}", memory: {service_request}}}
            limits: {{memory: {service_container}}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: srs-worker
spec:
  template:
    spec:
      containers:
        - name: worker
          env:
            - {{name: WORKER_THREADS, value: "{threads}"}}
            - {{name: WORKER_LIMIT, value: "{worker_limit}"}}
          resources:
            requests: {{cpu: "{threads}", memory: {worker_request}}}
            limits: {{memory: {worker_container}}}
"""
LINES = """SRS_MAX_MEMORY={memory}
SRS_MAX_FEATURES={max_features}
SRS_MAX_RUNNING={max_running}
SRS_THREADS={threads}
WORKER_THREADS={threads}
WORKER_LIMIT={worker_limit}
WORKER_CONTAINER={worker_container}
SERVICE_CONTAINER={service_container}
"""


def mebibytes(n_bytes: int) -> str:
    """A quantity of Kubernetes that is no less.

    >>> mebibytes(2**20 + 1)
    '2Mi'
    """
    return f"{-(-n_bytes // MB)}Mi"


def render(sizes: Sizes, purpose: str, command: str = "") -> str:
    """The patch of an overlay ("kubernetes"), or lines of an environment file ("compose")."""
    of = mebibytes if purpose == "kubernetes" else str
    text = PATCH if purpose == "kubernetes" else LINES
    return text.format(
        command=command,
        memory=sizes.memory,
        max_features=sizes.max_features,
        max_running=sizes.max_running,
        threads=sizes.threads,
        service_cores=sizes.max_running * sizes.threads,
        worker_limit=sizes.worker_limit,
        worker_request=of(sizes.worker_request),
        worker_container=of(sizes.worker_container),
        service_request=of(sizes.service_request),
        service_container=of(sizes.service_container),
    )


def main(arguments: list[str] | None = None) -> str:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--for", dest="purpose", choices=("kubernetes", "compose"), required=True)
    parser.add_argument("--memory", default="2GB", help="what a worker may hold [2GB]")
    parser.add_argument("--threads", type=int, default=1, help="threads of a worker or job [1]")
    parser.add_argument("--features", type=int, default=1_000_000, help="of the largest dataset")
    parser.add_argument("--max-running", type=int, default=1, help="jobs at once a replica [1]")
    given = parser.parse_args(arguments)
    sizes = Sizes(parse_bytes(given.memory), given.threads, given.features, given.max_running)
    command = (
        f"--memory {given.memory} --threads {given.threads} --features {given.features} "
        f"--max-running {given.max_running}"
    )
    return render(sizes, given.purpose, command)


if __name__ == "__main__":
    print(main(), end="")
