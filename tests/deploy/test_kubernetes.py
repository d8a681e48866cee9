"""Manifests: valid for the API, sized after `--memory`, closed but for what is listed.

Overlays are rendered with `kubectl kustomize`; where it is missing, the files they are made of are
still validated. No cluster runs here.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from deploy import sizes
from srs.executors.launch import LEAST_FACTOR
from srs.memory import parse_bytes
from srs_service.http.metrics import Metrics
from srs_service.http.routes.health import router
from srs_service.job import JobStatus
from srs_service.jobs.work import SPARE_MEM
from tests.deploy.tools import DEPLOY, read_resources, run_script

FOLDER = DEPLOY / "kubernetes"
OVERLAYS = ("small", "large", "own-postgres")
LATEST = kubernetes_validate.latest_version()
WHOLE = [
    path
    for path in sorted(FOLDER.rglob("*.yaml"))
    if path.parent.name in ("base", "postgres") or path.stem in ("autoscaler", "ingress", "network")
    if path.name != "kustomization.yaml"
]


def check(resource: dict[str, Any]) -> None:
    """Raises if a resource has a wrong or an unknown field."""
    kubernetes_validate.validate(resource, LATEST, strict=True)


@pytest.mark.parametrize("path", WHOLE, ids=lambda p: p.stem)
def test_files_are_valid(path: Path):
    resources = read_resources(path.read_text())
    assert resources
    for resource in resources:
        check(resource)


def test_a_wrong_field_is_seen():
    resource = read_resources((FOLDER / "base" / "worker.yaml").read_text())[0]
    resource["spec"]["template"]["spec"]["restartpolicy"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        check(resource)


@cache
def render(overlay: str) -> list[dict[str, Any]]:
    return build(FOLDER / "overlays" / overlay)


def build(folder: Path) -> list[dict[str, Any]]:
    """What `kubectl apply -k` would send."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl (1.27 or later) is not installed")
    done = subprocess.run(
        ["kubectl", "kustomize", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return read_resources(done.stdout)


def named(resources: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    (found,) = [r for r in resources if (r["kind"], r["metadata"]["name"]) == (kind, name)]
    return found


def pods(resources: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Specs of pods by their component."""
    made = [r["spec"]["template"] for r in resources if r["kind"] in ("Deployment", "StatefulSet")]
    return {pod["metadata"]["labels"]["component"]: pod["spec"] for pod in made}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_overlays_are_valid(overlay: str):
    resources = render(overlay)
    for resource in resources:
        check(resource)
        assert resource["kind"] == "Namespace" or resource["metadata"]["namespace"] == "srs"
    database = set() if overlay == "own-postgres" else {"database"}
    assert set(pods(resources)) == {"service", "scheduler", "worker"} | database
    budgets = {r["metadata"]["name"] for r in resources if r["kind"] == "PodDisruptionBudget"}
    assert budgets == {"srs-service", "srs-worker"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_are_restricted(overlay: str):
    for spec in pods(render(overlay)).values():
        assert spec["restartPolicy"] == "Always"
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        (container,) = spec["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["livenessProbe"]
        assert re.search(r":\d+\.\d+\.?\d*(-\w+)?$", container["image"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_overlays_with_all_that_may_be_added(overlay: str, copied: Path):
    """Object storage for workers, a way in, and an image from elsewhere, as the README says."""
    folder = copied / "kubernetes" / "overlays" / overlay
    file = folder / "kustomization.yaml"
    text = file.read_text().replace("# components", "components")
    text = re.sub(r"^( *)# ( *)- (?=\.\./\.\./components)", r"\1\2- ", text, flags=re.M)
    readme = (DEPLOY / "README.md").read_text()
    (added,) = re.findall(r"^printf '(.+)' >>kustomization.yaml", readme, re.M)
    file.write_text(text + added.replace("\\n", "\n"))
    resources = build(folder)
    for resource in resources:
        check(resource)
    policy = named(resources, "NetworkPolicy", "srs-object-storage")["spec"]
    (who,) = policy["podSelector"]["matchExpressions"]
    assert set(who["values"]) == {"service", "worker"}
    assert policy["egress"][0]["ports"] == [{"protocol": "TCP", "port": 443}]
    of = pods(resources)
    for part in ("service", "worker"):
        (container,) = of[part]["containers"]
        assert container["envFrom"] == [
            {"secretRef": {"name": "srs-object-storage", "optional": True}}
        ]
        assert container["image"].startswith("REGISTRY/srs:")
    host = named(resources, "Ingress", "srs")["spec"]["rules"][0]["host"]
    settings = {e["name"]: e.get("value") for e in of["service"]["containers"][0]["env"]}
    assert settings["SRS_BASE_URL"] == f"https://{host}"


def test_versions_are_never_mixed():
    """Guards an upgrade: the old pods are gone before the new ones start."""
    for name in ("service", "scheduler", "worker"):
        made = read_resources((FOLDER / "base" / f"{name}.yaml").read_text())
        deployment = named(made, "Deployment", f"srs-{name}")
        assert deployment["spec"]["strategy"] == {"type": "Recreate"}


# -- memory -----------------------------------------------------------------------------------


def quantity(text: str) -> int:
    return parse_bytes(re.sub(r"i$", "iB", text))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_container_limit_is_above_dasks_and_that_above_ours(overlay: str):
    """Guards against a worker that Dask pauses, or the system kills, while it keeps its promise."""
    of = pods(render(overlay))
    service, worker = of["service"]["containers"][0], of["worker"]["containers"][0]
    settings = {e["name"]: e.get("value") for e in service["env"]}
    memory = int(settings["SRS_MAX_MEMORY"])
    limit = int({e["name"]: e["value"] for e in worker["env"]}["WORKER_LIMIT"])
    assert "--memory-limit=$(WORKER_LIMIT)" in worker["args"]
    resources = worker["resources"]
    assert quantity(resources["limits"]["memory"]) > limit > memory
    assert limit >= LEAST_FACTOR * memory
    assert memory < quantity(resources["requests"]["memory"]) < limit
    held = sizes.Sizes(memory, 1, int(settings["SRS_MAX_FEATURES"]), 1).job_mem
    assert quantity(service["resources"]["requests"]["memory"]) > held >= memory
    child = memory + SPARE_MEM  # what the kernel lets ingest and explain hold
    container = quantity(service["resources"]["limits"]["memory"])
    assert container >= sizes.SERVICE_MEM + int(settings["SRS_MAX_RUNNING"]) * child
    assert int(settings["SRS_THREADS"]) <= int(service["resources"]["requests"]["cpu"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_sizes_are_those_that_the_script_writes(overlay: str):
    text = (FOLDER / "overlays" / overlay / "sizes.yaml").read_text()
    options = text.splitlines()[0].partition("deploy/sizes.py ")[2].split()
    assert sizes.main(options) == text


# -- who talks to whom ------------------------------------------------------------------------


def may_reach(
    resources: list[dict[str, Any]],
    source: dict[str, str] | None,
    target: str,
    port: int,
    namespace: dict[str, str] | None = None,
) -> bool:
    """Whether policies let pods with labels `source` (None: of another namespace) in."""
    for policy in (r["spec"] for r in resources if r["kind"] == "NetworkPolicy"):
        wanted = policy["podSelector"].get("matchLabels", {})
        if "Ingress" not in policy["policyTypes"] or wanted not in ({}, {"component": target}):
            continue
        for rule in policy.get("ingress", ()):
            if port not in [p["port"] for p in rule["ports"]]:
                continue
            for peer in rule["from"]:
                if source is not None and peer.get("podSelector", {}).get("matchLabels") == source:
                    return True
                inside = peer.get("namespaceSelector", {}).get("matchLabels")
                if source is None and inside is not None and inside == namespace:
                    return True
    return False


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_only_service_and_workers_reach_the_scheduler(overlay: str):
    resources = render(overlay)
    nothing = named(resources, "NetworkPolicy", "srs-nothing")["spec"]
    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    reaching = {
        (source, target)
        for source in ("service", "scheduler", "worker", "database")
        for target, port in (
            ("scheduler", 8786),
            ("worker", 9000),
            ("service", 8000),
            ("database", 5432),
        )
        if may_reach(resources, {"component": source}, target, port)
    }
    inside = {
        ("service", "scheduler"),
        ("worker", "scheduler"),
        ("scheduler", "worker"),
        ("worker", "worker"),
    }
    assert reaching == inside | (set() if overlay == "own-postgres" else {("service", "database")})
    allowed = {"srs-access": "true"}
    outside = [
        t
        for t, port in (
            ("scheduler", 8786),
            ("worker", 9000),
            ("service", 8000),
            ("database", 5432),
        )
        if may_reach(resources, None, t, port, allowed)
    ]
    assert outside == ["service"]


def test_dask_listens_where_policies_expect_it():
    of = pods([r for path in WHOLE for r in read_resources(path.read_text())])
    worker, scheduler = of["worker"]["containers"][0], of["scheduler"]["containers"][0]
    assert {"--worker-port=9000", "--nanny-port=9001"} <= set(worker["args"])
    assert {"--protocol=tls", "--port=8786", "--no-dashboard"} <= set(scheduler["args"])
    for container in (worker, scheduler):
        (address,) = [a for a in container["args"] if a.startswith("--dashboard-address")]
        assert "=127.0.0.1:" in address


# -- probes, figures, secrets -----------------------------------------------------------------


def test_probes_ask_routes_that_are_there():
    paths = {route.path for route in router.routes}  # type: ignore[attr-defined]
    text = (FOLDER / "base" / "service.yaml").read_text()
    asked = set(re.findall(r"path: (/\w+),", text))
    assert asked == {"/healthz"}, "/readyz would close the door while the scheduler restarts"
    assert asked <= paths


def test_the_autoscaler_reads_a_figure_that_the_service_gives():
    folder = FOLDER / "components" / "autoscaling"
    (rule,) = yaml.safe_load((folder / "prometheus-adapter.yaml").read_text())["externalRules"]
    scaler = read_resources((folder / "autoscaler.yaml").read_text())[0]["spec"]
    assert scaler["metrics"][0]["external"]["metric"]["name"] == rule["name"]["as"]
    assert scaler["minReplicas"] > 0
    statuses = re.findall(r"[A-Z]{5,}", rule["metricsQuery"])
    assert statuses == ["QUEUED", "RUNNING", "CANCELLING"]
    metrics = Metrics()
    metrics.set_jobs({JobStatus(s).value: 1 for s in statuses})
    shown = metrics.show().decode()
    for status in statuses:
        assert f'srs_jobs{{status="{status}"}} 1.0' in shown
    (scrape,) = yaml.safe_load((folder / "prometheus.yaml").read_text())["scrape_configs"]
    labels = {relabel.get("target_label") for relabel in scrape["relabel_configs"]}
    assert {
        *rule["resources"]["overrides"],
        *re.findall(r"by \((\w+)\)", rule["metricsQuery"]),
    } <= labels


def test_an_apply_does_not_undo_the_autoscaler():
    worker = named(render("large"), "Deployment", "srs-worker")
    assert "replicas" not in worker["spec"]


@pytest.mark.parametrize("given", ["", "postgresql://me:secret@db.example.org/srs"])
def test_secrets_hold_what_pods_name(given: str):
    done = run_script(FOLDER / "make-secrets", SRS_DATABASE_URL=given)
    made = read_resources(done.stdout)
    for secret in made:
        check(secret)
    keys = {s["metadata"]["name"]: s["data"] for s in made}
    url = base64.b64decode(keys["srs-database"]["url"]).decode()
    assert url.startswith("postgresql://srs:") if not given else url == given
    assert base64.b64decode(keys["srs-tls-worker"]["ca.pem"]).startswith(b"-----BEGIN CERT")
    text = "".join(path.read_text() for path in WHOLE if not given or path.stem != "postgres")
    mounted = set(re.findall(r"secretName: (srs-tls-[\w-]+)", text))
    assert mounted == {"srs-tls-service", "srs-tls-scheduler", "srs-tls-worker"}
    for name in mounted:
        assert set(keys[name]) == {"ca.pem", "cert.pem", "key.pem"}
    read = set(re.findall(r"secretKeyRef: {name: ([\w-]+), key: (\w+)}", text))
    assert read == {("srs-database", "url"), *([] if given else [("srs-database", "password")])}
    assert [key for name, key in read if key not in keys[name]] == []


def test_certificates_are_renewed_without_a_new_password():
    made = read_resources(run_script(FOLDER / "make-secrets", "--tls").stdout)
    names = [secret["metadata"]["name"] for secret in made]
    assert names == ["srs-tls-service", "srs-tls-scheduler", "srs-tls-worker"]


def test_an_address_in_the_arguments_is_refused():
    url = "postgresql://me:secret@db.example.org/srs"
    assert "SRS_DATABASE_URL" in run_script(FOLDER / "make-secrets", url, code=2).stderr
