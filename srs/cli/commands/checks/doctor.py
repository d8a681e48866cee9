"""`srs doctor`: what is installed, what the machine has, and whether a small selection works."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated

import typer

from srs.cli.failures import notices_shown, reported

OK, WARNING, FAILED = "ok", "look", "FAILED"
SMALL_DISK = 2 << 30
NEEDED = ("numpy", "numba", "scipy", "zarr", "scikit-learn", "pandas", "pyarrow", "typer", "rich")
VECTORS = ("avx2", "avx512f", "neon", "asimd")  # of processors, which kernels are faster with


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    what    its name
    state   OK, WARNING or FAILED
    detail  what was found, and what to do where that is not OK
    """

    what: str
    state: str
    detail: str


def doctor(
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out the small selection at the end.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Check the installation: packages, processor, caches, disk, memory, and a small selection.

    \b
    Examples:
      srs doctor
      srs doctor --json
    """
    with reported(as_json), notices_shown(True):
        checks: list[Callable[[], Finding]] = [_packages, _extras, _processor, _memory, _disk]
        checks += [_cache] if quick else [_cache, _selection]
        findings = []
        for check in checks:
            findings.append(_safely(check))
            if not as_json:
                last = findings[-1]
                typer.echo(f"{last.state:<7} {last.what:<11} {last.detail}")
        if as_json:
            typer.echo(json.dumps([asdict(one) for one in findings], indent=1))
        if any(one.state == FAILED for one in findings):
            raise typer.Exit(1)


def _safely(check: Callable[[], Finding]) -> Finding:
    """What a check finds; an exception is a finding, too."""
    try:
        return check()
    except Exception as error:
        name = check.__name__.removeprefix("_")
        return Finding(name, FAILED, f"{type(error).__name__}: {error}")


def _packages() -> Finding:
    import srs

    found = [f"{name} {_version(name) or 'missing'}" for name in NEEDED]
    missing = [name for name in NEEDED if _version(name) is None]
    state = FAILED if missing else OK
    python = f"Python {platform.python_version()}, srs {srs.__version__}"
    return Finding("packages", state, f"{python}, {', '.join(found)}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extras() -> Finding:
    """Which extras are there: all of an extra's packages, or some are missing."""
    extras: dict[str, list[str]] = {}
    for line in requires("srs-select") or ():
        package, _, marker = line.partition(";")
        if "extra ==" in marker:
            extra = marker.split("extra ==")[1].strip().strip("'\"")
            name = package.split("[")[0].split(">")[0].split("<")[0].split("=")[0].strip()
            extras.setdefault(extra, []).append(name)
    shown = ("cluster", "jobs", "objects", "service", "formats", "plot")
    there = [e for e in shown if e in extras and all(_version(n) for n in extras[e])]
    missing = [e for e in shown if e in extras and e not in there]
    text = f"installed: {', '.join(there) or 'none'}"
    if missing:
        text += f"; not: {', '.join(missing)} (pip install 'srs-select[{missing[0]}]')"
    return Finding("extras", OK, text)


def _processor() -> Finding:
    import llvmlite.binding as llvm

    from srs.executors import available_cores

    features = llvm.get_host_cpu_features()
    vectors = [name for name in VECTORS if features.get(name)]
    cores = available_cores()
    text = f"{llvm.get_host_cpu_name()}, {platform.machine()}, {cores} cores may be used"
    if not vectors:
        return Finding("processor", WARNING, f"{text}; no wide vectors: all pairs will be slow")
    return Finding("processor", OK, f"{text}, {', '.join(vectors)}")


def _memory() -> Finding:
    from srs.memory import DEFAULT_MEM, format_bytes

    pages, size = os.sysconf("SC_AVPHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    free = pages * size
    text = f"{format_bytes(free)} free"
    if free < DEFAULT_MEM:
        return Finding(
            "memory", WARNING, f"{text}, less than a run may use by default: give --memory"
        )
    return Finding("memory", OK, text)


def _disk() -> Finding:
    from srs.memory import format_bytes

    places = {"here": Path.cwd(), "temporary": Path(tempfile.gettempdir())}
    free = {name: shutil.disk_usage(path).free for name, path in places.items()}
    text = ", ".join(f"{format_bytes(n)} free {name} ({places[name]})" for name, n in free.items())
    if min(free.values()) < SMALL_DISK:
        return Finding("disk", WARNING, f"{text}; set TMPDIR to a larger disk for large data")
    return Finding("disk", OK, text)


def _cache() -> Finding:
    from srs.engine.kernels import kernels_are_compiled
    from srs.evidence.univariate.tiles import class_tiles

    folder = Path(class_tiles.stats.cache_path or "")
    where = folder if folder.exists() else folder.parent
    if not os.access(where, os.W_OK):
        text = f"{where} cannot be written: set NUMBA_CACHE_DIR, or every run compiles for a minute"
        return Finding("kernels", WARNING, text)
    if not kernels_are_compiled():
        return Finding("kernels", OK, f"not compiled yet; the first run does it, into {folder}")
    return Finding("kernels", OK, f"compiled, in {folder}")


def _selection() -> Finding:
    """A selection on data whose truth is known."""
    from time import perf_counter

    import numpy as np

    from srs.ingest import ingest
    from srs.seeds import make_rng
    from srs.selection.select import select

    X = make_rng(0, 0).normal(size=(300, 40))
    y = X[:, 3] + X[:, 7] > 0
    with tempfile.TemporaryDirectory(prefix="srs-") as folder:
        store = ingest(X, Path(folder) / "X.zarr", target=np.where(y, "case", "control"))
        started = perf_counter()
        result = select(store, seed=1)
        result.save(Path(folder) / "run")
        seconds = perf_counter() - started
    if not {3, 7} <= set(result.relevant_ids.tolist()):
        return Finding("selection", FAILED, f"f3 and f7 matter, found {result.relevant_names}")
    return Finding("selection", OK, f"f3 and f7 found in {seconds:.1f} s ({sys.executable})")
