"""Amounts of memory: how they are written and read, what this process holds, what it gives back.

What a run will hold is predicted in `srs.engine.memory`.
"""

from __future__ import annotations

import ctypes
import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

from srs.errors import SettingsError

MB = 1 << 20
INTERPRETER_MEM = 265 * MB  # fresh `srs select` with kernels and writers loaded
KEPT_MEM = 4 * MB  # freed memory that a worker keeps at most, and the size of arrays it is for
FETCHED_RESULTS = 16  # results that a coordinator fetches at once
DEFAULT_MEM = 2 * 10**9  # where nothing is said; fixed, so that answers do not depend on the day

_UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
    "TIB": 1 << 40,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
}


def parse_bytes(text: str | int) -> int:
    """Bytes from "512MB", "2GB", "1.5GiB" or a number of bytes.

    >>> parse_bytes("512MB"), parse_bytes("1.5 GiB"), parse_bytes(1000)
    (512000000, 1610612736, 1000)
    """
    if isinstance(text, int) and not isinstance(text, bool) and text > 0:
        return text
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(text))
    unit = None if match is None else _UNITS.get(match[2].upper())
    n_bytes = 0 if match is None or unit is None else int(float(match[1]) * unit)
    if n_bytes <= 0:
        raise SettingsError(f"{text!r} is not an amount of memory; write e.g. 512MB or 2GB.")
    return n_bytes


def format_bytes(n_bytes: float) -> str:
    """Bytes for people, in the units that `parse_bytes` reads.

    >>> format_bytes(512_000_000), format_bytes(1_234_567_890)
    ('512MB', '1.23GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g}{unit}"
    return f"{int(n_bytes)}B"


def peak_mem() -> int:
    """Largest resident set of this process so far, in bytes."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def release_memory() -> None:
    """Give the system what was freed: glibc keeps arrays of less than 32 MB for later ones."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def keep_small_arrays() -> None:
    """Let the C library keep what small arrays leave, for the next ones, up to KEPT_MEM.

    Dask has its workers give it back at once: a tree then waits for 900 fresh pages.
    """
    trim_threshold, mmap_threshold = -1, -3  # names of glibc's malloc.h
    with suppress(OSError, AttributeError):  # another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(trim_threshold, KEPT_MEM)
        libc.mallopt(mmap_threshold, KEPT_MEM)
