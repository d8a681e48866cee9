"""Compile numba kernels once per machine, in a process of its own.

The compiler takes a minute and keeps a hundred megabytes for as long as its process lives.
With a memory budget that process must not be ours: a child compiles into numba's cache, and we
load from there. Where that cannot be (no place for the cache, no child), we compile here.

Which kernels a package has, and how they are called, says its own module: `srs.ingest.kernels`,
`srs.engine.kernels`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_CHILD = "SRS_COMPILING"  # set in the child, which must not start another


def is_compiled(kernel: Any) -> bool:
    """Whether numba's cache holds a kernel, compiled after its source was written."""
    folder = Path(kernel.stats.cache_path or "")
    source = Path(kernel.py_func.__code__.co_filename)
    wanted = source.stat().st_mtime
    found = folder.glob(f"{source.stem}.{kernel.py_func.__name__}-*.nbi")
    return any(file.stat().st_mtime >= wanted for file in found)


def compile_in_child(module: str, kernel: Any) -> None:
    """Have the kernels of a package in numba's cache.

    module  the module of the caller; run as a program it calls every kernel of the package
    kernel  the one that is compiled last: if the cache holds it, nothing is left to do
    """
    if _CHILD in os.environ or is_compiled(kernel):
        return
    with _one_at_a_time(f"{module} {kernel.stats.cache_path}"):
        if is_compiled(kernel):  # by the one that we have waited for
            return
        subprocess.run(
            [sys.executable, "-m", module],
            env={**os.environ, _CHILD: "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )


@contextmanager
def _one_at_a_time(what: str) -> Iterator[None]:
    """Workers that start together on one machine wait for the first of them to compile the same
    kernels into the same cache; other kernels and other installations are compiled meanwhile."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    name = f"srs-compiling-{os.getuid()}-{hashlib.sha256(what.encode()).hexdigest()[:12]}.lock"
    with (Path(tempfile.gettempdir()) / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
