"""Clusters that a batch system or Kubernetes starts: by dask-jobqueue and the Dask operator.

A file says what the site wants (TOML):

    n_workers = 20            # or: minimum = 2 and maximum = 20, which follow the work
    [options]                 # as dask-jobqueue's SLURMCluster, PBSCluster, SGECluster take them,
    queue = "normal"          # or the operator's make_cluster_spec
    walltime = "04:00:00"

Memory and threads follow from the run. A job ends itself before its wall time, and hands over.
"""

from __future__ import annotations

import re
import signal
import threading
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from srs.errors import ClusterError, SettingsError

# What --cluster may be, and the class of dask-jobqueue that submits its workers.
QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster"}
KINDS = (*QUEUES, "kubernetes")  # the last by the operator of dask-kubernetes
SPARE_SECONDS = 120  # a worker leaves so long before its job is ended
LIMIT_FACTOR = 2.0  # of a worker's limit to what it may hold, see `srs.executors.launch`


@dataclass(frozen=True)
class JobCluster:
    """A cluster to be started by a batch system or Kubernetes.

    kind              one of KINDS
    minimum, maximum  workers; as many as the work needs between the two
    options           for the class that starts jobs of this kind
    """

    kind: str
    minimum: int
    maximum: int
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, kind: str, path: Path) -> JobCluster:
        """From a file; what it must not say is a SettingsError that names it."""
        if kind not in KINDS:
            raise SettingsError(f"--cluster must be one of {', '.join(KINDS)}, not {kind!r}.")
        try:
            raw = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"{path} cannot be read as TOML: {error}") from None
        unknown = sorted(set(raw) - {"n_workers", "minimum", "maximum", "options"})
        if unknown:
            raise SettingsError(
                f"{path}: there is no {unknown[0]!r}; see `srs.executors.batch_systems`."
            )
        n_workers = raw.get("n_workers")
        low, high = raw.get("minimum", n_workers), raw.get("maximum", n_workers)
        if not (isinstance(low, int) and isinstance(high, int) and 0 <= low <= high and high):
            raise SettingsError(f"{path} must give n_workers, or minimum and maximum.")
        options = dict(raw.get("options", {}))
        ours = sorted({"memory", "cores", "processes", "security", "n_workers"} & set(options))
        if ours:
            raise SettingsError(
                f"{path}: {ours[0]} follows from the options of the run (--memory, "
                "--threads, --tls): leave it out."
            )
        return cls(kind, low, high, options)

    def start(self, threads: int, worker_mem: int, security: Any = None) -> Any:
        """The cluster, without workers yet."""
        if self.kind == "kubernetes":
            if security is not None:
                raise SettingsError(
                    "--tls cannot be used with --cluster kubernetes, because the operator does "
                    "not support it: start the scheduler and workers with TLS yourself, and "
                    "give --scheduler tls://... --tls FOLDER."
                )
            return _start_kubernetes(self, threads, worker_mem)
        dask_jobqueue = _import_jobqueue(self.kind)
        options = {"interface": None, "scheduler_options": {}, **self.options}
        # The dashboard has no login: it is for this machine.
        options["scheduler_options"] = {
            "dashboard_address": "127.0.0.1:0",
            **options["scheduler_options"],
        }
        extra = [*options.pop("worker_extra_args", []), *_lifetime(options.get("walltime"))]
        try:
            return getattr(dask_jobqueue, QUEUES[self.kind])(
                cores=threads,
                processes=1,
                memory=f"{int(LIMIT_FACTOR * worker_mem)}B",
                worker_extra_args=extra,
                security=security,
                n_workers=0,
                **options,
            )
        except (TypeError, ValueError, RuntimeError) as error:
            raise ClusterError(f"the {self.kind} cluster cannot be started: {error}") from None


def _import_jobqueue(kind: str) -> Any:
    """dask-jobqueue; Ctrl-C stays ours: importing it makes that end the process at once."""
    ours = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue
    except ImportError:
        raise ClusterError(
            f"--cluster {kind} needs dask-jobqueue: pip install 'srs-select[jobs]'."
        ) from None
    except ValueError:
        raise ClusterError(f"a {kind} cluster must be started by the main thread.") from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ours)
    return dask_jobqueue


def _lifetime(walltime: Any) -> list[str]:
    """Options that let a worker leave before its job is ended; none without a wall time.

    >>> _lifetime("01:00:00")
    ['--lifetime', '3480s', '--lifetime-stagger', '60s']
    """
    if walltime is None:
        return []
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", str(walltime))
    if match is None:
        raise SettingsError(f"a wall time is written as 04:00:00 or 1-12:00:00, not {walltime!r}.")
    days, hours, minutes, rest = (int(part or 0) for part in match.groups())
    seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    if seconds <= 2 * SPARE_SECONDS:
        raise SettingsError(f"a wall time of {walltime} is too short for a worker to do anything.")
    return ["--lifetime", f"{seconds - SPARE_SECONDS}s", "--lifetime-stagger", "60s"]


def kubernetes_spec(cluster: JobCluster, threads: int, worker_mem: int) -> dict[str, Any]:
    """The DaskCluster resource that is handed to the operator."""
    from dask_kubernetes.operator import make_cluster_spec

    options = {"name": "srs", "image": "srs", "env": {}, **cluster.options}
    limit = str(int(LIMIT_FACTOR * worker_mem))
    size = {"memory": limit, "cpu": str(threads)}
    spec: dict[str, Any] = make_cluster_spec(
        n_workers=cluster.minimum,
        resources={"requests": size, "limits": {"memory": limit}},
        worker_command=["dask", "worker", "--nthreads", str(threads), "--memory-limit", limit],
        **options,
    )
    return spec


def _start_kubernetes(cluster: JobCluster, threads: int, worker_mem: int) -> Any:
    try:
        from dask_kubernetes.operator import KubeCluster
    except ImportError:
        raise ClusterError(
            "--cluster kubernetes needs dask-kubernetes: pip install 'srs-select[jobs]'."
        ) from None
    try:
        return KubeCluster(custom_cluster_spec=kubernetes_spec(cluster, threads, worker_mem))
    except Exception as error:
        raise ClusterError(f"the kubernetes cluster cannot be started: {error}") from None
