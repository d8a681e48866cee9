"""Job scripts and manifests as they would be submitted, without a scheduler; TLS on loopback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from distributed.utils import LoopRunner

import srs
from srs.errors import ClusterError, SettingsError
from srs.executors import open_executor
from srs.executors.batch_systems import JobCluster, kubernetes_spec
from srs.executors.launch import connect
from tests.certificates import make_certificates
from tests.executors.conftest import SETTINGS, outcome_bytes

CONFIG = 'n_workers = 3\n[options]\nqueue = "normal"\nwalltime = "04:00:00"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "cluster.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("slurm", ["#SBATCH -p normal", "#SBATCH --cpus-per-task=2", "#SBATCH -t 04:00:00"]),
        ("pbs", ["#PBS -q normal", "#PBS -l walltime=04:00:00", "ncpus=2"]),
        ("sge", ["#$ -q normal", "#$ -l h_rt=04:00:00"]),
    ],
)
def test_job_scripts(tmp_path, kind, wanted):
    pytest.importorskip("dask_jobqueue")
    spec = JobCluster.read(kind, write(tmp_path, CONFIG))
    with spec.start(threads=2, worker_mem=10**9) as cluster:
        script = cluster.job_script()
    for line in wanted:
        assert line in script
    assert "--nthreads 2" in script
    assert "--memory-limit 1.86GiB" in script, "twice what a worker may hold"
    assert "--lifetime 14280s" in script, "it leaves before its job is ended"


OURS = """
import signal
from srs.executors.batch_systems import JobCluster
def ours(*_): pass
signal.signal(signal.SIGINT, ours)
with JobCluster("slurm", 1, 1).start(1, 10**9):
    assert signal.getsignal(signal.SIGINT) is ours
"""


def test_ctrl_c_stays_ours():
    """Guards checkpoints: dask-jobqueue makes Ctrl-C end its process when it is imported."""
    pytest.importorskip("dask_jobqueue")
    subprocess.run([sys.executable, "-c", OURS], check=True)


def test_the_resource_for_the_operator(tmp_path):
    pytest.importorskip("dask_kubernetes")
    config = 'minimum = 2\nmaximum = 9\n[options]\nimage = "registry/srs:1"\nname = "wide"\n'
    spec = JobCluster.read("kubernetes", write(tmp_path, config))
    resource = kubernetes_spec(spec, threads=2, worker_mem=10**9)
    assert resource["kind"] == "DaskCluster"
    assert resource["metadata"]["name"] == "wide"
    workers = resource["spec"]["worker"]
    assert workers["replicas"] == 2
    container = workers["spec"]["containers"][0]
    assert container["image"] == "registry/srs:1"
    assert container["resources"]["limits"]["memory"] == "2000000000"
    assert container["args"][2:6] == ["--nthreads", "2", "--memory-limit", "2000000000"]
    check_resource(resource)
    for wrong in ({"replicas": "two"}, {"spec": {"containers": [{"image": 3}]}}):
        spoiled = {**resource, "spec": {**resource["spec"], "worker": {**workers, **wrong}}}
        with pytest.raises(jsonschema.ValidationError):
            check_resource(spoiled)


def check_resource(resource: dict[str, Any]) -> None:
    """By the operator's own definition, and its pods by that of Kubernetes."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    import dask_kubernetes

    folder = Path(dask_kubernetes.__file__).parent / "operator" / "deployment" / "helm"
    [version] = yaml.safe_load(
        (folder / "dask-kubernetes-operator" / "crds" / "daskcluster.yaml").read_text()
    )["spec"]["versions"]
    jsonschema.validate(resource, version["schema"]["openAPIV3Schema"])
    for part in ("worker", "scheduler"):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": part},
            "spec": resource["spec"][part]["spec"],
        }
        kubernetes_validate.validate(pod, "1.31", strict=True)


def test_kubernetes_without_tls_is_refused_with_a_sentence(certificates, chunky, tmp_path):
    jobs = JobCluster.read("kubernetes", write(tmp_path, "n_workers = 2"))
    with pytest.raises(SettingsError, match="--tls cannot be used with --cluster kubernetes"):
        srs.select(chunky, executor=jobs, tls=certificates["ours"])


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("lsf", CONFIG, "--cluster must be one of slurm"),
        ("slurm", "n_workers = ", "cannot be read as TOML"),
        ("slurm", "", "must give n_workers"),
        ("slurm", "n_workers = 0", "must give n_workers"),
        ("slurm", "n_workers = 2\nqueue = 'a'", "there is no 'queue'"),
        (
            "slurm",
            "n_workers = 2\n[options]\nmemory = '1GB'",
            "memory follows from the options of the run",
        ),
    ],
)
def test_files_that_make_no_sense(tmp_path, kind, text, message):
    with pytest.raises(SettingsError, match=message):
        JobCluster.read(kind, write(tmp_path, text))


@pytest.mark.parametrize(("walltime", "message"), [("4h", "is written as"), ("00:03:00", "short")])
def test_wall_times_that_make_no_sense(tmp_path, walltime, message):
    pytest.importorskip("dask_jobqueue")
    text = f'n_workers = 1\n[options]\nwalltime = "{walltime}"\n'
    with pytest.raises(SettingsError, match=message):
        JobCluster.read("slurm", write(tmp_path, text)).start(1, 10**9)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two folders of certificates, each with an authority of its own."""
    return {name: make_certificates(tmp_path_factory.mktemp(name)) for name in ("ours", "foreign")}


def test_a_slow_event_loop_is_waited_for(monkeypatch):
    """Guards busy machines: Dask asserts that its thread runs after 10 s."""
    monkeypatch.setattr("srs.executors.launch.CONNECT_SECONDS", 0.2)
    tries = []
    start = LoopRunner._start_unlocked

    def slow_at_first(self: LoopRunner) -> None:
        tries.append(self)
        assert len(tries) > 1
        start(self)

    monkeypatch.setattr(LoopRunner, "_start_unlocked", slow_at_first)
    with pytest.raises(ClusterError, match="no scheduler answers"):
        connect("tcp://127.0.0.1:9")
    assert len(tries) == 2


def test_tls_refuses_clients_without_the_certificate(
    chunky, undisturbed, certificates, monkeypatch
):
    monkeypatch.setattr("srs.executors.launch.CONNECT_SECONDS", 2)
    with open_executor(1, 1, None, certificates["ours"]) as executor:
        address = executor.client.scheduler.address
        assert address.startswith("tls://")
        assert outcome_bytes(srs.select(chunky, executor=executor, **SETTINGS)) == undisturbed
        connect(address, certificates["ours"]).close()
        for wrong, folder in (
            (address, certificates["foreign"]),
            (address, None),
            (address.replace("tls://", "tcp://"), None),
        ):
            with pytest.raises(ClusterError, match="no scheduler answers"):
                connect(wrong, folder)


def test_certificates_that_are_missing_are_named(chunky, tmp_path):
    with pytest.raises(SettingsError, match=r"ca\.pem is missing"):
        srs.select(chunky, executor=1, tls=tmp_path)
